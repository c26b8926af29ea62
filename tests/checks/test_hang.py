"""A WaitFlag without flag: the chain of pipes that wait for one another, or where it comes."""

from __future__ import annotations

import inspect

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import QueueError
from tests.checks.kit import DATA, OUT, N, findings_of, pipe_with
from tests.kit import gm, run_block


def told(body, marks, **request):
    """Return the one finding of `body`, and the line of each comment in `marks`."""
    (found,) = findings_of(body, DATA, OUT, **request)
    assert found.code == "synccheck:wait-without-set"
    source, first = inspect.getsourcelines(body)
    lines = [first + k for mark in marks for k, text in enumerate(source) if f"# {mark}" in text]
    assert len(lines) == len(marks)
    return found, lines


def test_nobody_sets_the_flag():
    def body(x, out):
        SetFlag(HardEvent.MTE2_V, 2)
        SetFlag(HardEvent.MTE2_V, 3)
        WaitFlag(HardEvent.MTE2_V, 1)  # here
        WaitFlag(HardEvent.MTE2_V, 3)

    found, (here,) = told(body, ["here"])
    assert found.where[1] == here
    assert "V waits here for MTE2, which never sets the flag: it hangs; " in found.message
    assert "; set and waited for by nobody: MTE2_V(2) at " in found.message
    assert found.way_out == "set the flag on the PIPE_MTE2 side first"


def test_two_pipes_wait_for_each_other():
    def body(x, out):
        WaitFlag(HardEvent.MTE2_V, 0)  # here
        SetFlag(HardEvent.V_MTE2, 0)
        WaitFlag(HardEvent.V_MTE2, 0)  # other
        SetFlag(HardEvent.MTE2_V, 0)  # never

    found, (here, other, never) = told(body, ["here", "other", "never"])
    assert found.where[1] == here
    assert f"which would set the flag at {found.where[0]}:{never}: it hangs; " in found.message
    assert f"MTE2 waits for V at WaitFlag, {found.where[0]}:{other}" in found.message
    assert found.partner == f"SetFlag on MTE2 at {found.where[0]}:{never}"


def test_a_flag_that_comes_later_is_no_hang():
    def body(x, out):
        WaitFlag(HardEvent.MTE2_V, 0)  # here
        SetFlag(HardEvent.MTE2_V, 0)  # later

    found, (_, later) = told(body, ["here", "later"])
    text = f"MTE2 gets to the SetFlag at {found.where[0]}:{later} by itself: there it does come"
    assert text in found.message
    assert "hangs" not in found.message


def test_the_chain_goes_through_queues():
    def body(x, out):
        p = pipe_with(q=(TPosition.VECIN, 1, 4 * N), o=(TPosition.VECOUT, 1, 4 * N))
        for _ in range(2):
            a = p.q.AllocTensor(float32)  # alloc
            DataCopy(a, gm(x), N)
            p.q.EnQue(a)
            a, b = p.q.DeQue(float32), p.o.AllocTensor(float32)
            WaitFlag(HardEvent.MTE3_V, 3)  # here
            Muls(b, a, 1.0, N)
            p.o.EnQue(b)
            p.q.FreeTensor(a)
            b = p.o.DeQue(float32)  # deque
            DataCopy(gm(out), b, N)
            p.o.FreeTensor(b)

    found, (_, alloc, deque) = told(body, ["here", "alloc", "deque"])
    file = found.where[0]
    chain = [
        "V waits here for MTE3, which never sets the flag: it hangs",
        f"MTE3 waits for V at DeQue of o, {file}:{deque}",
        f"MTE2 waits for V at AllocTensor of q, {file}:{alloc}",
    ]
    assert "; ".join(chain) in found.message


@pytest.mark.parametrize("stop", ["barrier", "scalar"])
def test_behind_the_scalar_unit_nothing_is_issued(stop):
    def body(x, out):
        event = HardEvent.MTE2_V if stop == "barrier" else HardEvent.MTE2_S
        WaitFlag(event, 1)
        if stop == "barrier":
            PipeBarrier(PIPE_ALL)
        SetFlag(event, 1)

    found, _ = told(body, [])
    assert "which never sets the flag: it hangs" in found.message
    assert ("S waits for V at PipeBarrier" in found.message) == (stop == "barrier")


def test_what_comes_behind_is_not_reported():
    def body(x, out):
        p = pipe_with(a=4 * N)
        WaitFlag(HardEvent.MTE2_V, 1)
        Duplicate(p.a.Get(float32), 1.0, N + 1)

    told(body, [])
    told(body, [], block_dim=3)


HOW = {
    "quiet": lambda body: run_block(body, DATA, OUT, observe=False),
    "records": lambda body: run_block(body, DATA, OUT),
    "memcheck": lambda body: findings_of(body, DATA, OUT, tools=("memcheck",)),
    "raise": lambda body: findings_of(body, DATA, OUT, options={"sync": "raise"}),
}


@pytest.mark.parametrize("how", HOW)
def test_without_synccheck_the_wait_raises(how):
    def body(x, out):
        WaitFlag(HardEvent.MTE2_V, 1)
        raise AssertionError

    with pytest.raises(QueueError, match="no SetFlag"):
        HOW[how](body)
