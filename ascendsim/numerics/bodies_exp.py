"""Bodies of Exp and Ln: correctly rounded, by way of float64.

Both reduce the argument as usual (Muller, Elementary Functions, chapter 11) and evaluate a
polynomial with explicit fused multiply-adds, so the bits are the same on every host. The rounding
to the element type is the last step, subnormals included. That it never goes wrong is a fact found
by trying all 2**32 arguments, not a bound: a change of any constant needs the slow test again. For
Ln five arguments lie so close to a tie that the last sum has to be rounded to odd in float64.
The coefficients are Chebyshev fits made for this file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ascendsim.numerics.formats import FLOAT32, Format
from ascendsim.numerics.lanes import F32, F64, I64, Lanes, intrinsic, where
from ascendsim.numerics.opcodes import SRC0
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 16

LOG2_E = float.fromhex("0x1.71547652b82fep+0")
# 43 bits of ln 2, so that its product with an exponent is exact, and the rest
LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")
LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")
# adding it leaves the nearest integer in the low bits of the pattern
ROUNDER = 1.5 * 2.0**52
# beyond these exp is infinite or zero in every format
EXP_HIGHEST, EXP_LOWEST = 89.5, -104.5
SQRT_HALF_PATTERN = 0x3FE6A09E667F3BCD

# exp(r) for |r| <= ln(2) / 2
EXP_TERMS = tuple(
    map(
        float.fromhex,
        (
            "0x1.0000000000000p+0",
            "0x1.0000000000000p+0",
            "0x1.0000000000001p-1",
            "0x1.5555555555556p-3",
            "0x1.5555555553d63p-5",
            "0x1.11111111109b3p-7",
            "0x1.6c16c1788bd90p-10",
            "0x1.a01a01a7c41d5p-13",
            "0x1.a019b90d2ae7ap-16",
            "0x1.71de0dae63bb3p-19",
            "0x1.289185613a3d6p-22",
            "0x1.af38a9b0ec855p-26",
        ),
    )
)
# ln((1 + s) / (1 - s)) = 2 * s + s**3 * L(s**2) for |s| <= 0.1717
LN_TERMS = tuple(
    map(
        float.fromhex,
        (
            "0x1.5555555555555p-1",
            "0x1.9999999999a3ap-2",
            "0x1.2492492476765p-2",
            "0x1.c71c7201f207cp-3",
            "0x1.745cf8c4c7bcap-3",
            "0x1.3b1c42e3df02cp-3",
            "0x1.0fbd2bafa02d6p-3",
            "0x1.0c1263e1bac13p-3",
        ),
    )
)


def exponential(x: Lanes) -> Lanes:
    """Return exp of float64 lanes that hold float32 values; NaN stays NaN."""
    inside = where(x > EXP_HIGHEST, x.constant(EXP_HIGHEST), x)
    inside = where(inside < EXP_LOWEST, x.constant(EXP_LOWEST), inside)
    shifted = intrinsic("fma", inside, x.constant(LOG2_E), x.constant(ROUNDER))
    power = shifted - ROUNDER
    high = intrinsic("fma", power, x.constant(-LN2_HIGH), inside)
    r = intrinsic("fma", power, x.constant(-LN2_LOW), high)
    # only normal float64 numbers occur, so adding to the exponent field scales exactly
    return (polynomial(r, EXP_TERMS).bits() + (shifted.bits() << 52)).as_float()


def logarithm(x: Lanes) -> Lanes:
    """Return ln of positive finite float64 lanes, rounded to odd in float64."""
    pattern = x.bits()
    steps = _shift_signed(pattern - SQRT_HALF_PATTERN, 52)
    exponent = _small_integer_to_float(steps)
    f = (pattern - (steps << 52)).as_float() - 1.0
    divisor = f + 2.0
    reciprocal = x.constant(1.0) / divisor
    s = f * reciprocal
    rest = intrinsic("fma", -s, divisor, f) * reciprocal
    square = s * s
    tail = intrinsic("fma", square * s, polynomial(square, LN_TERMS), rest + rest)
    tail = intrinsic("fma", exponent, x.constant(LN2_LOW), tail)
    large, small = exponent * LN2_HIGH, s + s
    first = large + small
    tail = tail + where(exponent == 0.0, x.constant(0.0), small - (first - large))
    high = first + tail
    return sum_to_odd(high, tail - (high - first))


def sum_to_odd(high: Lanes, low: Lanes) -> Lanes:
    """Add a small number and round to odd: the last bit is one unless the sum is exact."""
    total = high + low
    error = low - (total - high)
    pattern = total.bits()
    inexact = (error != 0.0).spread(I64)
    # an odd pattern stays; an even one moves toward the exact sum, away from zero if signs agree
    inward = _shift_signed(error.bits() ^ pattern, 63)
    step = (inward | 1) & inexact & ((pattern & 1) - 1)
    return (pattern + step).as_float()


def polynomial(x: Lanes, terms: tuple[float, ...]) -> Lanes:
    """Evaluate a polynomial, lowest coefficient first, by Horner's rule with fused operations."""
    *lower, last = terms
    step = lambda total, term: intrinsic("fma", total, x, x.constant(term))  # noqa: E731
    return reduce(step, reversed(lower), x.constant(last))


def exp_lanes(x: Lanes) -> Lanes:
    """Return exp of float32 lanes as float64; NaN stays NaN."""
    return exponential(x.to_float(F64))


def ln_lanes(x: Lanes) -> Lanes:
    """Return ln of float32 lanes as float64: NaN below zero, -inf at zero."""
    wide = x.to_float(F64)
    result = logarithm(wide)
    result = where(wide == float("inf"), wide, result)
    result = where(wide == 0.0, wide.constant(float("-inf")), result)
    return where(wide >= 0.0, result, wide.constant(float("nan")))


OPERATIONS: dict[str, Callable[[Lanes], Lanes]] = {"exp": exp_lanes, "ln": ln_lanes}


def emitter(instruction: str, form: Format) -> Callable[[Call], None]:
    """Return what emits the body of Exp or Ln in a format."""
    operation = OPERATIONS[instruction]

    def emit(call: Call) -> None:
        def compute(lanes: Lanes) -> Lanes:
            exact = operation(form.operand(call, lanes, flush=True))
            return form.narrow(call, single_of(exact, form), flush=True)

        sweep(call, [(SRC0, form.element)], form.element, compute, CHUNK)

    return emit


def single_of(exact: Lanes, form: Format) -> Lanes:
    """Return float64 lanes as the float32 that `form.narrow` rounds as if it were exact."""
    return (exact if form is FLOAT32 else _sticky(exact)).to_float(F32)


def _sticky(exact: Lanes) -> Lanes:
    """Shorten to 24 bits by rounding to odd, so that the rounding to half is the only one."""
    pattern = exact.bits()
    lost = (pattern & 0x1FFFFFFF) != 0
    kept = pattern & ~0x1FFFFFFF
    shortened = (kept | (lost.spread(I64) & 0x20000000)).as_float()
    return where(exact.is_nan(), exact, shortened)


def _shift_signed(pattern: Lanes, amount: int) -> Lanes:
    by = pattern.constant(amount).value
    return Lanes(pattern.builder, pattern.builder.ashr(pattern.value, by))


def _small_integer_to_float(integer: Lanes) -> Lanes:
    # AVX2 lacks a conversion from 64-bit integers; |integer| < 2**51 allows the addition
    magic = integer.constant(0x4338000000000000)
    return (integer + magic).as_float() - ROUNDER
