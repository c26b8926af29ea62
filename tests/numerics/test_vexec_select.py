"""Compiled Compare, Select, Duplicate, move and fill."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.enums import CMPMODE
from ascendsim.numerics import compare as twin
from ascendsim.numerics import vexec
from ascendsim.numerics.opcodes import ENV_NAN_ONES, ENV_NE_ORDERED
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import DTYPES, LENGTHS, fresh, interesting, random_bits, run

WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
PATTERNS = {
    1: (0, 1, 0x80, 0xFF),
    2: (0, 0x8000, 0x7E01, 0xFFFF),
    4: (0, 1 << 31, 0x7F800001, 2**32 - 1),
}


def close_pairs(name, count=20_000):
    special = interesting(DTYPES[name])
    few = np.random.default_rng(1).choice(special, (2, count))
    return (
        np.concatenate(
            [np.repeat(special, special.size), few[0], random_bits(DTYPES[name], count, 1)]
        ),
        np.concatenate(
            [np.tile(special, special.size), few[1], random_bits(DTYPES[name], count, 2)]
        ),
    )


@pytest.mark.parametrize("env", [0, ENV_NE_ORDERED, ENV_NAN_ONES])
@pytest.mark.parametrize("mode", CMPMODE)
@pytest.mark.parametrize("name", DTYPES)
def test_compare_two_tensors(name, mode, env):
    a, b = close_pairs(name)
    want = twin.compare(a, b, mode, env=env)
    got = fresh(f"compare_{name}", np.uint8, want.size, a, b, lanes=a.size, mode=mode, env=env)
    assert_same_bits(got, want)


@pytest.mark.parametrize("env", [0, ENV_NE_ORDERED])
@pytest.mark.parametrize("mode", CMPMODE)
@pytest.mark.parametrize("name", DTYPES)
def test_compare_with_scalar(name, mode, env):
    a = (
        close_pairs(name, 500)[0]
        if name == "float32"
        else np.arange(65536, dtype=np.uint16).view(DTYPES[name])
    )
    for scalar in interesting(DTYPES[name])[:: 1 if name == "float32" else 3]:
        want = twin.compare(a, scalar, mode, env=env)
        rest = {"lanes": a.size, "mode": mode, "env": env, "scalar": float(scalar)}
        assert_same_bits(fresh(f"compares_{name}", np.uint8, want.size, a, **rest), want)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("name", DTYPES)
def test_compare_clears_the_rest_of_the_last_byte(name, count):
    a = random_bits(DTYPES[name], count, 3)
    got = fresh(f"compare_{name}", np.uint8, (count + 7) // 8, a, a, lanes=count, mode=CMPMODE.NE)
    assert_same_bits(got, twin.compare(a, a, CMPMODE.NE))
    zeros = np.zeros(count, DTYPES[name])
    got = fresh(f"compares_{name}", np.uint8, (count + 7) // 8, zeros, lanes=count, mode=CMPMODE.EQ)
    assert np.unpackbits(got, bitorder="little").sum() == count


@pytest.mark.parametrize("count", [*LENGTHS, 6016])
@pytest.mark.parametrize("nbytes", [2, 4])
def test_select_copies_patterns(nbytes, count):
    a, b = (random_bits(WORDS[nbytes], count, seed) for seed in (4, 5))
    mask = random_bits(np.uint8, (count + 7) // 8, 6)
    want = twin.select(mask, a, b)
    body = f"select_{nbytes}"
    assert_same_bits(fresh(body, a.dtype, count, a, b, mask), want)
    for place, sources in ((a.copy(), 0), (b.copy(), 1)):
        pair = [a, b]
        pair[sources] = place
        run(body, place, *pair, mask, count=count)
        assert_same_bits(place, want)
    for pattern in PATTERNS[nbytes]:
        got = fresh(f"selects_{nbytes}", a.dtype, count, a, None, mask, scalar=float(pattern))
        assert_same_bits(got, twin.select(mask, a, a.dtype.type(pattern)))


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("nbytes", WORDS)
def test_duplicate_keeps_every_bit(nbytes, count):
    for pattern in PATTERNS[nbytes]:
        got = fresh(f"duplicate_{nbytes}", WORDS[nbytes], count, scalar=float(pattern))
        assert (got == pattern).all()


@pytest.mark.parametrize("block_bytes", [0, 1, 31, 32, 33, 1000])
@pytest.mark.parametrize("blocks", [0, 1, 3])
def test_move_with_pitches(blocks, block_bytes):
    src = random_bits(np.uint8, 4000, 7)
    got = np.zeros(5000, np.uint8)
    for _ in range(2):  # the first call is the one that compiles
        vexec.move(got.ctypes.data, src.ctypes.data, blocks, block_bytes, 1500, 1001)
    want = np.zeros(5000, np.uint8)
    for i in range(blocks):
        want[i * 1500 :][:block_bytes] = src[i * 1001 :][:block_bytes]
    assert_same_bits(got, want)


@pytest.mark.parametrize("shift", [-3, 0, 5])
def test_move_overlapping(shift):
    memory = random_bits(np.uint8, 200, 8)
    want = memory.copy()
    want[50 + shift : 150 + shift] = memory[50:150]
    start = memory.ctypes.data
    vexec.mover()(start + 50 + shift, start + 50, 1, 100, 0, 0)
    assert_same_bits(memory, want)


def test_fill_stays_inside():
    memory = np.zeros(100, np.uint8)
    vexec.fill(memory.ctypes.data + 10, 80, 0xA5)
    assert (memory[10:90] == 0xA5).all()
    assert memory.sum() == 80 * 0xA5
