"""Arithmetic progressions as the library computes them: a base, then chains of additions.

The base, one datablock or one repeat, is computed element by element in float32 and rounded to the
type; the datablocks of the first repeat follow by adding `base * difference` to the one before, and
every later repeat by adding `lanes * difference` to the one before. All additions are those of
Adds, so numbers beyond the type's precision are what the chain leaves.
Source: asc-devkit impl, CreateVecIndex of dav_c220 and ArithProgression (code).
"""

from __future__ import annotations

import numpy as np

from ascendsim.numerics import arith


def progression(
    first: np.generic, difference: np.generic, count: int, sizes: tuple[int, int]
) -> np.ndarray:
    """Return `count` elements from `first` on, `difference` apart, of the type of both.

    Parameters
    ----------
    sizes : elements of the base, and of a repeat; the base divides the repeat
    """
    base, lanes = sizes
    if first.dtype.kind in "iu":
        steps = np.arange(count, dtype=np.int64)
        return (int(first) + int(difference) * steps).astype(first.dtype)
    out = np.empty(-(-max(count, 1) // lanes) * lanes, first.dtype)
    with np.errstate(all="ignore"):
        steps = np.arange(base, dtype=np.float32)
        out[:base] = np.float32(first) + np.float32(difference) * steps
        by_base = (np.float32(difference) * np.float32(base)).astype(first.dtype)
        by_repeat = (np.float32(difference) * np.float32(lanes)).astype(first.dtype)
    for start in range(base, lanes, base):
        out[start : start + base] = arith.add(out[start - base : start], by_base)
    for start in range(lanes, out.size, lanes):
        out[start : start + lanes] = arith.add(out[start - lanes : start], by_repeat)
    return out[:count].copy()
