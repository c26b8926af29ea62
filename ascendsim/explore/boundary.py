"""Inputs at the boundaries of an element type: what shows where two chips or options part.

Infinities, NaN of several words, both zeros, the ends of the subnormal and of the normal numbers,
small numbers with their neighbours, arguments at which exp overflows, and ties: values halfway
between two numbers of a narrower type, or between two whole numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from ascendsim.dtypes import DType, bfloat16, float16
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Format

MOST = 8192  # elements that are made unasked
_FORMATS = {fmt.name: fmt for fmt in (FLOAT32, FLOAT16, BFLOAT16)}
_SMALL = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 6.0)
_EXPONENTS = (11.0, 17.0, 88.0, 89.0, 104.0)  # where exp leaves the range of half or float


def boundary_values(dtype: DType) -> np.ndarray:
    """Return the boundary values of `dtype`, each word once, in an order that stays."""
    if dtype.kind == "float":
        fmt = _FORMATS[dtype.name]
        words = _float_words(fmt, dtype)
        words = [*words, *(word ^ fmt.sign_bits for word in words)]
    else:
        limits = np.iinfo(dtype.numpy)
        ends = (limits.min, limits.min + 1, limits.max - 1, limits.max)
        powers = [1 << k for k in range(0, 8 * dtype.nbytes - 1, 4)]
        numbers = [0, *powers, *(p - 1 for p in powers), *(-p for p in powers), *ends]
        words = [dtype.to_bits(n) for n in numbers if limits.min <= n <= limits.max]
    return np.array(list(dict.fromkeys(words)), dtype.bits).view(dtype.numpy)


def _float_words(fmt: Format, dtype: DType) -> list[int]:
    """Return the boundary words without a sign."""
    quiet = fmt.inf_bits | fmt.min_normal_bits >> 1
    nans = [quiet, fmt.inf_bits + 1, fmt.sign_bits - 1]
    ends = [0, 1, fmt.min_normal_bits - 1, fmt.min_normal_bits, fmt.max_bits, fmt.inf_bits]
    small = [dtype.to_bits(value) for value in _SMALL]
    near = [word + step for word in small for step in (-1, 1)]
    far = [dtype.to_bits(value) for value in _EXPONENTS]
    return [*ends, *nans, *small, *near, *far, *_ties(fmt, dtype)]


def _ties(fmt: Format, dtype: DType) -> list[int]:
    """Return words halfway between neighbours of the narrower types, and at their overflow."""
    found = []
    for narrow, narrow_type in ((FLOAT16, float16), (BFLOAT16, bfloat16)):
        if narrow.mantissa_bits < fmt.mantissa_bits:
            half = 2.0 ** -(narrow.mantissa_bits + 1)
            largest = float(narrow_type.from_bits(narrow.max_bits))
            step = 2.0 ** (narrow.bias - narrow.mantissa_bits)
            found += [
                dtype.to_bits(v) for v in (1 + half, 1 + 3 * half, largest, largest + step / 2)
            ]
    last = fmt.min_normal_bits  # 2^mantissa_bits: numbers above are whole, below are halves
    return [*found, dtype.to_bits(last / 2 + 0.5), dtype.to_bits(last / 2 + 1.5)]


def boundary_inputs(types: Mapping[str, DType], size: int | None = None) -> dict[str, np.ndarray]:
    """Return flat inputs by name: every combination of the boundary values of their types.

    Where these are more than `MOST`, a fixed random choice of that many, in which every value
    of every input occurs. `size` repeats or cuts them to as many elements.
    """
    values = {name: boundary_values(dtype) for name, dtype in types.items()}
    total = int(np.prod([v.size for v in values.values()]))
    if total <= MOST:
        columns = zip(*itertools.product(*(range(v.size) for v in values.values())), strict=True)
        chosen = [np.array(column) for column in columns]
    else:
        rng = np.random.default_rng(0)
        chosen = [rng.permutation(np.arange(MOST) % v.size) for v in values.values()]
    made = {name: v[index] for (name, v), index in zip(values.items(), chosen, strict=True)}
    return made if size is None else {name: np.resize(v, size) for name, v in made.items()}
