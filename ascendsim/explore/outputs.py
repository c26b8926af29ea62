"""The outputs of two runs, element by element and bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.view.lane_graph import is_nan, ulp_order


@dataclass(frozen=True, slots=True)
class Parted:
    """One output: how many of `of` elements differ, and of these in how many both are NaN.

    ulp : the largest distance between numbers, in units of the last place; None where there are
    none. first : the first element that differs, one that is not NaN twice before others; bits :
    there, in both runs.
    """

    differing: int
    of: int
    nan_words: int
    ulp: int | None
    first: int | None
    bits: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """All outputs by name; `element` is name and index of the first that differs."""

    by_name: dict[str, Parted]

    @property
    def differing(self) -> int:
        """How many elements differ, of all outputs."""
        return sum(each.differing for each in self.by_name.values())

    @property
    def element(self) -> tuple[str, int] | None:
        """Name and index of the first element that differs, None when there is none."""
        found = ((name, each.first) for name, each in self.by_name.items())
        return next(((name, first) for name, first in found if first is not None), None)


def held_side_by_side(one: Mapping[str, np.ndarray], two: Mapping[str, np.ndarray]) -> Outputs:
    """Compare two runs' outputs, bits by bits."""
    return Outputs({name: _parted(array, two[name]) for name, array in one.items()})


def _parted(one: np.ndarray, two: np.ndarray) -> Parted:
    dtype = as_dtype(one.dtype)
    left, right = (np.ascontiguousarray(side).reshape(-1).view(dtype.bits) for side in (one, two))
    wrong = np.flatnonzero(left != right)
    if not wrong.size:
        return Parted(0, left.size, 0, None, None, None)
    is_float = dtype.kind == "float"
    nan = np.array([is_nan(side[wrong], dtype) for side in (left, right)]) if is_float else None
    both = np.zeros(wrong.size, bool) if nan is None else nan.all(0)
    numbers = np.ones(wrong.size, bool) if nan is None else ~nan.any(0)
    far = _farthest(left[wrong[numbers]], right[wrong[numbers]], dtype)
    first = int((wrong[~both] if not both.all() else wrong)[0])
    bits = int(left[first]), int(right[first])
    return Parted(int(wrong.size), int(left.size), int(both.sum()), far, first, bits)


def _farthest(left: np.ndarray, right: np.ndarray, dtype: DType) -> int | None:
    """Return the largest distance between two words, in units of the last place."""
    if dtype.kind != "float":
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return max((abs(ulp_order(a, dtype) - ulp_order(b, dtype)) for a, b in pairs), default=None)
    sign = 1 << (8 * dtype.nbytes - 1)
    places = (np.where(w >= sign, sign - w, w) for w in (left.astype(int), right.astype(int)))
    far = np.abs(np.subtract(*places))
    return int(far.max()) if far.size else None
