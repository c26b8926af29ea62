"""Repeats, masks and strides against a model that moves one lane at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from ascendsim import dtypes
from ascendsim.enums import CMPMODE, DATABLOCK_BYTES, RoundMode
from ascendsim.numerics import arith, cast, compare
from ascendsim.numerics.opcodes import (
    G_COMPARE_MASKED,
    G_ELEMENT,
    G_LANES,
    G_MASK_HI,
    G_MASK_LO,
    G_OPERANDS,
    G_REPEATS,
    GEOMETRY_WORDS,
    MAX_LANES,
)
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import DTYPES, random_bits, run

MEMORY_BYTES = 1 << 16
WORD_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Place:
    """An operand in the test's memory: byte offset, element type, strides; dtype None = bits."""

    start: int
    dtype: np.dtype | None
    block_stride: int
    repeat_stride: int

    def lane(self, repeat: int, lane: int) -> int:
        """Return the byte offset of one element."""
        per_block = DATABLOCK_BYTES // self.dtype.itemsize
        block, inside = divmod(lane, per_block)
        start = self.start + repeat * self.repeat_stride + block * self.block_stride
        return start + inside * self.dtype.itemsize

    def read(self, memory, repeat, lanes):
        """Return the lanes of one repeat, or its mask bytes."""
        if self.dtype is None:
            start = self.start + repeat * self.repeat_stride
            return memory[start : start + (lanes + 7) // 8].copy()
        size = self.dtype.itemsize
        found = [memory[at : at + size] for at in (self.lane(repeat, i) for i in range(lanes))]
        return np.concatenate(found).view(self.dtype)

    def words(self):
        return (
            0 if self.dtype is None else self.dtype.itemsize,
            self.block_stride,
            self.repeat_stride,
        )


def geometry(places, repeats, lanes, mask, compare_masked=False):
    """Build a geometry block; `places` in the order DST, SRC0, SRC1, MASK, None = absent."""
    block = np.zeros(GEOMETRY_WORDS, np.int64)
    block[[G_REPEATS, G_LANES, G_COMPARE_MASKED]] = repeats, lanes, compare_masked
    unsigned = block.view(np.uint64)
    unsigned[G_MASK_LO], unsigned[G_MASK_HI] = mask & WORD_MASK, mask >> 64
    for number, place in enumerate(places):
        words = (-1, 0, 0) if place is None else place.words()
        block[G_OPERANDS + 3 * number + G_ELEMENT :][:3] = words
    return block


def model(memory, places, compute, lanes, count, mask, compare_masked):
    """Apply an instruction lane by lane; each repeat reads everything before it writes."""
    memory = memory.copy()
    dst, *sources = places
    repeats = -(-count // lanes)
    for repeat in range(repeats):
        now = min(lanes, count - repeat * lanes)
        result = compute(*[p.read(memory, repeat, now) for p in sources if p is not None])
        if dst.dtype is None:
            whole = np.zeros(lanes // 8, np.uint8)  # all bits of the repeat are written
            whole[: result.size] = result
            keep = np.frombuffer(mask.to_bytes(16, "little"), np.uint8)[: whole.size]
            start = dst.start + repeat * dst.repeat_stride
            memory[start : start + whole.size] = whole & keep if compare_masked else whole
            continue
        for lane in range(now):
            if mask >> lane & 1:
                at = dst.lane(repeat, lane)
                memory[at : at + dst.dtype.itemsize] = result[lane : lane + 1].view(np.uint8)
    return memory


def draw_mask(rng, lanes):
    """Return a full, a continuous, a sparse or a random mask."""
    full = (1 << lanes) - 1
    random = int.from_bytes(rng.bytes(16), "little") & full
    return (full, full >> int(rng.integers(0, lanes)), random, 1 << int(rng.integers(0, lanes)), 0)[
        rng.integers(0, 5)
    ]


def draw_place(rng, dtype):
    """Return an operand in the first part of memory, often overlapping others and itself."""
    stride = DATABLOCK_BYTES * int(rng.choice([1, 1, 1, 0, 2, 3, 16]))
    repeat = DATABLOCK_BYTES * int(rng.choice([8, 8, 0, 1, 3, 4, 16, 20]))
    return Place(DATABLOCK_BYTES * int(rng.integers(0, 40)), dtype, stride, repeat)


def draw_bits(rng, lanes):
    return Place(32768 + 8 * int(rng.integers(0, 8)), None, 0, int(rng.choice([lanes // 8, 0, 32])))


def check(rng, body, places, compute, lanes, **rest):
    """Run one random call and its model over the same memory."""
    repeats = int(rng.integers(1, 6))
    count = max(1, repeats * lanes - int(rng.choice([0, 0, 0, 1, 37])))
    mask = draw_mask(rng, lanes)
    masked = bool(rng.integers(0, 2))
    memory = random_bits(np.uint8, MEMORY_BYTES, int(rng.integers(1 << 30)))
    want = model(memory, places, compute, lanes, count, mask, masked)
    block = geometry(places, repeats, lanes, mask, masked)
    operands = [None if p is None else memory[p.start :] for p in places]
    run(body, *operands, count=count, geo=block, **rest)
    assert_same_bits(memory, want)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("name", DTYPES)
def test_two_operands(name, seed):
    rng = np.random.default_rng((1, seed))
    dtype = DTYPES[name]
    places = [draw_place(rng, dtype) for _ in range(3)]
    if seed % 3 == 0:
        places[0] = places[1]
    body, twin = ("add", arith.add) if seed % 2 else ("max", arith.maximum)
    check(rng, f"{body}_{name}", [*places, None], twin, 256 // dtype.itemsize)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("name", DTYPES)
def test_scalar_operand(name, seed):
    rng = np.random.default_rng((2, seed))
    dtype = DTYPES[name]
    places = [draw_place(rng, dtype), draw_place(rng, dtype), None, None]
    twin = lambda a: arith.mul(a, dtype.type(-1.5))  # noqa: E731
    check(rng, f"muls_{name}", places, twin, 256 // dtype.itemsize, scalar=-1.5)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("float16", "float32"),
        ("float32", "bfloat16"),
        ("float32", "float32"),
        ("float16", "bfloat16"),
    ],
)
def test_cast_counts_lanes_in_the_wider_type(source, target, seed):
    rng = np.random.default_rng((3, seed))
    lanes = 256 // max(DTYPES[source].itemsize, DTYPES[target].itemsize)
    places = [draw_place(rng, DTYPES[target]), draw_place(rng, DTYPES[source]), None, None]
    twin = lambda a: cast.cast(a, dtypes.dtype(target), RoundMode.CAST_CEIL)  # noqa: E731
    check(rng, f"cast_{source}_{target}", places, twin, lanes, mode=RoundMode.CAST_CEIL)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("name", DTYPES)
def test_compare_writes_bits(name, seed):
    rng = np.random.default_rng((4, seed))
    lanes = 256 // DTYPES[name].itemsize
    sources = [draw_place(rng, DTYPES[name]) for _ in range(2)]
    twin = lambda a, b: compare.compare(a, b, CMPMODE.GE)  # noqa: E731
    places = [draw_bits(rng, lanes), *sources, None]
    check(rng, f"compare_{name}", places, twin, lanes, mode=CMPMODE.GE)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("nbytes", [2, 4])
def test_select_reads_bits(nbytes, seed):
    rng = np.random.default_rng((5, seed))
    lanes = 256 // nbytes
    dtype = np.dtype(f"u{nbytes}")
    places = [draw_place(rng, dtype) for _ in range(3)] + [draw_bits(rng, lanes)]
    twin = lambda a, b, mask: np.where(  # noqa: E731
        np.unpackbits(mask, count=a.size, bitorder="little"), a, b
    )
    check(rng, f"select_{nbytes}", places, twin, lanes)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("nbytes", [1, 2, 4])
def test_duplicate_under_a_mask(nbytes, seed):
    rng = np.random.default_rng((6, seed))
    lanes = min(256 // nbytes, MAX_LANES)
    dtype = np.dtype(f"u{nbytes}")
    places = [draw_place(rng, dtype), None, None, None]
    twin = lambda: np.full(lanes, 0x7D, dtype)  # noqa: E731
    check(rng, f"duplicate_{nbytes}", places, twin, lanes, scalar=float(0x7D))
