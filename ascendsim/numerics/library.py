"""The library's functions of one or two operands on arrays, correctly rounded.

float64 results are good to far better than `MARGIN`. Where rounding both ends of that margin gives
different patterns, mpmath decides with `PRECISION` bits; ends that still differ then are an exact
tie. Floor, Ceil, Round, Trunc and Sign are exact. Subnormals are kept unless ENV_FLUSH says so.

The library computes these with chains of instructions whose errors are not modelled (assumed).
Source: asc-devkit, pages of the mathematical functions, for what each computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ascendsim.enums import RoundMode
from ascendsim.numerics.cast import narrow
from ascendsim.numerics.rounding import FLOAT64, Format, power_of_two, round_to
from ascendsim.numerics.words import delivered, flushed, format_of, like, values, words

#: Assumed bound of the relative error of numpy and the C library, 16 units of float64.
MARGIN = 2.0**-48
PRECISION = 400

_erf, _erfc = (np.vectorize(f, otypes=[np.float64]) for f in (math.erf, math.erfc))


@dataclass(frozen=True, slots=True)
class Function:
    """A function: on float64 arrays, and as an expression in mpmath (`mp`, arguments)."""

    near: Callable[..., Any]
    exact: Callable[..., Any]


FUNCTIONS: dict[str, Function] = {
    "acos": Function(np.arccos, lambda mp, x: mp.acos(x)),
    "acosh": Function(np.arccosh, lambda mp, x: mp.acosh(x)),
    "asin": Function(np.arcsin, lambda mp, x: mp.asin(x)),
    "asinh": Function(np.arcsinh, lambda mp, x: mp.asinh(x)),
    "atan": Function(np.arctan, lambda mp, x: mp.atan(x)),
    "atanh": Function(np.arctanh, lambda mp, x: mp.atanh(x)),
    "cos": Function(np.cos, lambda mp, x: mp.cos(x)),
    "cosh": Function(np.cosh, lambda mp, x: mp.cosh(x)),
    "erf": Function(_erf, lambda mp, x: mp.erf(x)),
    "erfc": Function(_erfc, lambda mp, x: mp.erfc(x)),
    "log": Function(np.log, lambda mp, x: mp.log(x)),
    "log10": Function(np.log10, lambda mp, x: mp.log(x) / mp.log(10)),
    "log2": Function(np.log2, lambda mp, x: mp.log(x) / mp.log(2)),
    "power": Function(np.power, lambda mp, x, y: mp.power(x, y)),
    "sigmoid": Function(lambda x: 1 / (1 + np.exp(-x)), lambda mp, x: 1 / (1 + mp.exp(-x))),
    "sin": Function(np.sin, lambda mp, x: mp.sin(x)),
    "sinh": Function(np.sinh, lambda mp, x: mp.sinh(x)),
    "tan": Function(np.tan, lambda mp, x: mp.tan(x)),
    "tanh": Function(np.tanh, lambda mp, x: mp.tanh(x)),
}
INTEGRAL = {
    "ceil": RoundMode.CAST_CEIL,
    "floor": RoundMode.CAST_FLOOR,
    "round": RoundMode.CAST_RINT,
    "trunc": RoundMode.CAST_TRUNC,
}
_WHOLE: dict[RoundMode, Callable[..., Any]] = {
    RoundMode.CAST_CEIL: np.ceil,
    RoundMode.CAST_FLOOR: np.floor,
    RoundMode.CAST_RINT: np.rint,
    RoundMode.CAST_TRUNC: np.trunc,
}


def rounded(name: str, *operands: Any, env: int = 0) -> np.ndarray:
    """Return the function `name` of arrays of float32 or float16, each result correctly rounded.

    Exceptional values as in the C library: outside of the domain the result is NaN.
    """
    function, fmt = FUNCTIONS[name], format_of(operands[0].dtype)
    same = [like(each, operands[0]) for each in operands]
    inputs = [values(flushed(words(each), fmt, env), fmt) for each in same]
    with np.errstate(all="ignore"):
        wide = np.broadcast_arrays(*(each.astype(np.float64) for each in inputs))
        near = np.asarray(function.near(*wide))
        ends = [near * (1 - MARGIN), near * (1 + MARGIN)]
    low, high = (narrow(words(end), FLOAT64, fmt, RoundMode.CAST_RINT) for end in ends)
    for place in np.flatnonzero((low != high) & ~np.isnan(near)):
        given = [Fraction(float(each[place])) for each in wide]
        low[place] = settled(function, given, fmt)
    return values(delivered(low, fmt, env), fmt)


def settled(function: Function, given: list[Fraction], fmt: Format) -> int:
    """Return the pattern of a finite result, from PRECISION bits of it."""
    import mpmath  # only where float64 does not decide

    with mpmath.workprec(PRECISION):
        result = function.exact(
            mpmath.mp, *(mpmath.mpf(x.numerator) / x.denominator for x in given)
        )
        sign, mantissa, exponent, _ = result._mpf_
    number = Fraction(int(mantissa)) * power_of_two(int(exponent)) * (-1 if sign else 1)
    slack = Fraction(1, 1 << PRECISION - 40)
    low, high = (round_to(number * (1 + e), fmt) for e in (-slack, slack))
    return low if low == high or not low & 1 else high  # two neighbours: a tie, to even


def integral(name: str, src: np.ndarray, env: int = 0) -> np.ndarray:
    """Round to a whole number: `floor`, `ceil`, `round` (ties to even) or `trunc`.

    The sign of zero is kept, infinities stay, NaN becomes canonical.
    """
    fmt = format_of(src.dtype)
    x = values(flushed(words(src), fmt, env), fmt)
    with np.errstate(all="ignore"):
        whole = _WHOLE[INTEGRAL[name]](x.astype(np.float64)).astype(src.dtype)
    return values(delivered(words(whole), fmt, env), fmt)


def sign(src: np.ndarray, env: int = 0) -> np.ndarray:
    """Return 1, -1 or a zero; NaN becomes canonical."""
    fmt = format_of(src.dtype)
    with np.errstate(all="ignore"):
        found = np.sign(values(flushed(words(src), fmt, env), fmt).astype(np.float64))
    return values(delivered(words((found + 0.0).astype(src.dtype)), fmt, env), fmt)
