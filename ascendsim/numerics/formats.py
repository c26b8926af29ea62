"""The three float formats of the bodies: how lanes are widened to float32 and written back.

Arithmetic in a 16-bit format is float32 arithmetic followed by one rounding. For half that is the
correctly rounded half result, since 24 bits are at least twice 11 plus 2; for bfloat16 it is the
documented definition. `narrow` also applies the rules of the ENV word: one canonical NaN for every
NaN produced, saturation of 16-bit results, subnormal results to zero.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from llvmlite import binding, ir

from ascendsim.numerics.lanes import F32, HALF, I16, I32, Lanes, where
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.sweep import Call

SIGN32, MAGNITUDE32, INFINITY32 = 0x80000000, 0x7FFFFFFF, 0x7F800000
SIGN16, MAGNITUDE16 = 0x8000, 0x7FFF
SMALLEST_NORMAL32 = 0x00800000
NO_F16C_VARIABLE = "ASCENDSIM_NO_F16C"


def has_f16c() -> bool:
    """Whether half conversions may use the instructions of the host.

    Without the F16C extension LLVM calls a routine that no library here provides, and the process
    ends; the bit-by-bit conversion is then used instead.
    """
    if os.environ.get(NO_F16C_VARIABLE):
        return False
    return bool(binding.get_host_cpu_features().get("f16c"))


@dataclass(frozen=True, slots=True)
class Format:
    """A float format: element type in memory, infinity, quiet NaN, smallest normal as float32."""

    name: str
    element: ir.Type
    infinity: int
    quiet_nan: int
    smallest_normal: int
    smallest_normal_as_float32: int

    def widen(self, lanes: Lanes) -> Lanes:
        """Return the lanes as float32, exactly."""
        if self is FLOAT32:
            return lanes
        if self is BFLOAT16:
            return (lanes.to_int(I32) << 16).as_float()
        return half_to_float(lanes)

    def narrow(self, call: Call, lanes: Lanes, flush: bool = False) -> Lanes:
        """Round float32 lanes to this format and apply the rules of the ENV word."""
        if self is FLOAT32:
            nan = call.choose(ENV_NAN_ONES, MAGNITUDE32, self.quiet_nan, lanes.bits())
            result = where(lanes.is_nan(), nan.as_float(), lanes)
            return flushed(call, result) if flush else result
        return self.finish(call, self.rounded(lanes), flush)

    def rounded(self, lanes: Lanes) -> Lanes:
        """Round float32 lanes to 16-bit patterns, nearest even, any NaN to some NaN."""
        return float_to_half(lanes) if self is FLOAT16 else float_to_brain(lanes)

    def finish(self, call: Call, pattern: Lanes, flush: bool = False) -> Lanes:
        """Canonicalise NaN, saturate and flush 16-bit results, by the ENV word."""
        magnitude = pattern & MAGNITUDE16
        quiet = call.choose(ENV_NAN_ONES, MAGNITUDE16, self.quiet_nan, pattern)
        nan = quiet & call.choose(ENV_SATURATE, 0, -1, pattern)
        # infinity minus one is the largest finite pattern, with either sign
        step = call.choose(ENV_SATURATE, 1, 0, pattern)
        infinite = (magnitude == self.infinity).spread(I16)
        result = where(magnitude > self.infinity, nan, pattern - (infinite & step))
        if not flush:
            return result
        bound = call.choose(ENV_FLUSH, self.smallest_normal, 0, pattern)
        return where(magnitude < bound, result & SIGN16, result)

    def operand(self, call: Call, lanes: Lanes, flush: bool) -> Lanes:
        """Widen an operand, subnormals as zero if `flush` and the ENV word say so."""
        wide = self.widen(lanes)
        return flushed(call, wide, self.smallest_normal_as_float32) if flush else wide


FLOAT32 = Format("float32", F32, INFINITY32, 0x7FC00000, SMALLEST_NORMAL32, SMALLEST_NORMAL32)
FLOAT16 = Format("float16", I16, 0x7C00, 0x7E00, 0x0400, 0x38800000)
BFLOAT16 = Format("bfloat16", I16, 0x7F80, 0x7FC0, 0x0080, SMALLEST_NORMAL32)
BY_NAME = {f.name: f for f in (FLOAT32, FLOAT16, BFLOAT16)}


def flushed(call: Call, lanes: Lanes, smallest: int = SMALLEST_NORMAL32) -> Lanes:
    """Replace float32 lanes below `smallest` in magnitude by signed zero, if ENV_FLUSH is set."""
    pattern = lanes.bits()
    bound = call.choose(ENV_FLUSH, smallest, 0, pattern)
    small = (pattern & MAGNITUDE32) < bound
    return where(small, pattern & SIGN32, pattern).as_float()


def half_to_float(pattern: Lanes) -> Lanes:
    """Widen half patterns to float32."""
    if has_f16c():
        return pattern.as_float().to_float(F32)
    wide = pattern.to_int(I32)
    magnitude = (wide & MAGNITUDE16) << 13
    # scaling by 2**112 moves the exponent bias from 15 to 127 and normalises subnormals
    scaled = (magnitude.as_float() * 2.0**112).bits()
    special = magnitude | INFINITY32
    result = where(magnitude >= (0x7C00 << 13), special, scaled)
    return (result | ((wide & SIGN16) << 16)).as_float()


def float_to_half(lanes: Lanes) -> Lanes:
    """Round float32 to half patterns, nearest even, any NaN to some NaN."""
    if has_f16c():
        return lanes.to_float(HALF).bits()
    pattern = lanes.bits()
    magnitude = pattern & MAGNITUDE32
    odd = (magnitude >> 13) & 1
    normal = (magnitude - (112 << 23) + 0xFFF + odd) >> 13
    # adding 0.5 aligns the last bit with 2**-24, the unit of half subnormals
    small = (magnitude.as_float() + 0.5).bits() - 0x3F000000
    result = where(magnitude < 0x38800000, small, normal)
    result = where(magnitude >= 0x477FF000, result.constant(0x7C00), result)
    result = where(magnitude > INFINITY32, result.constant(0x7E00), result)
    return (result | ((pattern >> 16) & SIGN16)).to_int(I16)


def float_to_brain(lanes: Lanes) -> Lanes:
    """Round float32 to bfloat16 patterns, nearest even, any NaN to some NaN."""
    pattern = lanes.bits()
    rounded = pattern + 0x7FFF + ((pattern >> 16) & 1)
    return (where(lanes.is_nan(), rounded.constant(0x7FC00000), rounded) >> 16).to_int(I16)
