"""Sorted byte ranges as arrays: their union, and what two of them have in common."""

from __future__ import annotations

import numpy as np

Ranges = tuple[np.ndarray, np.ndarray]  # starts and stops, int64, sorted and apart


def merged(starts: np.ndarray, stops: np.ndarray) -> Ranges:
    """Return the union of ranges."""
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(stops[order])
    first = np.flatnonzero(np.r_[True, starts[1:] > reach[:-1]])
    return starts[first], reach[np.r_[first[1:] - 1, len(reach) - 1]]


def meet(one: Ranges, other: Ranges) -> tuple[int, int] | None:
    """Return the first range of bytes that both have, None when there is none."""
    at = np.searchsorted(other[1], one[0], side="right")  # the first that ends behind each start
    inside = at < len(other[0])
    hit = np.flatnonzero(inside)[other[0][at[inside]] < one[1][inside]]
    if not hit.size:
        return None
    mine, theirs = hit[0], at[hit[0]]
    start, stop = max(one[0][mine], other[0][theirs]), min(one[1][mine], other[1][theirs])
    return int(start), int(stop)


def whole(ranges: Ranges, unit: int) -> Ranges:
    """Return the units (lines of so many bytes) that ranges touch, as ranges of bytes."""
    return merged(ranges[0] // unit * unit, -(-ranges[1] // unit) * unit)
