"""Rules of counts, masks, mask bits and modes, and what happens where they are allowed."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    BoundsError,
    ContractError,
    OverlapError,
    QueueError,
    RepeatError,
    UnsupportedError,
)
from tests.isa.test_contract import T64, broken, fine
from tests.kit import Ub, fails, peek, put, run_block

FLOOR, CEIL = [0xFF] * 8 + [0xA5] * 24, [0xFF] * 8 + [0xFF, 0x03] + [0] * 6 + [0xA5] * 16
TENSOR, SCALAR, SPR = (
    SELMODE.VSEL_TENSOR_TENSOR_MODE,
    SELMODE.VSEL_TENSOR_SCALAR_MODE,
    SELMODE.VSEL_CMPMASK_SPR,
)


def test_the_high_word_of_a_mask():
    def use(a, b):
        Muls(b, a, 2.0, [1, 1], 1)

    text = broken(RepeatError, "Muls: mask high word is 0x1", use, soc="ascend950")
    assert "64 lanes have no high word; use 0" in text
    fine(use)  # ignored on 910B
    fine(use, soc="ascend950", a=(half, 128), b=(half, 128))


@pytest.mark.parametrize("mask", [0, [0, 0], [0]])
def test_a_mask_without_lanes(mask):
    def use(a, b):
        Muls(b, a, 2.0, mask, 2)

    for soc in ("ascend910", "ascend310p", "ascend950"):
        broken(RepeatError, "Muls: mask selects no lane", use, soc=soc)
    # a NOP on 910B, however small the buffers are
    fill = {"ub_fill": "0x11"}
    block = fine(use, options=fill, a=(float32, 8), b=(float32, 8))
    assert set(block.ub[0]) == {0x11}


@pytest.mark.parametrize("mask", [-1, True, 1.0, [1 << 64, 0], [1, 2, 3], [], [-1, 0]])
def test_masks_that_are_none(mask):
    broken(
        RepeatError,
        "Muls: mask is .*use (a number of lanes|one or two)",
        lambda a, b: Muls(b, a, 2.0, mask, 1),
    )


@pytest.mark.parametrize("count", [64.0, True, "64", None])
def test_count_is_an_integer(count):
    text = broken(RepeatError, "Muls: count is", lambda a, b: Muls(b, a, 2.0, count))
    assert "it must be an integer; use // for whole divisions" in text


def test_count_is_not_negative():
    broken(
        RepeatError, "Muls: count is -1: it must not be negative", lambda a, b: Muls(b, a, 2.0, -1)
    )
    fine(lambda a, b: Muls(b, a, 2.0, 0))
    fine(lambda a, b: Muls(b, a, 2.0, np.int64(64)))


def test_freed_tensor():
    def body(freed_operand):
        pipe, inQueue = TPipe(), TQue(TPosition.VECIN, 1)
        k = type("K", (), {})()
        k.inQueue, k.tmpBuf = inQueue, TBuf()
        pipe.InitBuffer(inQueue, 1, 256)
        pipe.InitBuffer(k.tmpBuf, 256)
        t, tmp = inQueue.AllocTensor(float32), k.tmpBuf.Get(float32)
        Muls(tmp, t, 2.0, 64)
        inQueue.FreeTensor(t)
        Muls(*((tmp, t) if freed_operand == "src" else (t, tmp)), 2.0, 64)

    for operand in ("src", "dst"):
        text = fails(QueueError, f"Muls: {operand} is inQueue float32", lambda o=operand: body(o))
        assert "whose buffer was freed" in text
        assert "use it before FreeTensor" in text


def test_mask_bits_do_not_overlap():
    def use(a, m):
        Select(a, a.ReinterpretCast(uint8), a, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 64)

    text = broken(OverlapError, "Select: mask bits share bytes", use, a=T64, m=(uint8, 32))
    assert "give them their own buffer" in text
    broken(
        OverlapError,
        "Compare: mask bits",
        lambda a, b: Compare(a.ReinterpretCast(uint8), a, b, CMPMODE.LT, 64),
    )


def compared(soc, count, options=None, name="CompareScalar"):
    got = {}

    def body():
        u = Ub(a=(float32, 128), m=(uint8, 32))
        put(u["a"], np.zeros(128, np.float32))
        put(u["m"], np.full(32, 0xA5, np.uint8))
        if name == "Compare":
            Compare(u["m"], u["a"], u["a"], CMPMODE.EQ, count)
        else:
            CompareScalar(u["m"], u["a"], 0.0, CMPMODE.EQ, count)
        got["bits"] = peek(u["m"]).tolist()

    block = run_block(body, soc=soc, options=options or {})
    return got["bits"], block


@pytest.mark.parametrize("name", ["Compare", "CompareScalar"])
def test_compare_count_that_is_no_multiple_of_256_bytes(name):
    for soc, want in (("ascend910b1", FLOOR), ("ascend950", CEIL)):
        bits, block = compared(soc, 74, name=name)
        assert bits == want
        text = block.warning("compare-count-256")
        assert f"{name} count 74 is no multiple of 64 elements (256 bytes)" in text
        assert "round it up" in text
        assert block.rules["compare-tail"] == "code"
    bits, block = compared("ascend910b1", 63)
    assert bits == [0xA5] * 32  # less than a repeat writes nothing
    assert compared("ascend910b1", 74, {"compare_tail": "ceil"})[0] == CEIL
    assert compared("ascend950", 74, {"compare_tail": "floor"})[0] == FLOOR
    bits, block = compared("ascend910b1", 64)
    assert bits == FLOOR
    assert not block.warnings


def test_compare_reads_all_lanes_of_a_repeat_whatever_its_mask():
    """The mask of a comparison is ignored on 910B, so its sources need whole repeats."""
    small = {"a": (float32, 8), "m": (uint8, 32)}

    def use(a, m):
        CompareScalar(m, a, 0.0, CMPMODE.LT, 8, 1)

    broken(BoundsError, "CompareScalar: src needs UB.0x0, 0x100.", use, **small)
    fine(use, soc="ascend950", **small)


def test_select_source_and_mode():
    def use(src1, mode):
        return lambda a, m: Select(a, m, a, a if src1 == "tensor" else 0.0, mode, 64)

    buffers = {"a": T64, "m": (uint8, 32)}
    text = broken(ContractError, "Select: src1 is a float32 UB", use("tensor", SCALAR), **buffers)
    assert "VSEL_TENSOR_SCALAR_MODE takes a scalar there" in text
    for mode in (TENSOR, SPR):
        broken(
            ContractError,
            f"src1 is 0.0: {mode} takes a LocalTensor",
            use("scalar", mode),
            **buffers,
        )
    broken(ContractError, "use one of SELMODE", use("tensor", 2), **buffers)


def test_select_modes_of_a_soc():
    def use(mode):
        return lambda a, m: Select(a, m, a, a if mode is not SCALAR else 0.0, mode, 64)

    buffers = {"a": T64, "m": (uint8, 32)}
    fine(use(SPR), soc="ascend910", **buffers)
    for mode in (TENSOR, SCALAR):
        broken(
            UnsupportedError,
            f"Select: mode {mode} is not available on ascend910",
            use(mode),
            soc="ascend910",
            **buffers,
        )
        for soc in ("ascend310p", "ascend910b1", "ascend950"):
            fine(use(mode), soc=soc, **buffers)
