"""Bodies of Cast between the float formats, one loop for each rounding mode.

Rounding works on sign and magnitude: what is discarded lies below the last kept bit, subnormal
results included. A magnitude that rounds beyond the largest finite number becomes infinity in every
mode, as the manual states (IEEE 754 would stop at the largest number when rounding inward), or the
largest number where the ENV word asks for saturation. Subnormals are never flushed by a cast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ascendsim.enums import RoundMode
from ascendsim.numerics.formats import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    INFINITY32,
    MAGNITUDE32,
    SIGN16,
    SIGN32,
    Format,
)
from ascendsim.numerics.lanes import F32, I16, I32, Lanes, intrinsic, where
from ascendsim.numerics.opcodes import ENV_NAN_ONES, MODE, SRC0
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 32
NEAREST = (RoundMode.CAST_NONE, RoundMode.CAST_RINT)
# float32 numbers from here on have no fraction
INTEGRAL_FROM = 2.0**23


def emitter(source: Format, target: Format) -> Callable[[Call], None]:
    """Return what emits the cast from one format to another."""

    def emit(call: Call) -> None:
        if target is FLOAT32 and source is not FLOAT32:
            _loop(call, source, target, partial(_canonical, call))
            return
        arms: list = [(NEAREST, partial(_rounding_loop, call, source, target, RoundMode.CAST_RINT))]
        arms += [
            ((mode,), partial(_rounding_loop, call, source, target, mode))
            for mode in RoundMode
            if mode not in NEAREST
        ]
        call.switch(MODE, arms)

    return emit


def _canonical(call: Call, lanes: Lanes) -> Lanes:
    """Replace each NaN of float32 lanes by the canonical one.

    As integers: LLVM would move a comparison of widened numbers in front of the widening, and then
    pack and unpack its truth values from 16-bit to 32-bit lanes.
    """
    pattern = lanes.bits()
    nan = call.choose(ENV_NAN_ONES, MAGNITUDE32, FLOAT32.quiet_nan, pattern)
    return where((pattern & MAGNITUDE32) > INFINITY32, nan, pattern).as_float()


def _loop(call: Call, source: Format, target: Format, write: Callable[[Lanes], Lanes]) -> None:
    inputs = [(SRC0, source.element)]
    sweep(call, inputs, target.element, lambda lanes: write(source.widen(lanes)), CHUNK)


def _rounding_loop(call: Call, source: Format, target: Format, mode: RoundMode) -> None:
    def write(lanes: Lanes) -> Lanes:
        if target is FLOAT32:
            return target.narrow(call, round_to_integral(lanes, mode))
        if mode is RoundMode.CAST_RINT:
            return target.narrow(call, lanes)
        rounded = round_to_half(lanes, mode) if target is FLOAT16 else round_to_brain(lanes, mode)
        return target.finish(call, rounded)

    _loop(call, source, target, write)


def round_to_integral(lanes: Lanes, mode: RoundMode) -> Lanes:
    """Round float32 to a whole number, sign of zero kept."""
    if mode is RoundMode.CAST_ODD:
        return _odd_integral(lanes)
    names = {
        RoundMode.CAST_RINT: "rint",
        RoundMode.CAST_FLOOR: "floor",
        RoundMode.CAST_CEIL: "ceil",
        RoundMode.CAST_ROUND: "round",
        RoundMode.CAST_TRUNC: "trunc",
    }
    return intrinsic(names[mode], lanes)


def round_to_brain(lanes: Lanes, mode: RoundMode) -> Lanes:
    """Round float32 to bfloat16 patterns."""
    pattern = lanes.bits()
    magnitude = pattern & MAGNITUDE32
    shift = magnitude.constant(16)
    rounded = shift_and_round(magnitude, shift, pattern, mode)
    return _assemble(magnitude, rounded, pattern, BFLOAT16)


def round_to_half(lanes: Lanes, mode: RoundMode) -> Lanes:
    """Round float32 to half patterns."""
    pattern = lanes.bits()
    magnitude = pattern & MAGNITUDE32
    exponent = magnitude >> 23
    # below 2**-14 the unit stays 2**-24 while the significand keeps its leading one
    small = magnitude < FLOAT16.smallest_normal_as_float32
    significand = (magnitude & 0x7FFFFF) | 0x800000
    significand = where(exponent == 0, magnitude, significand)
    distance = magnitude.constant(126) - exponent
    distance = where(distance > 31, distance.constant(31), distance)
    kept = where(small, significand, magnitude - (112 << 23))
    shift = where(small, distance, distance.constant(13))
    return _assemble(magnitude, shift_and_round(kept, shift, pattern, mode), pattern, FLOAT16)


def shift_and_round(value: Lanes, shift: Lanes, pattern: Lanes, mode: RoundMode) -> Lanes:
    """Discard the low `shift` bits of a magnitude and round what is kept, by mode."""
    discarded = (value.constant(1) << shift) - 1
    cut = value >> shift
    if mode is RoundMode.CAST_TRUNC:
        return cut
    if mode is RoundMode.CAST_ODD:
        return where((value & discarded) != 0, cut | 1, cut)
    if mode is RoundMode.CAST_ROUND:
        return (value + (discarded >> 1) + 1) >> shift
    negative = pattern < 0
    outward = (value + discarded) >> shift
    if mode is RoundMode.CAST_FLOOR:
        return where(negative, outward, cut)
    assert mode is RoundMode.CAST_CEIL, mode
    return where(negative, cut, outward)


def _assemble(magnitude: Lanes, rounded: Lanes, pattern: Lanes, target: Format) -> Lanes:
    """Limit to infinity, mark NaN, put the sign back and shorten to 16 bits."""
    limited = where(rounded > target.infinity, rounded.constant(target.infinity), rounded)
    special = where(magnitude > INFINITY32, limited.constant(target.quiet_nan), limited)
    return (special | ((pattern >> 16) & SIGN16)).to_int(I16)


def _odd_integral(lanes: Lanes) -> Lanes:
    pattern = lanes.bits()
    magnitude = (pattern & MAGNITUDE32).as_float()
    # the comparison is false for NaN, so the conversion only sees numbers below 2**23
    fits = magnitude < INTEGRAL_FROM
    whole = where(fits, magnitude, magnitude.constant(0.0)).to_int(I32)
    inexact = whole.to_float(F32) != magnitude
    odd = where(inexact, whole | 1, whole).to_float(F32)
    signed = (odd.bits() | (pattern & SIGN32)).as_float()
    return where(fits, signed, lanes)
