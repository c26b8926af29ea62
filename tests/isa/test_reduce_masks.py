"""Reductions under mask registers and counter mode, and sums of integers: against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, DtypeError
from ascendsim.numerics.exact import exact_add
from ascendsim.numerics.rounding import FLOAT32
from tests.helpers import assert_same_bits
from tests.kit import Ub, fails, interesting, peek, put, run_block

NAN_ONES = 1
LANES = 64


def tree(bits, stop=1):
    while len(bits) > stop:
        pairs = zip(bits[::2], bits[1::2], strict=True)
        bits = [exact_add(a, b, FLOAT32, NAN_ONES) for a, b in pairs]
    return bits


def lines(values, total):
    """Return the patterns of each repeat, those from `total` on as +0."""
    raw = values.view(np.uint32)
    padded = np.where(np.arange(raw.size) < total, raw, 0)
    return [line.tolist() for line in padded.reshape(-1, LANES)[: -(-total // LANES)]]


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend310p", "ascend950"])
@pytest.mark.parametrize("total", [1, 63, 64, 65, 200, 256])
def test_counter_mode_of_sums(soc, total):
    """The mask is a number of elements in all; repeat times do not matter; dst behind stays."""
    values = interesting(float32, 256, 3)

    def body():
        u = Ub(d=(float32, 128), s=(float32, 256))
        put(u["s"], values)
        SetMaskCount()
        for own in (True, False):
            SetVectorMask(float32, 0, 7 if own else total)
            mask = total if own else MASK_PLACEHOLDER
            shared = (u["d"], u["s"])
            for groups in (1, 8, 32):
                before = peek(u["d"]).view(np.uint32)
                if groups == 1:
                    WholeReduceSum(*shared, mask, 1, 1, 1, 8, isSetMask=own)
                else:
                    call = BlockReduceSum if groups == 8 else PairReduceSum
                    call(*shared, 1, mask, 1, 1, 8, isSetMask=own)
                got, want = peek(u["d"]).view(np.uint32), before.copy()
                for r, line in enumerate(lines(values, total)):
                    part = tree(line, groups)
                    for g, bits in enumerate(part):
                        used = r * LANES + g * (LANES // groups) < total
                        if used or soc == "ascend950":
                            want[r * groups + g] = bits
                assert_same_bits(got, want)
        SetMaskNorm()

    run_block(body, soc=soc)


@pytest.mark.parametrize("total", [1, 64, 70, 255])
def test_counter_mode_of_the_largest(total):
    values = np.random.default_rng(8).permutation(256).astype(np.float32)

    def body():
        u = Ub(d=(float32, 64), s=(float32, 256))
        put(u["s"], values)
        SetMaskCount()
        WholeReduceMax(u["d"], u["s"], total, 1, 1, 1, 8)
        found = peek(u["d"])
        for r in range(-(-total // LANES)):
            part = values[r * LANES : min(total, (r + 1) * LANES)]
            assert found[2 * r] == part.max()
            assert found.view(np.uint32)[2 * r + 1] == part.argmax()
        SetMaskNorm()

    run_block(body)


def test_mask_registers_choose_lanes_and_stay():
    """isSetMask=False takes the register, a mask of its own becomes the register."""

    def body():
        u = Ub(d=(float32, 64), s=(float32, 128), o=(float32, 64))
        put(u["s"], np.arange(128, dtype=np.float32))
        put(u["o"], np.zeros(64, np.float32))
        SetVectorMask(float32, 0, 0b1010)
        for _ in range(2):
            WholeReduceSum(u["d"], u["s"], MASK_PLACEHOLDER, 2, 1, 1, 8, isSetMask=False)
            assert peek(u["d"])[:2].tolist() == [1 + 3, 65 + 67]
        BlockReduceMax(u["d"], u["s"], 1, MASK_PLACEHOLDER, 1, 1, 8, isSetMask=False)
        assert peek(u["d"])[0] == 3
        WholeReduceSum(u["d"], u["s"], 3, 1, 1, 1, 8)
        Adds(u["o"], u["o"], 1.0, MASK_PLACEHOLDER, 1, isSetMask=False)
        assert peek(u["o"]).tolist() == [1, 1, 1] + [0] * 61

    run_block(body)


def test_without_a_register_there_is_nothing_to_take():
    def body():
        u = Ub(d=(float32, 64), s=(float32, 128))
        WholeReduceSum(u["d"], u["s"], MASK_PLACEHOLDER, 2, 1, 1, 8, isSetMask=False)

    fails(ContractError, "takes the mask register, which the kernel did not set", body)


@pytest.mark.parametrize(
    ("source", "target"),
    [(int16, int32), (uint16, uint32), (int32, int32), (uint32, uint32)],
)
def test_sums_of_integers_wrap(source, target):
    """On 950: exact integers, kept modulo 2**32, under masks and strides."""
    lanes = 256 // source.nbytes
    values = interesting(source, 8 * lanes, 1)
    values[:lanes] = np.iinfo(source.numpy).max
    values[lanes : 2 * lanes] = np.iinfo(source.numpy).min

    def body():
        u = Ub(d=(target, 64), s=(source, 8 * lanes))
        put(u["s"], values)
        for mask, chosen in ((lanes, range(lanes)), (3, range(3)), ([0xF0F1, 0], None)):
            chosen = [k for k in range(16) if 0xF0F1 >> k & 1] if chosen is None else chosen
            WholeReduceSum(u["d"], u["s"], mask, 4, 2, 1, 16)
            for r in range(4):
                total = sum(int(values[2 * r * lanes + k]) for k in chosen)
                assert int(peek(u["d"], uint32)[2 * r]) == total % (1 << 32)

    run_block(body, soc="ascend950")
    if source is not target:
        fails(DtypeError, "operands have one type|is not available", body, soc="ascend910b1")


@pytest.mark.parametrize("T", [int64, uint64])
def test_sums_of_64_bits(T):
    values = interesting(T, 100, 2)

    def body(repeats=None):
        u = Ub(d=(T, 4), s=(T, 128))
        put(u["s"], values)
        for count in (1, 31, 32, 33, 100):
            ReduceSum(u["d"], u["s"], u["d"], count)
            total = sum(map(int, values[:count])) % (1 << 64)
            assert int(peek(u["d"], uint64)[0]) == total

    run_block(body, soc="ascend950")

    def repeated():
        u = Ub(d=(T, 4), s=(T, 128))
        ReduceSum(u["d"], u["s"], u["d"], 32, 2, 8)

    fails(DtypeError, "has no form with mask and repeatTimes", repeated, soc="ascend950")


def test_the_sum_register():
    def body():
        u = Ub(d=(float32, 8), s=(float32, 128), h=(half, 64))
        put(u["s"], np.full(128, 0.1, np.float32))
        ReduceSum(u["d"], u["s"], u["d"], 100)
        want = peek(u["d"])[0]
        Duplicate(u["d"], 0.0, 8)
        assert GetAccVal(float32) == GetReduceRepeatSumSpr(float32) == want
        GetAccVal(half)

    fails(ContractError, r"no ReduceSum\(dst, src, tmp, count\) of float16 went before", body)


def test_subrelu_wraps_and_rounds_once():
    a = np.array([32767, -32768, 5, -7, 0], np.int16)
    b = np.array([-1, 1, 7, -9, 0], np.int16)
    want = [max((int(x) - int(y) + 32768) % 65536 - 32768, 0) for x, y in zip(a, b, strict=True)]

    def body():
        u = Ub(d=(int16, 16), a=(int16, 16), b=(int16, 16), h=(half, 16), k=(half, 16))
        put(u["a"], a)
        put(u["b"], b)
        SubRelu(u["d"], u["a"], u["b"], 5)
        assert peek(u["d"])[:5].tolist() == want
        put(u["h"], np.array([2048, -0.0, np.nan, np.inf, 1], np.float16))
        put(u["k"], np.array([-1, 0.0, 1, np.inf, 2], np.float16))
        SubRelu(u["h"], u["h"], u["k"], 5)
        assert peek(u["h"], uint16)[:5].tolist() == [0x6800, 0, 0x7FFF, 0x7FFF, 0]

    run_block(body)
