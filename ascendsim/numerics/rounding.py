"""Rounding, slow and exact: what a cast or an operation must give, in ints and fractions only.

Read this beside the manual (Cast and RoundMode pages of the Ascend C reference); the array twins
in `cast.py`, `arith.py` and `transcend.py` are fast and are held against it bit for bit. A format
is a value, a number is a sign and a `Fraction`, and each rounding mode is one line of `_round`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ascendsim.enums import RoundMode


@dataclass(frozen=True, slots=True)
class Format:
    """A binary interchange format: one sign bit, then exponent field, then mantissa field."""

    name: str
    exponent_bits: int
    mantissa_bits: int

    @property
    def width(self) -> int:
        """Bits of a pattern."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        """Exponent field minus exponent, for normal numbers."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def sign_bits(self) -> int:
        """Pattern of -0."""
        return 1 << (self.width - 1)

    @property
    def min_normal_bits(self) -> int:
        """Pattern of the smallest normal number."""
        return 1 << self.mantissa_bits

    @property
    def inf_bits(self) -> int:
        """Pattern of +inf; greater magnitudes are NaN."""
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def max_bits(self) -> int:
        """Pattern of the greatest finite number."""
        return self.inf_bits - 1

    def nan_bits(self, nan_ones: bool) -> int:
        """Pattern of a produced NaN: all ones below the sign, or the usual quiet NaN."""
        return self.sign_bits - 1 if nan_ones else self.inf_bits | (self.min_normal_bits >> 1)


FLOAT32 = Format("float32", 8, 23)
FLOAT16 = Format("float16", 5, 10)
BFLOAT16 = Format("bfloat16", 8, 7)
FLOAT64 = Format("float64", 11, 52)  # of intermediate results only, no Ascend C operand

Kind = Literal["finite", "inf", "nan"]


@dataclass(frozen=True, slots=True)
class Value:
    """An exact real number with the sign of its zero, an infinity, or NaN."""

    kind: Kind
    negative: bool = False
    magnitude: Fraction = Fraction(0)

    @classmethod
    def of(cls, number: Fraction | int) -> Value:
        """Return the finite value `number`; its zero is +0."""
        return cls("finite", number < 0, abs(Fraction(number)))

    @property
    def is_zero(self) -> bool:
        """Whether this is +0 or -0."""
        return self.kind == "finite" and self.magnitude == 0

    @property
    def number(self) -> Fraction:
        """The real number; finite values only."""
        assert self.kind == "finite"
        return -self.magnitude if self.negative else self.magnitude


NAN = Value("nan")


def decode(bits: int, fmt: Format) -> Value:
    """Return what the pattern `bits` stands for, exactly."""
    negative = bool(bits & fmt.sign_bits)
    field = (bits & ~fmt.sign_bits) >> fmt.mantissa_bits
    fraction = bits & (fmt.min_normal_bits - 1)
    if field == (1 << fmt.exponent_bits) - 1:
        return NAN if fraction else Value("inf", negative)
    significand = fraction if field == 0 else fraction + fmt.min_normal_bits
    exponent = max(field, 1) - fmt.bias - fmt.mantissa_bits
    return Value("finite", negative, significand * power_of_two(exponent))


def round_to(
    value: Value | Fraction | int,
    fmt: Format,
    mode: RoundMode = RoundMode.CAST_RINT,
    *,
    saturate: bool = False,
    nan_ones: bool = False,
) -> int:
    """Round `value` once and return the pattern in `fmt`.

    Exceptional values: the sign of zero is kept, also when a tiny number becomes zero; subnormals
    are produced gradually. A number whose magnitude, rounded as if the exponent had no upper
    bound, exceeds the greatest finite one becomes infinite, in every mode (IEEE 754 differs for
    inward modes; the manual's "out of range" rule, assumed to mean this). With `saturate`
    infinities become the greatest finite number and NaN becomes +0, but never in float32. A NaN
    is canonical (see `Format.nan_bits`).

    Source: asc-devkit, Cast.md, precision_conversion.md and SetCtrlSpr(ISASI).md.
    """
    value = value if isinstance(value, Value) else Value.of(value)
    saturate = saturate and fmt is not FLOAT32
    if value.kind == "nan":
        return 0 if saturate else fmt.nan_bits(nan_ones)
    sign = fmt.sign_bits if value.negative else 0
    if value.kind == "inf":
        return sign | (fmt.max_bits if saturate else fmt.inf_bits)
    if value.magnitude == 0:
        return sign
    exponent = max(floor_log2(value.magnitude), fmt.min_exponent)
    quantum = exponent - fmt.mantissa_bits
    count = _round(value.magnitude, quantum, value.negative, mode)
    bits = _encode(count, quantum, fmt)
    if bits > fmt.max_bits:
        return sign | (fmt.max_bits if saturate else fmt.inf_bits)
    return sign | bits


def round_to_integral(bits: int, fmt: Format, mode: RoundMode, *, nan_ones: bool = False) -> int:
    """Round the number `bits` to an integer and return its pattern in the same format.

    What Cast from float to float does. Infinities stay, the sign of zero is kept (-0.4 gives -0),
    NaN becomes canonical.
    """
    value = decode(bits, fmt)
    if value.kind != "finite":
        return round_to(value, fmt, nan_ones=nan_ones)
    whole = _round(value.magnitude, 0, value.negative, mode)
    return round_to(Value("finite", value.negative, Fraction(whole)), fmt)


def convert(
    bits: int,
    source: Format,
    target: Format,
    mode: RoundMode,
    *,
    saturate: bool = False,
    nan_ones: bool = False,
) -> int:
    """Return what Cast makes of one element: integral rounding when the formats are the same."""
    if source is target:
        return round_to_integral(bits, source, mode, nan_ones=nan_ones)
    value = decode(bits, source)
    return round_to(value, target, mode, saturate=saturate, nan_ones=nan_ones)


def is_subnormal(bits: int, fmt: Format) -> bool:
    """Whether `bits` is a subnormal number; zeros are not."""
    return 0 < bits & ~fmt.sign_bits < fmt.min_normal_bits


def power_of_two(exponent: int) -> Fraction:
    """Return two to the power `exponent`, exactly."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(magnitude: Fraction) -> int:
    """Return the exponent of the greatest power of two that is not above `magnitude` > 0."""
    numerator, denominator = magnitude.numerator, magnitude.denominator
    guess = numerator.bit_length() - denominator.bit_length()
    fits = denominator << max(guess, 0) <= numerator << max(-guess, 0)
    return guess if fits else guess - 1


def _round(magnitude: Fraction, quantum: int, negative: bool, mode: RoundMode) -> int:
    """Return `magnitude` in units of two to the `quantum`, rounded; FLOOR, CEIL need the sign."""
    unit = magnitude.denominator << max(quantum, 0)
    kept, discarded = divmod(magnitude.numerator << max(-quantum, 0), unit)
    odd = bool(kept & 1)
    match mode:
        case RoundMode.CAST_NONE | RoundMode.CAST_RINT:
            away = 2 * discarded > unit or (2 * discarded == unit and odd)
        case RoundMode.CAST_ROUND:
            away = 2 * discarded >= unit
        case RoundMode.CAST_FLOOR:
            away = negative and discarded > 0
        case RoundMode.CAST_CEIL:
            away = not negative and discarded > 0
        case RoundMode.CAST_TRUNC:
            away = False
        case RoundMode.CAST_ODD:
            away = discarded > 0 and not odd
    return kept + away


def _encode(count: int, quantum: int, fmt: Format) -> int:
    """Return the pattern of `count` times two to the `quantum`; patterns count on beyond MAX."""
    if count == 2 * fmt.min_normal_bits:  # rounding carried into the next binade
        count, quantum = fmt.min_normal_bits, quantum + 1
    if count < fmt.min_normal_bits:
        return count
    field = quantum + fmt.mantissa_bits + fmt.bias
    return (field << fmt.mantissa_bits) | (count - fmt.min_normal_bits)
