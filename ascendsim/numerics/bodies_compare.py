"""Bodies of Compare and Compares: 64 lanes to 64 mask bits, lowest lane in the lowest bit.

The 16-bit formats compare as integers: a sign-magnitude pattern turned into two's complement has
the order of the numbers, and both zeros become 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ascendsim.enums import CMPMODE
from ascendsim.numerics.formats import (
    FLOAT16,
    FLOAT32,
    MAGNITUDE16,
    Format,
    float_to_brain,
    float_to_half,
)
from ascendsim.numerics.lanes import I1, I16, I32, Lanes, splat
from ascendsim.numerics.opcodes import ENV_NE_ORDERED, MODE, SRC0, SRC1
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 64

OPERATORS = {
    CMPMODE.LT: "<",
    CMPMODE.GT: ">",
    CMPMODE.EQ: "==",
    CMPMODE.LE: "<=",
    CMPMODE.GE: ">=",
    CMPMODE.NE: "!=",
}


def emitter(form: Format, with_scalar: bool) -> Callable[[Call], None]:
    """Return what emits Compare (two tensors) or Compares (tensor and scalar)."""

    def emit(call: Call) -> None:
        arms = [
            ((int(mode),), partial(_loop, call, form, with_scalar, operator))
            for mode, operator in OPERATORS.items()
        ]
        call.switch(MODE, arms)

    return emit


def _loop(call: Call, form: Format, with_scalar: bool, operator: str) -> None:
    compare = partial(_compare_float if form is FLOAT32 else _compare_pattern, call, form, operator)
    inputs = [(SRC0, form.element)]
    if not with_scalar:
        sweep(call, [*inputs, (SRC1, form.element)], I1, compare, CHUNK)
        return
    scalar = call.scalar_lanes(CHUNK) if form is FLOAT32 else _scalar_pattern(call, form)
    sweep(call, inputs, I1, lambda a: compare(a, scalar), CHUNK)


def _scalar_pattern(call: Call, form: Format) -> Lanes:
    narrow = float_to_half if form is FLOAT16 else float_to_brain
    few = narrow(call.scalar_lanes(8))
    first = call.builder.extract_element(few.value, I32(0))
    return splat(call.builder, first, call.width(CHUNK))


def _compare_float(call: Call, form: Format, operator: str, a: Lanes, b: Lanes) -> Lanes:
    result = a.compare(operator, b)
    if operator != "!=":
        return result
    unordered = Lanes(a.builder, a.builder.fcmp_unordered("uno", a.value, b.value))
    drop = splat(call.builder, call.env(ENV_NE_ORDERED), a.count)
    return result & ~(unordered & drop)


def _compare_pattern(call: Call, form: Format, operator: str, a: Lanes, b: Lanes) -> Lanes:
    result = _order(a).compare(operator, _order(b))
    unordered = _is_nan(a, form) | _is_nan(b, form)
    if operator != "!=":
        return result & ~unordered
    keep = splat(call.builder, call.builder.not_(call.env(ENV_NE_ORDERED)), a.count)
    return (result & ~unordered) | (unordered & keep)


def _is_nan(pattern: Lanes, form: Format) -> Lanes:
    return (pattern & MAGNITUDE16) > form.infinity


def _order(pattern: Lanes) -> Lanes:
    """Turn sign and magnitude into two's complement: (magnitude ^ sign) - sign."""
    sign = (pattern < 0).spread(I16)
    return ((pattern & MAGNITUDE16) ^ sign) - sign
