"""Reductions against exact scalar arithmetic, lane by lane; their spans, contract and records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.numerics.exact import exact_add, exact_max, exact_min
from ascendsim.numerics.rounding import FLOAT16, FLOAT32
from tests.helpers import assert_same_bits
from tests.kit import Ub, interesting, peek, put, run_block

FORMATS = {float32: FLOAT32, half: FLOAT16}
ENV = {"ascend910b1": 1, "ascend950": 1, "ascend310p": 3}  # NaN all ones; 310P saturates half
LETTERS = {"Sum": exact_add, "Max": exact_max, "Min": exact_min}
VECTOR = next(
    v
    for v in json.loads((Path(__file__).parents[1] / "data" / "memory_vectors.json").read_text())[
        "vectors"
    ]
    if v["id"] == "reduce_pair_elem"
)


def tree(bits, fmt, env, stop=1):
    """Add neighbours, one exact addition and rounding at a time."""
    while len(bits) > stop:
        bits = [exact_add(a, b, fmt, env) for a, b in zip(bits[::2], bits[1::2], strict=True)]
    return bits


def extreme(bits, lanes, fmt, kind, env):
    """Return (bits, lane) of the best by pairwise Max or Min, the first of equals."""
    nan = [k for k in lanes if bits[k] & (fmt.sign_bits - 1) > fmt.inf_bits]
    best = nan[0] if nan else lanes[0]
    for lane in [] if nan else lanes[1:]:
        pair = LETTERS[kind](bits[best], bits[lane], fmt, 0)
        if pair != bits[best]:
            best = lane
    return LETTERS[kind](bits[best], bits[best], fmt, env), best


def masks(lanes, rng):
    words = [int(w) for w in rng.integers(0, 1 << 64, 2, np.uint64)]
    words[1] = words[1] & (1 << lanes - 64) - 1 if lanes > 64 else 0
    bits = words[0] | words[1] << 64
    yield words, [k for k in range(lanes) if bits >> k & 1]
    count = int(rng.integers(1, lanes + 1))
    yield count, list(range(count))
    yield lanes, list(range(lanes))


def on(T, use, count=2048, soc="ascend910b1", **more):
    """Run `use(dst, src, values)` on random patterns of `T`; dst is poisoned."""
    values = interesting(T, count, 7)

    def body():
        u = Ub(d=(T, count), s=(T, count))
        put(u["s"], values)
        use(u["d"], u["s"], values)

    return run_block(body, soc=soc, **more)


@pytest.mark.parametrize("soc", sorted(ENV))
@pytest.mark.parametrize("T", [float32, half])
def test_within_repeats(T, soc):
    fmt, lanes, env = FORMATS[T], 256 // T.nbytes, ENV[soc]
    rng = np.random.default_rng(4)

    def use(dst, src, values):
        raw = [int(b) for b in values.view(T.bits)]
        for mask, chosen in masks(lanes, rng):
            at = [[raw[r * 2 * 32 // T.nbytes + k] for k in range(lanes)] for r in range(3)]
            summed = [[b if k in chosen else 0 for k, b in enumerate(line)] for line in at]
            before = peek(dst).view(T.bits)
            WholeReduceSum(dst, src, mask, 3, 2, 1, 2)
            got = peek(dst).view(T.bits)
            assert [got[0], got[2], got[4]] == [tree(s, fmt, env)[0] for s in summed]
            assert got[1] == before[1]
            BlockReduceSum(dst, src, 3, mask, 1, 1, 2)
            got = peek(dst).view(T.bits)
            for r in range(3):
                want = tree(summed[r], fmt, env, 8)
                for b in range(8):
                    if any(k * 8 // lanes == b for k in chosen):
                        assert got[8 * r + b] == want[b]
            PairReduceSum(dst, src, 3, mask, 1, 1, 2)
            got = peek(dst).view(T.bits)
            for r in range(3):
                want = tree(summed[r], fmt, env, lanes // 2)
                for k in {k // 2 for k in chosen}:
                    assert got[lanes // 2 * r + k] == want[k]
            for kind, call in (("Max", WholeReduceMax), ("Min", WholeReduceMin)):
                call(dst, src, mask, 3, 1, 1, 2, ReduceOrder.ORDER_INDEX_VALUE)
                got = peek(dst).view(T.bits)
                for r in range(3):
                    value, lane = extreme(at[r], chosen, fmt, kind, env)
                    assert (got[2 * r + 1], got[2 * r]) == (value, lane)

    on(T, use, soc=soc)


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
def test_datablocks_that_are_masked_off(soc):
    def use(dst, src, values):
        put(dst, np.full(64, 7, np.float32))
        put(src, np.ones(64, np.float32))
        BlockReduceMax(dst, src, 1, 12, 1, 1, 8)
        PairReduceSum(dst[32:], src, 1, 4, 1, 1, 8)
        got = peek(dst)
        kept = soc != "ascend950"
        assert list(got[:9]) == [1, 1] + [7 if kept else -np.inf] * 6 + [7]
        assert list(got[32:36]) == [2, 2] + [7 if kept else 0] * 2

    on(float32, use, 64, soc)


def test_the_published_pairs():
    given, want = VECTOR["input"]["src_prefix"], VECTOR["output"]["dst_prefix"]

    def use(dst, src, values):
        put(src, np.array(given, np.float16))
        PairReduceSum(dst, src, 1, 128, 1, 1, 8)
        assert_same_bits(peek(dst)[: len(want)], np.array(want, np.float16))

    on(half, use, 128)


def test_half_saturates_in_every_addition_on_310p():
    def use(dst, src, values):
        put(src, np.array([60000, 60000, -30000, 100] + [0] * 12, np.float16))
        BlockReduceSum(dst, src, 1, 16, 1, 1, 8)
        assert peek(dst)[0] == 35584  # 65504 - 29904: what 65504 - 29900 is in half

    on(half, use, 128, "ascend310p")


@pytest.mark.parametrize(("soc", "count", "way"), [
    ("ascend910b1", 64 * 70 + 3, "sequence"),
    ("ascend950", 200, "vectors"),
    ("ascend950", 64, "vectors"),
    ("ascend950", 257, "tree"),
    ("ascend310p", 64 * 70 + 3, "tree"),
    ("ascend950", 3, "tree"),
])  # fmt: skip
def test_sum_of_all(soc, count, way):
    """The order of the additions decides the last bits."""
    rng = np.random.default_rng(1)
    values = (rng.standard_normal(count) * 1e4).astype(np.float32)
    padded = [int(b) for b in values.view(np.uint32)] + [0] * (-count % 64)
    repeats = [padded[k : k + 64] for k in range(0, len(padded), 64)]

    def plus(a, b):
        return exact_add(a, b, FLOAT32, 1)

    if way == "vectors":
        sums = repeats[0]
        for repeat in repeats[1:]:
            sums = [plus(a, b) for a, b in zip(sums, repeat, strict=True)]
        want = tree(sums, FLOAT32, 1)[0]
    else:
        sums = [tree(r, FLOAT32, 1)[0] for r in repeats]
        if way == "sequence":
            want = sums[0]
            for each in sums[1:]:
                want = plus(want, each)
        else:
            while len(sums) > 1:
                sums += [0] * (-len(sums) % 64)
                sums = [tree(sums[k : k + 64], FLOAT32, 1)[0] for k in range(0, len(sums), 64)]
            want = sums[0]

    def body():
        u = Ub(d=(float32, 8), s=(float32, 4544), t=(float32, 128))
        put(u["s"], values)
        ReduceSum(u["d"], u["s"], u["t"], count)
        assert int(peek(u["d"]).view(np.uint32)[0]) == want

    run_block(body, soc=soc)


def test_best_of_all_with_its_index():
    values = interesting(half, 9000, 3)
    values[np.isnan(values)] = 1
    values[[77, 4000, 8999]] = np.inf
    values[[1, 5000]] = -np.inf

    def body():
        u = Ub(d=(half, 16), s=(half, 9008), t=(half, 512))
        put(u["s"], values)
        ReduceMax(u["d"], u["s"], u["t"], 9000, True)
        assert (peek(u["d"])[0], peek(u["d"], uint16)[1]) == (np.inf, 77)
        ReduceMin(u["d"], u["s"], u["t"], 9000, calIndex=True)
        assert (peek(u["d"])[0], peek(u["d"], uint16)[1]) == (-np.inf, 1)
        poisoned = peek(u["t"], uint32)
        assert poisoned[0] == 0xDEADBEEF  # what the scratch holds is nobody's business
        ReduceMax(u["d"], u["s"], u["t"], [0, 1], 70, 4, True)  # lane 64 of each repeat
        at = 64 + 64 * np.arange(70)
        assert peek(u["d"], uint16)[1] == at[np.argmax(values[at])]

    run_block(body)


def test_integers_on_950():
    def body():
        u = Ub(d=(int16, 16), s=(int16, 256), t=(int16, 64))
        values = interesting(int16, 200, 2)
        put(u["s"], values)
        ReduceMax(u["d"], u["s"], u["t"], 200, True)
        assert list(peek(u["d"])[:2]) == [values.max(), values.argmax()]
        WholeReduceMin(u["d"], u["s"], 128, 1, 1, 1, 8, ReduceOrder.ORDER_ONLY_VALUE)
        assert peek(u["d"])[0] == values[:128].min()
        w = u["s"].ReinterpretCast(uint32)
        WholeReduceMax(u["d"].ReinterpretCast(uint32), w, 64, 1, 1, 1, 8)
        assert peek(u["d"], uint32)[0] == values[:128].view(np.uint32).max()

    run_block(body, soc="ascend950")


def test_in_place_runs_in_order():
    def use(dst, src, values):
        put(src, np.ones(512, np.float32))
        WholeReduceSum(src, src, 64, 8, 1, 1, 8)
        assert list(peek(src)[:8]) == [64] * 8
        WholeReduceSum(src[32:], src, 8, 1, 1, 1, 8)

    block = on(float32, use, 512)
    assert "overlap" not in [w.split(":")[0] for w in block.warnings][:-1]
