"""synccheck: what hangs, and what a block leaves behind for the next kernel."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from tests.checks.kit import DATA, OUT, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
IN, OUTQ = TPosition.VECIN, TPosition.VECOUT


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


@fault("synccheck:set-without-wait")
def set_without_wait(k, x, out):
    SetFlag(HardEvent.MTE2_V, 1)  # fault
    if not k.broken:
        WaitFlag(HardEvent.MTE2_V, 1)


@fault("synccheck:set-without-wait")
def set_without_wait_before_destroy(k, x, out):
    p = pipe_with(b=64)
    SetFlag(HardEvent.V_S, 0)  # fault
    if not k.broken:
        WaitFlag(HardEvent.V_S, 0)
    p.pipe.Destroy()


@fault("synccheck:wait-without-set")
def wait_without_set(k, x, out):
    if not k.broken:
        SetFlag(HardEvent.MTE2_V, 1)
    WaitFlag(HardEvent.MTE2_V, 1)  # fault


@fault("synccheck:set-twice")
def set_twice(k, x, out):
    SetFlag(HardEvent.MTE2_V, 1)
    if k.broken:
        SetFlag(HardEvent.MTE2_V, 1)  # fault
    WaitFlag(HardEvent.MTE2_V, 1)


@fault("synccheck:ids-exhausted")
def ids_exhausted(k, x, out):
    pipe = TPipe()
    for _ in range(8 + k.broken):
        pipe.AllocEventID(HardEvent.MTE2_V)  # fault


@fault("synccheck:mutexes-exhausted", request={"soc": "ascend950"})
def mutexes_exhausted(k, x, out):
    pipe, q = TPipe(), TQue(IN, 1)
    pipe.InitBuffer(q, 28 + k.broken, 32)  # fault


@fault("synccheck:enque-without-deque")
def enque_without_deque(k, x, out):
    p = pipe_with(q=(IN, 1, 4 * N))
    a = p.q.AllocTensor(float32)
    DataCopy(a, gm(x), N)
    p.q.EnQue(a)  # fault
    if not k.broken:
        p.q.FreeTensor(p.q.DeQue(float32))


@fault("synccheck:enque-without-deque")
def freed_while_queued(k, x, out):
    p = pipe_with(q=(IN, 1, 4 * N))
    a = p.q.AllocTensor(float32)
    p.q.EnQue(a)  # fault
    p.q.FreeTensor(a if k.broken else p.q.DeQue(float32))


@fault("synccheck:second-pipe")
def second_pipe(k, x, out):
    pipe = TPipe()
    if not k.broken:
        pipe.Destroy()
    TPipe()  # fault


@fault("synccheck:atomic-left-on")
def atomic_left_on(k, x, out):
    SetAtomicMax(float32)  # fault
    if not k.broken:
        SetAtomicNone()


@fault("synccheck:mask-left-on")
def counter_mode_left_on(k, x, out):
    SetMaskCount()  # fault
    if not k.broken:
        SetMaskNorm()


@fault("synccheck:mask-left-on")
def mask_left_on(k, x, out):
    SetVectorMask(17)  # fault
    if not k.broken:
        ResetMask()


@fault("synccheck:atomic-left-on")
def atomic_before_a_pipe(k, x, out):
    if k.broken:
        TPipe()
    SetAtomicMax(float32)  # fault
    if not k.broken:
        TPipe()


@fault("synccheck:mask-left-on")
def mask_before_a_pipe(k, x, out):
    if k.broken:
        TPipe()
    SetVectorMask(17)  # fault
    if not k.broken:
        TPipe()


@fault("synccheck:queue-full")
def queue_full(k, x, out):
    pipe, q = TPipe(), TQue(IN, 2 - k.broken)
    pipe.InitBuffer(q, 2, 64)
    a, b = q.AllocTensor(float32), q.AllocTensor(float32)
    q.EnQue(a)
    q.EnQue(b)  # fault
    q.FreeTensor(q.DeQue(float32))
    q.FreeTensor(q.DeQue(float32))


@fault("synccheck:queue-empty")
def queue_empty(k, x, out):
    p = pipe_with(q=(IN, 1, 64))
    if not k.broken:
        p.q.EnQue(p.q.AllocTensor(float32))
    p.q.FreeTensor(p.q.DeQue(float32))  # fault


@fault("synccheck:no-free-buffer")
def no_free_buffer(k, x, out):
    p = pipe_with(q=(IN, 1, 64))
    a = p.q.AllocTensor(float32)
    if not k.broken:
        p.q.FreeTensor(a)
    b = p.q.AllocTensor(float32)  # fault
    p.q.FreeTensor(b)


@fault("synccheck:wrong-state")
def wrong_state(k, x, out):
    p = pipe_with(q=(IN, 2, 64))
    a = p.q.AllocTensor(float32)
    if k.broken:
        p.q.FreeTensor(a)
    p.q.EnQue(a)  # fault
    p.q.FreeTensor(p.q.DeQue(float32))


@fault("synccheck:block-deadlock", request={"block_dim": 3})
def some_blocks_do_not_come(k, x, out):
    if GetBlockIdx() != 1 or not k.broken:
        SyncAll()  # fault


@fault(
    "synccheck:block-deadlock",
    inputs=DATA | {"work": np.zeros(64, np.int32)},
    request={"block_dim": 2},
)
def nobody_sets_the_flag(k, x, work, out):
    p = pipe_with(w=32)
    if GetBlockIdx() == 0:
        IBWait(gm(work), p.w.Get(int32_t), 1, 0)  # fault
    elif not k.broken:
        IBSet(gm(work), p.w.Get(int32_t), 1, 0)


def test_tensors_that_are_never_freed_without_memcheck():
    def body(x, out):
        pipe_with(q=(IN, 1, 64)).q.AllocTensor(float32)

    (found,) = findings_of(body, DATA, OUT, tools=("synccheck",))
    assert (found.code, found.bytes) == ("synccheck:never-freed", (0, 64))


def test_the_partner_of_a_flag_that_is_set_twice():
    found = verify(next(each for each in TABLE if each.name == "set_twice"))
    assert found.partner.startswith("SetFlag on MTE2 at ")
    assert found.other_seq == 0
