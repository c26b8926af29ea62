"""Bodies of Cast from and to integers.

Floats are rounded to whole numbers in float32, which holds them exactly, and then clamped to the
type or cut to its low bits (ENV_TRUNCATE). Integers of up to 32 bits become float64 exactly; of 64
bits what lies below 53 bits is kept as one sticky bit, so that one rounding to the target is left.
Source: asc-devkit docs, Cast and rounding mode pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from llvmlite import ir

from ascendsim.dtypes import DType
from ascendsim.enums import RoundMode
from ascendsim.numerics.bodies_cast import (
    NEAREST,
    round_to_brain,
    round_to_half,
    round_to_integral,
    shift_and_round,
)
from ascendsim.numerics.formats import FLOAT16, FLOAT32, INFINITY32, MAGNITUDE32, SIGN32, Format
from ascendsim.numerics.lanes import F32, F64, I32, I64, Lanes, saturated, where
from ascendsim.numerics.opcodes import ENV_TRUNCATE, MODE, SRC0
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 16
#: a float64 pattern without its last 29 bits, less this, is a float32 pattern (modulo 2**32)
REBIAS = (1023 - 127) << 23
MODES = (
    RoundMode.CAST_FLOOR,
    RoundMode.CAST_CEIL,
    RoundMode.CAST_ROUND,
    RoundMode.CAST_TRUNC,
)


def by_mode(call: Call, emit: Callable[[RoundMode], None]) -> None:
    """Emit one loop for each rounding mode of an integer conversion."""
    arms: list = [(NEAREST, partial(emit, RoundMode.CAST_RINT))]
    arms += [((mode,), partial(emit, mode)) for mode in MODES]
    call.switch(MODE, arms)


def to_integer(source: Format, target: DType) -> Callable[[Call], None]:
    """Return what emits the cast from a float format to an integer type."""
    element, signed = ir.IntType(8 * target.nbytes), target.kind == "int"

    def loop(call: Call, mode: RoundMode) -> None:
        def compute(lanes: Lanes) -> Lanes:
            whole = round_to_integral(source.widen(lanes), mode)
            clamped = saturated(whole, element, signed)
            finite = (whole.bits() & MAGNITUDE32) < INFINITY32
            return where(finite & truncates(call, whole), low_bits(whole, element), clamped)

        sweep(call, [(SRC0, source.element)], element, compute, CHUNK)

    return lambda call: by_mode(call, partial(loop, call))


def truncates(call: Call, like: Lanes) -> Lanes:
    """Return whether ENV_TRUNCATE is set, in every lane."""
    return call.choose(ENV_TRUNCATE, 1, 0, like.bits()) != 0


def low_bits(whole: Lanes, element: ir.IntType) -> Lanes:
    """Return the low bits of whole float32 numbers of any size, in two's complement."""
    pattern = whole.bits()
    magnitude = pattern & MAGNITUDE32
    significand = ((magnitude & 0x7FFFFF) | 0x800000).to_int(I64)
    distance = ((magnitude >> 23) - 150).extended(I64)
    left = where(distance.below(64), significand << (distance & 63), 0)
    right = where((-distance).below(64), significand >> (-distance & 63), 0)
    number = where(distance >= 0, left, right)
    number = where(pattern < 0, -number, number)
    return number if element.width == 64 else number.to_int(element)


def from_integer(source: DType, target: Format) -> Callable[[Call], None]:
    """Return what emits the cast from an integer type to a float format."""
    element, signed = ir.IntType(8 * source.nbytes), source.kind == "int"

    def loop(call: Call, mode: RoundMode) -> None:
        def compute(lanes: Lanes) -> Lanes:
            return _rounded(call, _as_float64(lanes, signed), target, mode)

        sweep(call, [(SRC0, element)], target.element, compute, CHUNK)

    return lambda call: by_mode(call, partial(loop, call))


def _as_float64(lanes: Lanes, signed: bool) -> Lanes:
    """Return the numbers as float64, a 64-bit one with all beyond 53 bits in its last bit."""
    if lanes.element.width < 32:
        lanes = lanes.extended(I32) if signed else lanes.to_int(I32)
    if lanes.element == I32:
        return lanes.to_float(F64)
    negative = lanes < 0
    magnitude = where(negative, -lanes, lanes)
    large = ~magnitude.below(1 << 53)
    sticky = where((magnitude & 0x7FF) != 0, magnitude.constant(1), 0)
    short = where(large, (magnitude >> 11) | sticky, magnitude).to_float(F64)
    number = where(large, short * 2.0**11, short)
    return where(negative, -number, number)


def _rounded(call: Call, number: Lanes, target: Format, mode: RoundMode) -> Lanes:
    if target is FLOAT32:
        return _round_to_float(number, mode)
    # whole numbers of 16 bits are exact in float32
    single = number.to_float(F32)
    if mode is RoundMode.CAST_RINT:
        return target.narrow(call, single)
    rounded = round_to_half(single, mode) if target is FLOAT16 else round_to_brain(single, mode)
    return target.finish(call, rounded)


def _round_to_float(number: Lanes, mode: RoundMode) -> Lanes:
    """Round whole float64 numbers to float32: never subnormal, never too large."""
    if mode is RoundMode.CAST_RINT:
        return number.to_float(F32)
    pattern = number.bits()
    magnitude = pattern & (1 << 63) - 1
    count = shift_and_round(magnitude, magnitude.constant(29), pattern, mode).to_int(I32)
    single = where(number == 0.0, count, count - REBIAS)
    sign = (pattern >> 32).to_int(I32) & SIGN32
    return (single | sign).as_float()


def between_integers(source: DType, target: DType) -> Callable[[Call], None]:
    """Return what emits the cast from one integer type to another."""
    narrow, wide = ir.IntType(8 * target.nbytes), ir.IntType(8 * source.nbytes)

    def convert(call: Call, lanes: Lanes) -> Lanes:
        number = lanes
        if source.nbytes < 8:
            number = lanes.extended(I64) if source.kind == "int" else lanes.to_int(I64)
        low, high = _bounds(target)
        clamped = where(number < low, number.constant(low), number)
        clamped = where(clamped > high, number.constant(high), clamped)
        if target.nbytes < source.nbytes:
            keep = call.choose(ENV_TRUNCATE, 1, 0, number) != 0
            clamped = where(keep, number, clamped)
        return clamped if target.nbytes == 8 else clamped.to_int(narrow)

    def emit(call: Call) -> None:
        sweep(call, [(SRC0, wide)], narrow, partial(convert, call), CHUNK)

    return emit


def _bounds(dtype: DType) -> tuple[int, int]:
    bits = 8 * dtype.nbytes - (dtype.kind == "int")
    return (-(1 << bits) if dtype.kind == "int" else 0), (1 << bits) - 1


def dequantized(call: Call) -> None:
    """Emit the cast from int32 to half with a scale: the scalar of the call."""
    scale = call.scalar_lanes(CHUNK)

    def compute(lanes: Lanes) -> Lanes:
        scaled = lanes.to_float(F32) * 2.0**-17 * scale * 2.0**17
        return FLOAT16.narrow(call, scaled)

    sweep(call, [(SRC0, I32)], FLOAT16.element, compute, CHUNK)
