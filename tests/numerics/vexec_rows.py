"""Run one compiled body on numpy arrays: what the tests of the bodies share."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ascendsim.numerics import vexec
from ascendsim.numerics.opcodes import (
    COUNT,
    DST,
    ENV,
    GEOMETRY,
    MASK,
    MODE,
    OP,
    ROW_WORDS,
    SRC0,
    SRC1,
)

DTYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
#: bytes before and after every destination that must stay as they are
GUARD = 64
UNTOUCHED = 0xA5
LENGTHS = (1, 7, 8, 31, 32, 33, 63, 64, 65, 127, 1000)


def address(array: np.ndarray | None) -> int:
    return 0 if array is None else array.ctypes.data


def run(name, dst, src0=None, src1=None, mask=None, *, count, mode=0, env=0, scalar=0.0, geo=None):
    """Execute one row."""
    row = np.zeros(ROW_WORDS, np.int64)
    row[[OP, COUNT, MODE, ENV]] = vexec.opcode(name), count, int(mode), env
    row[[DST, SRC0, SRC1, MASK]] = [address(a) for a in (dst, src0, src1, mask)]
    row[GEOMETRY] = address(geo)
    vexec.entry(int(row[OP]))(row.ctypes.data, float(scalar))


def fresh(name, dtype, count, *sources, **rest):
    """Run into guarded memory and return the destination; nothing beyond it may change."""
    dtype = np.dtype(dtype)
    nbytes = count * dtype.itemsize
    memory = np.full(nbytes + 2 * GUARD, UNTOUCHED, np.uint8)
    inside = memory[GUARD : GUARD + nbytes]
    run(name, inside, *sources, count=rest.pop("lanes", count), **rest)
    assert (memory[:GUARD] == UNTOUCHED).all()
    assert (memory[GUARD + nbytes :] == UNTOUCHED).all()
    return inside.view(dtype)


def random_bits(dtype, count, seed):
    """Return random patterns: NaN, infinities and subnormals included."""
    dtype = np.dtype(dtype)
    draw = np.random.default_rng(seed).integers(0, 2 ** (8 * dtype.itemsize), count, np.uint64)
    return draw.astype(f"u{dtype.itemsize}").view(dtype)


def interesting(dtype):
    """Return special values, both signs, and their neighbours."""
    dtype = np.dtype(dtype)
    specials = np.array(
        [0.0, 1.0, 1.5, 2.0, 3.0, 88.7, 65504, 65520, 1e-7, np.inf, np.nan], np.float64
    )
    with np.errstate(all="ignore"):
        base = specials.astype(dtype).view(f"u{dtype.itemsize}").astype(np.int64)
    smallest = np.array([1, 2, 3], np.int64)
    near = np.concatenate([base - 1, base, base + 1, smallest])
    near = near[(near >= 0)] % (1 << (8 * dtype.itemsize - 1))
    both = np.concatenate([near, near | (1 << (8 * dtype.itemsize - 1))])
    return np.unique(both).astype(f"u{dtype.itemsize}").view(dtype)
