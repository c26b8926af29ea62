"""The bytes that racecheck compares are those that the calls touch when they run.

Each call runs on random UBs. What changes is what it writes: exactly the bytes said. UBs that agree
in the bytes said to be read, and nowhere else, leave the same: nothing else is read; and each byte
said to be read makes a difference in some UB.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.launch.staging import staged
from ascendsim.observe.checks.touched import TouchedBytes
from ascendsim.record import UB
from tests.kit import Ub, make_job

ROOM, FILLS, TRIES = 4096, 24, 6
IN_PLACE, AGAIN = UnaryRepeatParams(2, 2, 17, 17), UnaryRepeatParams(1, 0, 8, 1)
GAPS = UnaryRepeatParams(2, 3, 17, 26)
PAIRS = BinaryRepeatParams(2, 1, 3, 17, 9, 26)
ODD, SOME = [0x0123456789ABCDEF, 0], [0b1011 << 20, 0]
TENSOR, SCALAR = SELMODE.VSEL_TENSOR_TENSOR_MODE, SELMODE.VSEL_TENSOR_SCALAR_MODE
MASKED = SELMODE.VSEL_CMPMASK_SPR


def counting(mask, call):
    """Make a call in counter mode, of `mask` elements."""
    SetMaskCount()
    SetVectorMask(float32, MaskMode.COUNTER, mask)
    call()
    SetMaskNorm()
    ResetMask()


def registered(high, low, call):
    """Make a call with the mask registers set, in normal mode."""
    SetVectorMask(float32, MaskMode.NORMAL, high, low)
    call()
    ResetMask()


#: name -> (call on tensors of int32, float32, half, uint8 at 0, 1, 2, 3 rooms; every read counts)
CALLS = {
    "count": (lambda i, f, h, b: Adds(i, i[256:], 5, 77), True),
    "count of two": (lambda i, f, h, b: Add(i, i[256:], i[512:], 77), True),
    "repeats": (lambda i, f, h, b: Adds(i, i[1024:], 5, 64, 3, GAPS), True),
    "masked": (lambda i, f, h, b: Adds(i, i[1024:], 5, ODD, 3, GAPS), True),
    "few lanes": (lambda i, f, h, b: Add(i, i[1024:], i[2048:], SOME, 3, PAIRS), True),
    "in place": (
        lambda i, f, h, b: Adds(i, i, 0x5A5A5A5A, ODD, 3, UnaryRepeatParams(2, 2, 17, 17)),
        True,
    ),
    "source again": (
        lambda i, f, h, b: Adds(i, i[512:], 5, 64, 2, UnaryRepeatParams(1, 0, 8, 1)),
        1,
    ),
    "counter": (
        lambda i, f, h, b: counting(
            100, lambda: Adds(i, i[1024:], 5, MASK_PLACEHOLDER, 1, GAPS, isSetMask=False)
        ),
        True,
    ),
    "registers": (
        lambda i, f, h, b: registered(
            0, 0xF0F, lambda: Adds(i, i[1024:], 5, MASK_PLACEHOLDER, 2, GAPS, isSetMask=False)
        ),
        True,
    ),
    "fill": (lambda i, f, h, b: Duplicate(i, 7, ODD, 3, 2, 17), True),
    "narrowing": (lambda i, f, h, b: Cast(h, f, RoundMode.CAST_RINT, 77), False),
    "narrowing repeats": (
        lambda i, f, h, b: Cast(h, f, RoundMode.CAST_RINT, ODD, 3, UnaryRepeatParams(2, 2, 9, 17)),
        False,
    ),
    "widening": (
        lambda i, f, h, b: Cast(f, h, RoundMode.CAST_NONE, ODD, 3, UnaryRepeatParams(2, 2, 17, 9)),
        False,
    ),
    "compare": (lambda i, f, h, b: Compare(b, f, f[256:], CMPMODE.GT, 128), False),
    "compare repeats": (
        lambda i, f, h, b: Compare(b, f, f[1024:], CMPMODE.GT, 64, 3, PAIRS),
        False,
    ),
    "compare scalar": (lambda i, f, h, b: CompareScalar(b, f, 0.0, CMPMODE.LT, 192), False),
    "select": (lambda i, f, h, b: Select(f, b, f[256:], f[512:], TENSOR, 72), False),
    "select scalar": (lambda i, f, h, b: Select(f, b, f[256:], 1.0, SCALAR, 72), False),
    "select repeats": (
        lambda i, f, h, b: Select(f, b, f[1024:], f[2048:], MASKED, 64, 3, PAIRS),
        False,
    ),
    "axpy": (lambda i, f, h, b: Axpy(f, f[256:], 2.0, 77), False),
    "whole sum": (lambda i, f, h, b: WholeReduceSum(f, f[512:], 40, 3, 1, 2, 17), False),
    "block maximum": (lambda i, f, h, b: BlockReduceMax(f, f[512:], 3, 40, 1, 2, 17), False),
    "pair sum": (lambda i, f, h, b: PairReduceSum(f, f[512:], 3, 40, 1, 2, 17), False),
    "broadcast": (lambda i, f, h, b: Brcb(i, i[1024:], 3, BrcbRepeatParams(2, 17)), True),
    "copy": (lambda i, f, h, b: Copy(i, i[1024:], 40, 3, CopyRepeatParams(2, 3, 17, 26)), True),
    "copy of blocks": (lambda i, f, h, b: DataCopy(i, i[1024:], DataCopyParams(5, 2, 3, 1)), True),
}


def of_call(name):
    """Return the record of a call, and a function that runs it on bytes of UB."""
    make, _ = CALLS[name]

    def body(x, out):
        u = Ub(i=(int32_t, ROOM), f=(float32, ROOM), h=(half, ROOM), b=(uint8_t, ROOM))
        make(u["i"], u["f"], u["h"], u["b"])

    options = {"select_scratch": "off"}
    job = make_job(body, {"x": np.ones(8, np.float32)}, {"out": ((8,), "float32")}, options=options)
    return staged(job, 0)


def painted(touched, writes, size):
    """Return which bytes of UB the operands of one direction touch."""
    found = np.zeros(size, bool)
    for each in touched:
        if each.holder is None and each.writes is writes:
            found[each.start : each.stop][each.index] = True
    return found


def said_by_ranges(call, size):
    """Return which bytes of UB the call's own ranges name."""
    said = np.zeros(size, bool)
    for access in call.accesses:
        for start, stop in call.ranges(access) if access.space == UB else ():
            said[start:stop] = True
    return said


def random_ub(rng, size):
    """Return bytes that are ordinary numbers of every type: no NaN, no infinity, no subnormals."""
    words = rng.integers(0, 1 << 16, size // 2, np.uint16)
    return ((words & 0x83FF) | 0x3C00 | (words & 0x0C00) >> 1).view(np.uint8)


@pytest.mark.parametrize("name", CALLS)
def test_bytes_are_those_that_the_call_touches(name):
    rng, draw = np.random.default_rng(3), random.Random(3)
    with of_call(name) as stage:
        core = stage.core
        at = max(k for k, record in enumerate(stage.records) if record.call.geometry is not None)
        instr = stage.records[at]
        size = core.ub.array.size
        touched = TouchedBytes().of(instr.call)
        reads, writes = (painted(touched, direction, size) for direction in (False, True))
        execute, address, value = stage._calls[at]

        def run(ub):
            core.ub.array[:] = ub
            execute(address, value)
            return core.ub.array.copy()

        changed, matters = np.zeros(size, bool), np.zeros(size, bool)
        places = np.flatnonzero(reads)
        for _ in range(FILLS):
            ub = random_ub(rng, size)
            left = run(ub)
            changed |= left != ub
            other = np.where(reads, ub, random_ub(rng, size))
            assert np.array_equal(run(other)[writes], left[writes]), "reads other bytes, too"
            for place in draw.sample(list(places), min(TRIES, places.size)):
                flipped = ub.copy()
                flipped[place] ^= 0x10
                matters[place] |= not np.array_equal(run(flipped)[writes], left[writes])
                assert matters[place] or not CALLS[name][1], place
        assert np.array_equal(changed, writes)
        assert reads.any() or name == "fill"
        assert np.array_equal(said_by_ranges(instr.call, size), reads | writes)
