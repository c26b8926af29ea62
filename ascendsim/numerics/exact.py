"""Arithmetic, slow and exact, one element at a time: the oracle of the array twins and bodies.

Operands and results are bit patterns, in between there are only ints and fractions. `env` holds
the ENV_* bits of `opcodes.py`; 0 is plain IEEE arithmetic with the usual quiet NaN. Results round
once to nearest even; bfloat16 rounds to float32 first, as documented. Roots, exponentials and
logarithms come from an enclosure that is narrowed until both its ends round alike.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import isqrt

from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import (
    BFLOAT16,
    FLOAT32,
    NAN,
    Format,
    Value,
    decode,
    floor_log2,
    is_subnormal,
    power_of_two,
    round_to,
)

#: Bits of the first enclosure; doubled until the ends agree.
FIRST_PRECISION = 64

Enclosure = Callable[[Fraction, int], tuple[Fraction, Fraction]]


def exact_add(a: int, b: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of a + b."""
    return _deliver(_sum(_operand(a, fmt, env), _operand(b, fmt, env)), fmt, env)


def exact_sub(a: int, b: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of a - b."""
    return exact_add(a, b ^ fmt.sign_bits, fmt, env)


def exact_mul(a: int, b: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of a * b."""
    x, y = _operand(a, fmt, env), _operand(b, fmt, env)
    negative = x.negative != y.negative
    if "nan" in (x.kind, y.kind):
        product = NAN
    elif "inf" in (x.kind, y.kind):
        product = NAN if x.is_zero or y.is_zero else Value("inf", negative)
    else:
        product = Value("finite", negative, x.magnitude * y.magnitude)
    return _deliver(product, fmt, env)


def exact_div(a: int, b: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of a / b."""
    x, y = _operand(a, fmt, env), _operand(b, fmt, env)
    negative = x.negative != y.negative
    if "nan" in (x.kind, y.kind) or (x.kind == y.kind == "inf") or (x.is_zero and y.is_zero):
        quotient = NAN
    elif x.kind == "inf" or y.is_zero:
        quotient = Value("inf", negative)
    elif y.kind == "inf":
        quotient = Value("finite", negative)
    else:
        quotient = Value("finite", negative, x.magnitude / y.magnitude)
    return _deliver(quotient, fmt, env)


def exact_max(a: int, b: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of the greater operand; +0 is greater than -0, NaN wins."""
    return _deliver(_greater(_operand(a, fmt, env), _operand(b, fmt, env)), fmt, env)


def exact_min(a: int, b: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of the smaller operand; -0 is smaller than +0, NaN wins."""
    x, y = _operand(a, fmt, env), _operand(b, fmt, env)
    return _deliver(_negated(_greater(_negated(x), _negated(y))), fmt, env)


def exact_abs(a: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of the magnitude."""
    x = _operand(a, fmt, env)
    return _deliver(Value(x.kind, False, x.magnitude), fmt, env)


def exact_sqrt(a: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of the square root."""
    x = _operand(a, fmt, env)
    if x.kind == "nan" or (x.negative and not x.is_zero):
        return _deliver(NAN, fmt, env)
    if x.kind == "inf" or x.is_zero:
        return _deliver(x, fmt, env)
    scale = 4 ** max(FIRST_PRECISION - floor_log2(x.magnitude) // 2, 0)
    scaled = x.magnitude * scale
    root = isqrt(scaled.numerator // scaled.denominator)
    # an irrational root lies strictly between two neighbours; a half step says so to the rounding
    step = Fraction(0) if root * root == scaled else Fraction(1, 2)
    return _deliver(Value.of((root + step) / isqrt(scale)), fmt, env)


def exact_exp(a: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of e ** a."""
    x = _operand(a, fmt, env)
    if x.kind == "inf":
        return _deliver(Value("finite") if x.negative else x, fmt, env)
    if x.kind == "nan" or x.is_zero:
        return _deliver(NAN if x.kind == "nan" else Value.of(1), fmt, env)
    # beyond this every result is certainly infinite, or less than half the smallest subnormal
    limit = fmt.bias + fmt.mantissa_bits + 1
    if x.magnitude > limit:
        return _deliver(Value.of(power_of_two(-limit - 1 if x.negative else limit)), fmt, env)
    return _settle(_exp_enclosure, x.number, fmt, env)


def exact_ln(a: int, fmt: Format, env: int = 0) -> int:
    """Return the pattern of the natural logarithm of a."""
    x = _operand(a, fmt, env)
    if x.is_zero:
        return _deliver(Value("inf", True), fmt, env)
    if x.kind == "nan" or x.negative:
        return _deliver(NAN, fmt, env)
    if x.kind == "inf" or x.magnitude == 1:
        return _deliver(x if x.kind == "inf" else Value.of(0), fmt, env)
    return _settle(_ln_enclosure, x.number, fmt, env)


def _operand(bits: int, fmt: Format, env: int) -> Value:
    if env & ENV_FLUSH and is_subnormal(bits, fmt):
        bits &= fmt.sign_bits
    return decode(bits, fmt)


def _deliver(value: Value, fmt: Format, env: int) -> int:
    if fmt is BFLOAT16:
        value = decode(round_to(value, FLOAT32), FLOAT32)
    saturate, nan_ones = bool(env & ENV_SATURATE), bool(env & ENV_NAN_ONES)
    bits = round_to(value, fmt, saturate=saturate, nan_ones=nan_ones)
    return bits & fmt.sign_bits if env & ENV_FLUSH and is_subnormal(bits, fmt) else bits


def _sum(x: Value, y: Value) -> Value:
    if "nan" in (x.kind, y.kind):
        return NAN
    if x.kind == y.kind == "inf":
        return x if x.negative == y.negative else NAN
    if "inf" in (x.kind, y.kind):
        return x if x.kind == "inf" else y
    total = x.number + y.number
    if total == 0:  # -0 only as the sum of two negative zeros
        return Value("finite", x.negative and y.negative)
    return Value.of(total)


def _greater(x: Value, y: Value) -> Value:
    if "nan" in (x.kind, y.kind):
        return NAN
    if x.negative != y.negative:
        return y if x.negative else x
    infinite = x.kind == "inf" or (y.kind != "inf" and x.magnitude > y.magnitude)
    return x if infinite != x.negative else y


def _negated(x: Value) -> Value:
    return Value(x.kind, not x.negative, x.magnitude)


def _settle(enclosure: Enclosure, x: Fraction, fmt: Format, env: int) -> int:
    """Narrow the enclosure until both ends round alike; the limit is never a tie, so it ends."""
    precision = FIRST_PRECISION
    while True:
        low, high = (_deliver(Value.of(end), fmt, env) for end in enclosure(x, precision))
        if low == high:
            return low
        precision *= 2


def _exp_enclosure(x: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    """Enclose e ** x: series of x / 2**halvings, squared back, in fixed point rounded outwards."""
    size = abs(x)
    halvings = max(floor_log2(size) + 8, 0)
    bits = precision + 2 * halvings + 2 * int(size)
    one = 1 << bits
    small = size / (1 << halvings)
    low_x = small.numerator * one // small.denominator
    low, high = one, one
    low_term, high_term, n = one, one, 1
    while high_term > 1:
        low_term = low_term * low_x // (n * one)
        high_term = -(-high_term * (low_x + 1) // (n * one))
        low, high, n = low + low_term, high + high_term, n + 1
    high += 2  # the rest of the series is below its last term, at most one unit here
    for _ in range(halvings):
        low, high = low * low // one, -(-high * high // one)
    bounds = Fraction(low, one), Fraction(high, one)
    return bounds if x > 0 else (1 / bounds[1], 1 / bounds[0])


def _ln_enclosure(x: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    """Enclose ln x = exponent * ln 2 + ln mantissa, each by the series of atanh."""
    exponent = floor_log2(x * Fraction(3, 2))
    mantissa = x / power_of_two(exponent)  # from 2/3 to 4/3, so that no sum cancels
    low, high = _atanh_enclosure((mantissa - 1) / (mantissa + 1), precision)
    two_low, two_high = _half_ln_2(precision)
    if exponent < 0:
        two_low, two_high = two_high, two_low
    return 2 * (low + exponent * two_low), 2 * (high + exponent * two_high)


@cache
def _half_ln_2(precision: int) -> tuple[Fraction, Fraction]:
    return _atanh_enclosure(Fraction(1, 3), precision)


def _atanh_enclosure(t: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    """Enclose atanh t = t + t**3 / 3 + t**5 / 5 + ... for |t| <= 1/3."""
    one = 1 << precision
    low_t = abs(t).numerator * one // abs(t).denominator
    low = high = 0
    low_power, high_power, n = low_t, low_t + 1, 1
    low_square, high_square = low_t * low_t // one, -(-(low_t + 1) * (low_t + 1) // one)
    while high_power > 1:
        low, high = low + low_power // n, high - (-high_power // n)
        low_power, high_power = low_power * low_square // one, -(-high_power * high_square // one)
        n += 2
    high += 2  # the rest of the series is below a unit
    bounds = Fraction(low, one), Fraction(high, one)
    return bounds if t > 0 else (-bounds[1], -bounds[0])
