"""Exact arithmetic without rounding: real numbers as fractions, or as two fractions around them.

`Real` is a number, an enclosure of one (after Exp, Ln, Sqrt), an infinity or NaN. Exceptional
values follow IEEE: 0 * inf and inf - inf are NaN, x / 0 is infinite, zeros have a sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf, isnan, isqrt, nan
from typing import Any

from ascendsim.enums import RoundMode
from ascendsim.numerics.exact import _exp_enclosure, _ln_enclosure
from ascendsim.numerics.rounding import (
    BFLOAT16,
    FLOAT32,
    NAN,
    Format,
    Value,
    _round,
    decode,
    floor_log2,
    power_of_two,
    round_to,
)

PRECISION = 160  # relative bits of an enclosure
FAR = 4096  # exp beyond it counts as infinite, or as zero


@dataclass(frozen=True, slots=True)
class Real:
    """`low` <= the number <= `high`, both fractions or both the same infinity or NaN.

    `minus` is the sign of a zero.
    """

    low: Any
    high: Any
    minus: bool = False

    @property
    def finite(self) -> bool:
        """Whether this is a real number."""
        return isinstance(self.low, Fraction)

    @property
    def nan(self) -> bool:
        """Whether this is NaN."""
        return not self.finite and isnan(self.low)

    @property
    def zero(self) -> bool:
        """Whether this is a zero for certain."""
        return self.finite and self.low == self.high == 0

    @property
    def negative(self) -> bool:
        """The sign, also of a zero."""
        return self.minus if self.zero else bool(self.low < 0)

    def meets(self, other: Real) -> bool:
        """Return whether both can be the same number; zeros are equal, NaN is NaN."""
        if self.finite and other.finite:
            return bool(self.low <= other.high and other.low <= self.high)
        return (self.nan and other.nan) or bool(self.low == other.low)

    def value(self) -> Value:
        """Return the number (an enclosure's lower end) for `round_to`."""
        if self.nan:
            return NAN
        if not self.finite:
            return Value("inf", self.low < 0)
        return Value("finite", self.negative, abs(self.low))


NOTHING = Real(nan, nan)


def real(number: Any) -> Real:
    """Return a fraction, integer, float, (low, high) pair or `Value` as a Real."""
    if isinstance(number, Value):
        if number.kind == "nan":
            return NOTHING
        if number.kind == "inf":
            return _infinite(number.negative)
        return Real(number.number, number.number, number.negative)
    if isinstance(number, tuple):
        low, high = (real(end) for end in number)
        return Real(low.low, high.high)
    if isinstance(number, float) and (isnan(number) or isinf(number)):
        return Real(number, number)
    return Real(Fraction(number), Fraction(number), number == 0 and str(number)[0] == "-")


def of_bits(bits: int, fmt: Format) -> Real:
    """Return what a pattern stands for."""
    return real(decode(bits, fmt))


def round_result(x: Real, fmt: Format, **how: Any) -> int:
    """Round once as an arithmetic instruction does: bfloat16 results by way of float32."""
    value = x.value()
    if fmt is BFLOAT16:
        value = decode(round_to(value, FLOAT32), FLOAT32)
    return round_to(value, fmt, **how)


def negated(x: Real) -> Real:
    """Return -x."""
    return x if x.nan else Real(-x.high, -x.low, not x.minus)


def add(x: Real, y: Real) -> Real:
    """Return x + y."""
    if not (x.finite and y.finite):
        total = (x.low if not x.finite else 0.0) + (y.low if not y.finite else 0.0)
        return Real(total, total)
    return _made(x.low + y.low, x.high + y.high, x.minus and y.minus and x.zero and y.zero)


def sub(x: Real, y: Real) -> Real:
    """Return x - y."""
    return add(x, negated(y))


def mul(x: Real, y: Real) -> Real:
    """Return x * y."""
    if x.nan or y.nan:
        return NOTHING
    minus = x.negative != y.negative
    if not (x.finite and y.finite):
        return NOTHING if x.zero or y.zero else _infinite(minus)
    ends = [a * b for a in {x.low, x.high} for b in {y.low, y.high}]
    return _made(min(ends), max(ends), minus)


def div(x: Real, y: Real) -> Real:
    """Return x / y; by an enclosure around zero it is NaN."""
    if x.nan or y.nan or (x.zero and y.zero) or not (x.finite or y.finite):
        return NOTHING
    minus = x.negative != y.negative
    if not x.finite or y.zero:
        return _infinite(minus)
    if not y.finite:
        return Real(Fraction(0), Fraction(0), minus)
    if y.low <= 0 <= y.high:
        return NOTHING
    ends = [a / b for a in {x.low, x.high} for b in {y.low, y.high}]
    return _made(min(ends), max(ends), minus)


def maximum(x: Real, y: Real) -> Real:
    """Return the greater; +0 is greater than -0, NaN wins."""
    if x.nan or y.nan:
        return NOTHING
    if x.zero and y.zero:
        return y if x.minus else x
    return x if x.low >= y.low else y


def minimum(x: Real, y: Real) -> Real:
    """Return the smaller."""
    return negated(maximum(negated(x), negated(y)))


def absolute(x: Real) -> Real:
    """Return the magnitude."""
    return negated(x) if x.negative else x


def exp(x: Real) -> Real:
    """Return an enclosure of e ** x."""
    if x.nan or x.zero:
        return NOTHING if x.nan else real(1)
    if not x.finite or abs(x.low) > FAR:
        return real(0) if x.low < 0 else _infinite(False)
    return _made(*_ends(_exp_enclosure, x), False)


def ln(x: Real) -> Real:
    """Return an enclosure of the natural logarithm."""
    if x.zero:
        return _infinite(True)
    if x.nan or x.low <= 0:
        return NOTHING
    if not x.finite:
        return x
    return real(0) if x.low == x.high == 1 else _made(*_ends(_ln_enclosure, x), False)


def sqrt(x: Real) -> Real:
    """Return an enclosure of the square root."""
    if x.nan or (x.negative and not x.zero):
        return NOTHING
    return x if x.zero or not x.finite else _made(*_ends(_sqrt_enclosure, x), False)


def integral(x: Real, mode: RoundMode) -> Real:
    """Return x rounded to an integer."""
    if not x.finite:
        return x
    whole = _round(abs(x.low), 0, x.negative, mode)
    return real(Value("finite", x.negative, Fraction(whole)))


def _sqrt_enclosure(x: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    scale = 4 ** max(precision - floor_log2(x) // 2, 0)
    root = isqrt(x.numerator * scale // x.denominator)
    step = 0 if root * root * x.denominator == x.numerator * scale else 1
    return Fraction(root, isqrt(scale)), Fraction(root + step, isqrt(scale))


def _ends(enclosure: Any, x: Real) -> tuple[Fraction, Fraction]:
    low, high = enclosure(x.low, PRECISION)
    return low, high if x.low == x.high else enclosure(x.high, PRECISION)[1]


def _made(low: Fraction, high: Fraction, minus: bool) -> Real:
    """Return a number, with the ends of an enclosure cut outwards to a bounded length."""
    if low == high:
        return Real(low, high, minus if low == 0 else False)
    return Real(_cut(low), -_cut(-high))


def _cut(x: Fraction) -> Fraction:
    if x == 0 or x.denominator.bit_length() <= 2 * PRECISION:
        return x
    unit = power_of_two(floor_log2(abs(x)) - 2 * PRECISION)
    return (x / unit).__floor__() * unit


def _infinite(minus: bool) -> Real:
    end = -inf if minus else inf
    return Real(end, end)
