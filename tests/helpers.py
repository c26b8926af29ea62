"""Comparison of bits, for all tests."""

from __future__ import annotations

import numpy as np


def assert_same_bits(got: np.ndarray, want: np.ndarray, *inputs: object) -> None:
    """Fail unless `got` and `want` have the same type, shape and bits.

    The text names the number of mismatches and, for the first, values, patterns, distance in units
    of the last place and the `inputs` (arrays like `got`, or scalars) that led to it.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, f"got {got.dtype}, want {want.dtype}"
    assert got.shape == want.shape, f"got shape {got.shape}, want {want.shape}"
    left, right = _words(got).ravel(), _words(want).ravel()
    differ = np.flatnonzero(left != right)
    if not differ.size:
        return
    first = int(differ[0])
    lines = [
        f"{differ.size} of {got.size} elements differ, the first at {first}:",
        f"  got   {_show(got, first)}",
        f"  want  {_show(want, first)}",
    ]
    if left.itemsize * 8 <= 32:
        lines.append(f"  ulp   {_order(got, first) - _order(want, first)}")
    lines += [f"  input {_show(np.asarray(each), first)}" for each in inputs]
    raise AssertionError("\n".join(lines))


def _words(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _show(array: np.ndarray, place: int) -> str:
    flat = array.ravel()
    value = flat[place if flat.size > 1 else 0]
    word = int(_words(np.asarray(value)).ravel()[0])
    return f"{value!s} = {word:#0{2 + 2 * value.dtype.itemsize}x}"


def _order(array: np.ndarray, place: int) -> int:
    """Place of an element among its neighbouring patterns, sign-magnitude order."""
    word = int(_words(array).ravel()[place])
    if array.dtype.kind in "ui":
        return int(array.ravel()[place])
    sign = 1 << (8 * array.dtype.itemsize - 1)
    return sign - word if word >= sign else word
