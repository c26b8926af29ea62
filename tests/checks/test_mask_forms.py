"""Exact lanes: masks, mask registers, counter mode, strides and moves, each with its fault."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from tests.checks.kit import BOTH, DATA, OUT, PAIR, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
TO_GM = "initcheck:uninitialized-to-gm"
EIGHT, SEVEN = [0xFF, 0], [0x7F, 0]  # lanes


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


def two():
    """Return two tensors of twice N elements."""
    p = pipe_with(a=8 * N, b=8 * N)
    return p.a.Get(float32), p.b.Get(float32)


def done():
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)


@fault(TO_GM, BOTH)
def masked_lanes(k, x, out):
    """Fewer lanes are written than are stored; the others hold what they held."""
    a, b = two()
    Duplicate(a, 1.0, SEVEN if k.broken else EIGHT, 2, 1, 8)
    if k.form == "count":
        Muls(b, a, 2.0, 8)
        Muls(b[64:], a[64:], 2.0, 8)
    else:
        Muls(b, a, 2.0, EIGHT, 2, UnaryRepeatParams(1, 1, 8, 8))
    done()
    DataCopy(gm(out), b, DataCopyParams(2, 1, 7, 0))  # fault


@fault(TO_GM)
def lanes_of_the_register(k, x, out):
    a, b = two()
    SetVectorMask(0, 0x7F if k.broken else 0xFF)
    Duplicate(a, 1.0, 64, 2, 1, 8, isSetMask=False)
    SetVectorMask(0, 0xFF)
    Muls(b, a, 2.0, 64, 2, UnaryRepeatParams(1, 1, 8, 8), isSetMask=False)
    ResetMask()
    done()
    DataCopy(gm(out), b, DataCopyParams(2, 1, 7, 0))  # fault


@fault(TO_GM)
def elements_in_counter_mode(k, x, out):
    """80 elements with every second datablock: the second repeat has 16 lanes, not 64."""
    a, b = two()
    Duplicate(a, 1.0, N)
    SetMaskCount()
    Muls(b, a, 2.0, 80, 1, UnaryRepeatParams(2, 1, 16, 8))
    SetMaskNorm()
    ResetMask()
    done()
    DataCopy(gm(out), b, DataCopyParams(10 + k.broken, 1, 1, 0))  # fault


@fault("racecheck:raw-inter-pipe")
def a_copy_behind_counter_mode(k, x, out):
    """Copy in at the same time what the last repeat does not touch."""
    a, b = two()
    SetMaskCount()
    DataCopy(a[16 * (9 if k.broken else 10) :], gm(x), 8)
    Muls(b, a, 2.0, 80, 1, UnaryRepeatParams(1, 2, 8, 16))  # fault
    SetMaskNorm()
    ResetMask()


@fault(TO_GM)
def copied_lanes(k, x, out):
    a, b = two()
    Duplicate(a, 1.0, SEVEN if k.broken else EIGHT, 2, 1, 8)
    Duplicate(b, 0.0, N)
    Copy(b, a, EIGHT, 2, CopyRepeatParams(1, 1, 8, 8))
    done()
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM)
def chosen_by_a_pattern(k, x, out):
    a, b = two()
    Duplicate(a, 1.0, [0x5555555555555555, 0], 2, 1, 8)
    GatherMask(b, a, 2 if k.broken else 1, False, 0, GatherMaskParams(1, 2, 8, 0))
    done()
    DataCopy(gm(out), b, 64)  # fault


@fault(TO_GM)
def gathered(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N, o=4 * N)
    a, b, o = p.a.Get(float32), p.b.Get(float32), p.o.Get(uint32_t)
    Duplicate(a, 1.0, 8)
    Duplicate(o, 32 if k.broken else 28, N)
    Gather(b, a, o, 0, N)
    done()
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM)
def transposed(k, x, out):
    a, b = two()
    Duplicate(a.ReinterpretCast(half), 1.0, 256 - k.broken)
    Transpose(b.ReinterpretCast(half), a.ReinterpretCast(half))
    done()
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM)
def reduced_lanes(k, x, out):
    a, b = two()
    Duplicate(a, 1.0, SEVEN if k.broken else EIGHT, 2, 1, 8)
    BlockReduceMax(b, a, 2, EIGHT, 1, 1, 8)
    WholeReduceSum(b[8:], a, EIGHT, 2, 1, 1, 8)
    done()
    DataCopyPad(gm(out), b, DataCopyParams(1, 4, 0, 0))  # fault


@fault(TO_GM, BOTH)
def added_to_what_dst_holds(k, x, out):
    """Axpy and MulAddDst read their destination."""
    a, b = two()
    Duplicate(a, 1.0, N)
    Duplicate(b, 1.0, N - 8 * k.broken)
    if k.form == "count":
        Axpy(b, a, 2.0, N)
    else:
        MulAddDst(b, a, a, 64, 2, PAIR)
    done()
    DataCopy(gm(out), b, N)  # fault


@fault(TO_GM)
def gap_between_padded_blocks(k, x, out):
    a, _ = two()
    DataCopyPad(a, gm(x), DataCopyExtParams(4, 4 * 5, 0, int(k.broken), 0))
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Muls(a, a, 2.0, 32)
    done()
    DataCopy(gm(out), a, 32)  # fault


@fault(TO_GM)
def moved_within_ub(k, x, out):
    a, b = two()
    Duplicate(a, 1.0, 8)
    Duplicate(a[16:], 1.0, 8)
    DataCopy(b, a, DataCopyParams(2, 1, 0 if k.broken else 1, 0))
    done()
    DataCopy(gm(out), b, 16)  # fault


@fault(TO_GM, outputs={"work": ((N,), "float32"), **OUT})
def through_workspace(k, x, work, out):
    """GM that the kernel wrote itself comes back as it was written."""
    a, b = two()
    Duplicate(a, 1.0, N)
    done()
    DataCopy(gm(work), a, N - 8 * k.broken)
    SetFlag(HardEvent.MTE3_MTE2, 1)
    WaitFlag(HardEvent.MTE3_MTE2, 1)
    DataCopy(b, gm(work), N)
    SetFlag(HardEvent.MTE2_MTE3, 1)
    WaitFlag(HardEvent.MTE2_MTE3, 1)
    DataCopy(gm(out), b, N)  # fault


@fault("memcheck:gm-trample", request={"block_dim": 2})
def interleaved_blocks(k, x, out):
    """Two blocks store every second datablock each."""
    a, _ = two()
    Duplicate(a, 1.0, N)
    done()
    shift = 8 if GetBlockIdx() and not k.broken else 0
    DataCopy(gm(out)[shift:], a, DataCopyParams(8, 1, 0, 1))  # fault


def test_spans_that_lie_between_one_another_do_not_meet():
    """MTE2 and V each have every second datablock, and nothing orders them."""

    def body(x, out):
        a, _ = two()
        DataCopy(a, gm(x), DataCopyParams(8, 1, 0, 1))
        Duplicate(a[8:], 1.0, 64, 1, 2, 8)
        SetFlag(HardEvent.MTE2_MTE3, 1)
        WaitFlag(HardEvent.MTE2_MTE3, 1)
        done()
        DataCopy(gm(out), a, N)

    assert findings_of(body, DATA, OUT) == []
