"""initcheck: undefined bytes on every way to GM, to a scalar and to what steers a kernel."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from tests.checks.kit import BOTH, DATA, FULL, PAIR, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
TO_GM = "initcheck:uninitialized-to-gm"
COPY = DataCopyParams


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


def flags(event):
    """Let the second pipe of an event wait for the first."""
    SetFlag(event, 0)
    WaitFlag(event, 0)


def filled(b, k, short=8):
    """Fill b but for its last `short` elements when the kernel is broken."""
    Duplicate(b, 1.0, N - (short if k.broken else 0))


@fault(TO_GM)
def never_written(k, x, out):
    p = pipe_with(b=4 * N)
    b = p.b.Get(float32)
    filled(b, k)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM, BOTH)
def through_arithmetic(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    a, b = p.a.Get(float32), p.b.Get(float32)
    filled(a, k)
    Duplicate(b, 2.0, N)
    if k.form == "count":
        Add(b, a, b, N)
        Muls(b, b, 0.0, N)
    else:
        Add(b, a, b, 64, 2, PAIR)
        Muls(b, b, 0.0, 64, 2, FULL)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM, BOTH)
def through_cast(k, x, out):
    p = pipe_with(a=4 * N, h=2 * N)
    a, h = p.a.Get(float32), p.h.Get(half)
    filled(a, k)
    if k.form == "count":
        Cast(h, a, RoundMode.CAST_RINT, N)
        Cast(a, h, RoundMode.CAST_NONE, N)
    else:
        Cast(h, a, RoundMode.CAST_RINT, 64, 2, UnaryRepeatParams(1, 1, 4, 8))
        Cast(a, h, RoundMode.CAST_NONE, 64, 2, UnaryRepeatParams(1, 1, 8, 4))
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)  # fault


@fault(TO_GM, BOTH)
def through_mask_bits(k, x, out):
    """Compare an undefined value; the two that Select chooses from are defined."""
    p = pipe_with(a=4 * N, b=4 * N, m=256)
    a, b, m = p.a.Get(float32), p.b.Get(float32), p.m.Get(uint8_t)
    filled(a, k)
    Duplicate(b, 2.0, N)
    mode = SELMODE.VSEL_TENSOR_SCALAR_MODE
    if k.form == "count":
        CompareScalar(m, a, 0.0, CMPMODE.GT, N)
        Select(b, m, b, 0.0, mode, N)
    else:
        CompareScalar(m, a, 0.0, CMPMODE.GT, 64, 2, FULL)
        Select(b, m, b, 0.0, mode, 64, 2, FULL)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM, BOTH)
def select_takes_the_undefined_one(k, x, out):
    """src1 is undefined; only where the mask is 0 does that matter."""
    p = pipe_with(a=4 * N, b=4 * N, u=4 * N, m=256)
    a, b, u, m = p.a.Get(float32), p.b.Get(float32), p.u.Get(float32), p.m.Get(uint8_t)
    Duplicate(a, -1.0 if k.broken else 1.0, N)
    Duplicate(b, 2.0, N)
    CompareScalar(m, a, 0.0, CMPMODE.GT, N)
    mode = SELMODE.VSEL_TENSOR_TENSOR_MODE
    if k.form == "count":
        Select(b, m, b, u, mode, N)
    else:
        Select(b, m, b, u, mode, 64, 2, PAIR)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM, BOTH)
def through_a_sum(k, x, out):
    p = pipe_with(a=4 * N, r=32, t=256)
    a, r, t = p.a.Get(float32), p.r.Get(float32), p.t.Get(float32)
    filled(a, k)
    if k.form == "count":
        ReduceSum(r, a, t, N)
    else:
        ReduceSum(r, a, t, 64, 2, 8)
    flags(HardEvent.V_MTE3)
    DataCopyPad(gm(out), r, COPY(1, 4, 0, 0))  # fault


@fault(TO_GM)
def through_the_sum_of_a_repeat(k, x, out):
    p = pipe_with(a=4 * N, r=32)
    a, r = p.a.Get(float32), p.r.Get(float32)
    filled(a, k)
    WholeReduceSum(r, a, 64, 2, 1, 1, 8)
    flags(HardEvent.V_MTE3)
    DataCopyPad(gm(out)[0:], r, COPY(1, 4, 0, 0))
    DataCopyPad(gm(out)[1:], r, COPY(1, 8, 0, 0))  # fault


@fault(TO_GM)
def through_a_mover(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N * 8)
    a, b = p.a.Get(float32), p.b.Get(float32)
    filled(a, k)
    Brcb(b, a, 16, BrcbRepeatParams(1, 8))
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), b, N)
    PipeBarrier(PIPE_MTE3)
    DataCopy(gm(out), b[8 * N - N :], N)  # fault


@fault(TO_GM)
def stale_after_alloc(k, x, out):
    """Copy more of the second tile than it has: the rest is what the first one left."""
    p = pipe_with(q=(TPosition.VECOUT, 1, 4 * N))
    for count in (N, N - 32):
        a = p.q.AllocTensor(float32)
        Duplicate(a, 1.0, count)
        p.q.EnQue(a)
        a = p.q.DeQue(float32)
        DataCopy(gm(out), a, N if k.broken else count)  # fault
        p.q.FreeTensor(a)


@fault(TO_GM, inputs={"x": np.arange(N - 4, dtype=np.float32)})
def padding_of_an_undefined_element(k, x, out):
    """`out` is copied in before it is written."""
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    DataCopyPad(a, gm(out if k.broken else x), COPY(1, 4 * (N - 4), 0, 0))
    flags(HardEvent.MTE2_MTE3)
    DataCopy(gm(out), a, N)  # fault


@fault(TO_GM)
def atomic_onto_nothing(k, x, out):
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    Duplicate(a, 1.0, N)
    if not k.broken:
        InitOutput(gm(out), N)
        PipeBarrier(PIPE_MTE3)
    flags(HardEvent.V_MTE3)
    SetAtomicAdd(float32)
    DataCopy(gm(out), a, N)  # fault
    SetAtomicNone()


@fault("initcheck:uninitialized-scalar")
def scalar_of_ub(k, x, out):
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    filled(a, k)
    if a.GetValue(N - 1) > 0:  # fault
        Duplicate(a, 2.0, N)


@fault("initcheck:uninitialized-scalar")
def scalar_of_gm(k, x, out):
    gm(out if k.broken else x).GetValue(3)  # fault


@fault("initcheck:uninitialized-branch", request={"options": {"ub_fill": "0x00"}})
def offsets_of_gather(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N, o=4 * N)
    a, b, o = p.a.Get(float32), p.b.Get(float32), p.o.Get(uint32_t)
    Duplicate(a, 1.0, N)
    if not k.broken:
        Duplicate(o, 4, N)
    Gather(b, a, o, 0, N)  # fault


@fault("initcheck:uninitialized-branch")
def mask_of_gather(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N, m=32)
    a, b, m = p.a.Get(float32), p.b.Get(float32), p.m.Get(uint32_t)
    Duplicate(a, 1.0, N)
    if not k.broken:
        Duplicate(m, 5, 8)
    GatherMask(b, a, m, True, 64, GatherMaskParams(1, 1, 8, 0))  # fault


@fault("initcheck:uninitialized-read", BOTH, strict=True)
def strict_read(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    a, b = p.a.Get(float32), p.b.Get(float32)
    filled(a, k)
    if k.form == "count":
        Muls(b, a, 2.0, N)  # fault
    else:
        Muls(b, a, 2.0, 64, 2, FULL)  # fault
    Muls(a, b, 2.0, N)


@fault("initcheck:pad-read", BOTH, strict=True, inputs={"x": np.ones(N - 3, np.float32)})
def strict_read_of_padding(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    a, b = p.a.Get(float32), p.b.Get(float32)
    DataCopyPad(a, gm(x), COPY(1, 4 * (N - 3), 0, 0))
    flags(HardEvent.MTE2_V)
    if k.form == "count":
        Muls(b, a, 2.0, N if k.broken else N - 3)  # fault
    else:
        Muls(b, a, 2.0, 64, 1, FULL)
        Muls(b[64:], a[64:], 2.0, 64 if k.broken else 61, 1, FULL)  # fault


def test_undefined_lanes_that_go_nowhere_are_silent():
    def body(x, out):
        p = pipe_with(a=4 * N, b=4 * N)
        a, b = p.a.Get(float32), p.b.Get(float32)
        Duplicate(a, 1.0, 61)
        Muls(b, a, 2.0, N)
        flags(HardEvent.V_MTE3)
        DataCopyPad(gm(out), b, COPY(1, 4 * 61, 0, 0))

    assert findings_of(body, DATA, {"out": ((N,), "float32")}) == []


def test_what_ends_in_slack_is_memchecks():
    def body(x, out):
        p = pipe_with(a=4 * N)
        a = p.a.Get(float32)
        Duplicate(a, 1.0, 61)
        flags(HardEvent.V_MTE3)
        DataCopy(gm(out), a, 64)

    (found,) = findings_of(body, DATA, {"out": ((61,), "float32")})
    assert (found.code, found.bytes) == ("memcheck:gm-slack", (244, 256))


def test_bytes_and_origin_of_a_finding():
    found = verify(next(each for each in TABLE if each.name == "through_arithmetic-count"))
    assert found.bytes == (4 * (N - 8), 4 * N)
    assert found.memory == "out"
    assert found.partner.startswith("Muls on V at ")
