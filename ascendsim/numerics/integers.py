"""Arithmetic and logic on arrays of integers: modulo the width, as the hardware wraps.

Source: asc-devkit, pages of the instructions; CTRL[53] = 0 at launch (no saturation).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ascendsim.numerics.words import like


def is_integer(a: np.ndarray) -> bool:
    """Whether the elements are integers."""
    return a.dtype.kind in "iu"


def binary(function: Callable, a: np.ndarray, b: object) -> np.ndarray:
    """Return a numpy function of two operands of one type, wrapped to the type."""
    with np.errstate(over="ignore"):
        return function(a, like(b, a)).astype(a.dtype)


def shift_left(a: np.ndarray, distance: object) -> np.ndarray:
    """Shift left, zeros coming in; by the width or more nothing is left."""
    return _each(a, lambda x: x << int(distance))  # type: ignore[call-overload]


def shift_right(a: np.ndarray, distance: object) -> np.ndarray:
    """Shift right: zeros come in where the type is unsigned, else copies of the sign."""
    return _each(a, lambda x: x >> int(distance))  # type: ignore[call-overload]


def _each(a: np.ndarray, function: Callable[[int], int]) -> np.ndarray:
    bits = 8 * a.dtype.itemsize
    words = [function(x) & (1 << bits) - 1 for x in a.tolist()]
    return np.array(words, f"u{a.dtype.itemsize}").view(a.dtype)
