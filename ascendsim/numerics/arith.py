"""Add, Sub, Mul, Div, Max, Min, Abs and Sqrt on arrays of float32, float16 or bfloat16.

Add, Sub, Mul, Max and Min take integers too, see `integers.py`; all else here is about floats.

float16 and bfloat16 operate in float32 and round once more to nearest even: for float16 that is
the correctly rounded result (24 bits are more than twice 11 plus 1), for bfloat16 it is the
documented rule. The second operand of the binary functions is an array or a scalar of type T.

All functions: `env` holds ENV_* bits; 0 is plain IEEE arithmetic with the usual quiet NaN. Every
NaN result is canonical. ENV_FLUSH reads subnormal operands, and delivers results that are
subnormal after rounding, as zero of the same sign. ENV_SATURATE turns infinite float16 and
bfloat16 results into the greatest finite number and NaN into +0.

Source: asc-devkit, basic arithmetic pages; accuracy on 910B assumed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ascendsim.enums import RoundMode
from ascendsim.numerics.cast import narrow, widen
from ascendsim.numerics.integers import binary, is_integer
from ascendsim.numerics.rounding import FLOAT32, Format
from ascendsim.numerics.words import (
    delivered,
    flushed,
    format_of,
    like,
    magnitudes,
    values,
    words,
)


def add(a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return `a + b`; a sum of zero is +0 unless both operands are -0."""
    if is_integer(a):
        return binary(np.add, a, b)
    return _compute(np.add, env, a, b)


def sub(a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return `a - b`; a difference of zero is +0 unless it is -0 - +0."""
    if is_integer(a):
        return binary(np.subtract, a, b)
    return _compute(np.subtract, env, a, b)


def mul(a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return `a * b`; zero times infinity is NaN."""
    if is_integer(a):
        return binary(np.multiply, a, b)
    return _compute(np.multiply, env, a, b)


def div(a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return `a / b`; x / 0 is infinite with the sign of the operands, 0 / 0 is NaN."""
    return _compute(np.divide, env, a, b)


def sqrt(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return the square root; below zero it is NaN, of -0 it is -0."""
    return _compute(np.sqrt, env, a)


def maximum(a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return the greater operand; +0 counts as greater than -0, a NaN operand gives NaN."""
    if is_integer(a):
        return binary(np.maximum, a, b)
    return _pick(np.greater, a, b, env)


def minimum(a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return the smaller operand; -0 counts as smaller than +0, a NaN operand gives NaN."""
    if is_integer(a):
        return binary(np.minimum, a, b)
    return _pick(np.less, a, b, env)


def absolute(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return `a` without its sign; NaN becomes canonical."""
    fmt = format_of(a.dtype)
    return values(delivered(magnitudes(words(a), fmt), fmt, env), fmt)


def _compute(function: Callable, env: int, a: np.ndarray, *others: object) -> np.ndarray:
    fmt = format_of(a.dtype)
    operands = [_as_float32(x, fmt, env) for x in (a, *(like(b, a) for b in others))]
    with np.errstate(all="ignore"):
        result = words(function(*operands))
    if fmt is not FLOAT32:
        result = narrow(result, FLOAT32, fmt, RoundMode.CAST_RINT)
    return values(delivered(result, fmt, env), fmt)


def _as_float32(a: np.ndarray, fmt: Format, env: int) -> np.ndarray:
    return values(widen(flushed(words(a), fmt, env), fmt), FLOAT32)


def _pick(better: Callable, a: np.ndarray, b: object, env: int) -> np.ndarray:
    """Choose between two operands by the order of their patterns, in which -0 is below +0."""
    fmt = format_of(a.dtype)
    x, y = (flushed(words(operand), fmt, env) for operand in (a, like(b, a)))
    chosen = np.where(better(_order(y, fmt), _order(x, fmt)), y, x)
    unordered = np.maximum(magnitudes(x, fmt), magnitudes(y, fmt)) > fmt.inf_bits
    any_nan = chosen.dtype.type(fmt.nan_bits(nan_ones=False))
    return values(delivered(np.where(unordered, any_nan, chosen), fmt, env), fmt)


def _order(patterns: np.ndarray, fmt: Format) -> np.ndarray:
    size = magnitudes(patterns, fmt).astype(np.int64)
    return np.where(patterns >= fmt.sign_bits, -1 - size, size)
