"""Where and how two streams of results differ: the compiled loops behind an atlas.

`tally` is a checksum's raw material, `scan` finds maximal runs of differing elements by class:

boundary  differ by more than 1/16 of the largest result nearby, as when another branch is taken
rounding  any other difference between numbers, a zero's sign among them
overflow  one is infinite, the other is not, or not with that sign
nan       one is NaN
flush     one is zero, the other subnormal

Patterns are uint32 whatever the format; NaN is made canonical by `tally`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from ascendsim.numerics import jitcache

CLASSES = ("boundary", "rounding", "overflow", "nan", "flush")
BOUNDARY, ROUNDING, OVERFLOW, NAN, FLUSH = range(len(CLASSES))
KEPT_RUNS = 1000  # of each class; the rest is counted
START, STOP, ONE, TWO, ULP, WORST = range(6)  # fields of a run; offsets, the last one included
NO_ULP = -1  # of a NaN
BINS = 4096
CLOSE_ULP = 3  # so near to each other, results are never a boundary
_STEP, _STEP_BITS = 64, 6
_TALLY = "UniTuple(uint64, 2)(uint32[::1], uint32, uint32, uint32)"
_SCAN = (
    "void(uint32[::1], uint32[::1], float32[::1], float32[::1], int64[::1], int64[:, :, ::1], "
    "int64[:, ::1], int64[:, ::1])"
)


def tally(bits: np.ndarray, sign: int, infinity: int, quiet: int) -> tuple[int, int]:
    """Make NaN canonical in place; return the sums of bits[i] and of i * bits[i], mod 2^64."""
    return _compiled("tally")(bits, np.uint32(sign - 1), np.uint32(infinity), np.uint32(quiet))


def scan(*arguments: Any) -> None:
    """Find the runs of one chunk; see `_scan` for the arguments."""
    _compiled("scan")(*arguments)


@cache
def _compiled(name: str) -> Callable[..., Any]:
    known: dict[str, tuple[Callable[..., Any], str]] = {
        "tally": (_tally, _TALLY),
        "scan": (_scan, _SCAN),
    }
    function, signature = known[name]
    return jitcache.compiled(function, signature, f"differences_{name}")


def _tally(bits, magnitude, infinity, quiet):
    total, weighted = np.uint64(0), np.uint64(0)
    for i in range(bits.size):
        word = bits[i]
        if (word & magnitude) > infinity:
            word = quiet
        bits[i] = word
        total += np.uint64(word)
        weighted += np.uint64(word) * (np.uint64(i) & np.uint64(0xFFFFFFFF))
    return total, weighted


def _scan(one, two, values, others, layout, runs, counts, bins):
    """Fill `runs` (class, number, field), `counts` and `bins` (worst ULP, differing).

    Parameters
    ----------
    one, two, values, others : patterns, and what they stand for as float32
    layout : index of the first element; elements of a row, where every run ends; sign bit,
        infinity and least normal pattern of the format; neighbours that a boundary is judged by;
        mask and shift that turn an index into a bin
    counts : three rows: elements by class, runs by class, and the classes at the first and last
        element (-1: they do not differ)
    """
    start, row, sign, infinity, normal = layout[0], layout[1], layout[2], layout[3], layout[4]
    near, mask, shift = layout[5], layout[6], layout[7]
    current, worst, block, largest = -1, 0, -1, 0.0
    i = 0
    while i < one.size:
        if current < 0 and i + _STEP <= one.size and _same(one, two, i):
            i += _STEP
            continue
        place, inside = ((start + i) & mask) >> shift, (start + i) % row
        whole = inside > 0 and inside % _STEP == 0 and shift >= _STEP_BITS
        if current == ROUNDING and whole and i + _STEP <= one.size:
            ulp = _close_all(one, two, i, sign - 1, infinity)
            if ulp > 0:
                _count(counts, bins, ROUNDING, place, ulp, _STEP)
                worst = max(worst, ulp)
                i += _STEP
                continue
        kind, ulp = -1, 0
        if one[i] != two[i]:
            kind, ulp = _classified(np.int64(one[i]), np.int64(two[i]), sign, infinity, normal)
            if kind == ROUNDING and ulp > CLOSE_ULP:
                if i // near != block:
                    block = i // near
                    largest = _largest(values, others, block * near, near)
                far = 16 * abs(np.float64(values[i]) - np.float64(others[i])) > largest
                kind = BOUNDARY if far else kind
            _count(counts, bins, kind, place, ulp, 1)
        if kind != current or (kind >= 0 and i > 0 and inside == 0):
            _close(runs, counts, current, i - 1, worst)
            if kind >= 0:
                _open(runs, counts, kind, i, one[i], two[i], ulp)
            current, worst = kind, ulp
        worst = max(worst, ulp)
        if i == 0:
            counts[2, 0] = kind
        i += 1
    _close(runs, counts, current, one.size - 1, worst)
    counts[2, 1] = current


@njit(error_model="numpy")
def _count(counts, bins, kind, place, ulp, number):
    counts[0, kind] += number
    bins[0, place] = max(bins[0, place], ulp)
    bins[1, place] += number


@njit(error_model="numpy")
def _same(one, two, i):
    different = np.uint32(0)
    for k in range(i, i + _STEP):
        different |= one[k] ^ two[k]
    return different == 0


@njit(error_model="numpy")
def _close_all(one, two, i, magnitude, infinity):
    """Return the worst distance when _STEP pairs all differ by rounding and little, else 0."""
    worst, other = np.int64(0), False
    for k in range(i, i + _STEP):
        a, b = np.int64(one[k]), np.int64(two[k])
        ulp, c, d = abs(a - b), a & magnitude, b & magnitude
        other |= (ulp == 0) | (ulp > CLOSE_ULP) | (min(c, d) == 0) | (max(c, d) >= infinity)
        worst = max(worst, ulp)
    return np.int64(0) if other else worst


@njit(error_model="numpy")
def _classified(one, two, sign, infinity, normal):
    """Return class and ULP distance of two different patterns; a boundary counts as rounding."""
    a, b = one & (sign - 1), two & (sign - 1)
    if a > infinity or b > infinity:
        return NAN, NO_ULP
    ulp = abs((-a if one & sign else a) - (-b if two & sign else b))
    if a == infinity or b == infinity:
        return OVERFLOW, ulp
    if (a == 0) != (b == 0) and max(a, b) < normal:
        return FLUSH, ulp
    return ROUNDING, ulp


@njit(error_model="numpy")
def _largest(values, others, start, count):
    """Return the largest finite magnitude among both results of some neighbours."""
    found = np.float32(0)
    for i in range(start, min(start + count, values.size)):
        a, b = abs(values[i]), abs(others[i])
        if found < a and a < np.inf:
            found = a
        if found < b and b < np.inf:
            found = b
    return np.float64(found)


@njit(error_model="numpy")
def _open(runs, counts, kind, i, one, two, ulp):
    number = counts[1, kind]
    counts[1, kind] += 1
    if number < KEPT_RUNS:
        run = runs[kind, number]
        run[START], run[ONE], run[TWO], run[ULP] = i, one, two, ulp


@njit(error_model="numpy")
def _close(runs, counts, kind, last, worst):
    if kind >= 0 and counts[1, kind] <= KEPT_RUNS:
        run = runs[kind, counts[1, kind] - 1]
        run[STOP], run[WORST] = last, worst
