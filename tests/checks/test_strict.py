"""What --strict adds to memcheck: bytes written twice and never read, GM that nobody uses."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from tests.checks.kit import BOTH, DATA, OUT, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
TWICE = "memcheck:double-write"
EVEN, ODD = [0x5555555555555555, 0], [0xAAAAAAAAAAAAAAAA, 0]


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)
    plain = findings_of(lambda *a: each.body(Broken(each.form), *a), each.inputs, each.outputs)
    assert plain == []


class Broken:
    """What a kernel of the table reads: it is to have its fault."""

    broken = True

    def __init__(self, form: str) -> None:
        self.form = form


@fault(TWICE, BOTH, strict=True)
def written_twice(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    a, b = p.a.Get(float32), p.b.Get(float32)
    if k.form == "count":
        Duplicate(a, 1.0, N)
        if not k.broken:
            Muls(b, a, 2.0, N)
        Duplicate(a, 2.0, 64)  # fault
    else:
        Duplicate(a, 1.0, EVEN, 2, 1, 8)
        Duplicate(a, 2.0, EVEN if k.broken else ODD, 2, 1, 8)  # fault


@fault(TWICE, strict=True)
def copied_twice(k, x, out):
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    DataCopy(a, gm(x), N)
    if not k.broken:
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        Muls(a, a, 2.0, N)  # reads what it overwrites
        return
    PipeBarrier(PIPE_MTE2)
    DataCopy(a, gm(x), N)  # fault


@fault(TWICE, strict=True)
def element_written_twice(k, x, out):
    p = pipe_with(a=64)
    a = p.a.Get(float32)
    a.SetValue(3, 1.0)
    a.SetValue(3 + (not k.broken), 2.0)  # fault


@fault("memcheck:unused-memory", strict=True)
def input_not_read_to_its_end(k, x, out):
    p = pipe_with(a=4 * N)
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(x)  # fault
    DataCopy(p.a.Get(float32), tensor, N - 32 * k.broken)


def test_what_does_not_count_as_written():
    """Padding, buffers given anew and the scratch of reductions."""

    def body(x):
        p = pipe_with(q=(TPosition.VECOUT, 1, 4 * N), a=4 * N, r=32, t=256)
        a, r, t = p.a.Get(float32), p.r.Get(float32), p.t.Get(float32)
        for _ in range(3):
            DataCopyPad(a, gm(x), DataCopyParams(1, 4 * (N - 3), 0, 0))
            SetFlag(HardEvent.MTE2_V, 0)
            WaitFlag(HardEvent.MTE2_V, 0)
            ReduceMax(r, a, t, N - 3)
            r.GetValue(0)
            b = p.q.AllocTensor(float32)
            Duplicate(b, 1.0, N)
            p.q.EnQue(b)
            p.q.FreeTensor(p.q.DeQue(float32))
            SetFlag(HardEvent.V_MTE2, 0)
            WaitFlag(HardEvent.V_MTE2, 0)

    assert findings_of(body, {"x": np.ones(N - 3, np.float32)}, {}, strict=True) == []


def test_bytes_and_partner_of_a_double_write():
    found = verify(next(each for each in TABLE if each.name == "written_twice-count"))
    assert (found.bytes, found.memory, found.buffer) == ((0, 256), "UB", "a")
    assert found.partner.startswith("Duplicate on V at ")
    assert found.other_seq < found.seq
    assert found.severity == "warning"


def test_a_tensor_that_nobody_touches():
    (found,) = findings_of(lambda x, out: gm(x) and None, DATA, OUT, strict=True)
    assert (found.code, found.bytes, found.memory) == ("memcheck:unused-memory", (0, 4 * N), "x")
