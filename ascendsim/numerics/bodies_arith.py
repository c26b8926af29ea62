"""Bodies of Add, Sub, Mul, Div, Max, Min, their scalar forms, Abs and Sqrt, in every float format.

Each is one float32 operation with one rounding; `formats` widens the operands and writes back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ascendsim.numerics.formats import MAGNITUDE32, Format, flushed
from ascendsim.numerics.lanes import Lanes, intrinsic, where
from ascendsim.numerics.opcodes import ENV_FLUSH, SRC0, SRC1
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 32


def maximum(a: Lanes, b: Lanes) -> Lanes:
    """Return the larger, +0 above -0, NaN if either is NaN."""
    equal = (a.bits() & b.bits()).as_float()
    return where(a > b, a, where(a < b, b, _nan_or(a, b, equal)))


def minimum(a: Lanes, b: Lanes) -> Lanes:
    """Return the smaller, -0 below +0, NaN if either is NaN."""
    equal = (a.bits() | b.bits()).as_float()
    return where(a < b, a, where(a > b, b, _nan_or(a, b, equal)))


def absolute(a: Lanes) -> Lanes:
    """Clear the sign."""
    return (a.bits() & MAGNITUDE32).as_float()


BINARY: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": maximum,
    "min": minimum,
}
SCALAR = {"adds": "add", "muls": "mul", "maxs": "max", "mins": "min"}
UNARY: dict[str, Callable[[Lanes], Lanes]] = {
    "abs": absolute,
    "sqrt": partial(intrinsic, "sqrt"),
}


def emitter(instruction: str, form: Format) -> Callable[[Call], None]:
    """Return what emits the body of an instruction in a format."""

    def emit(call: Call) -> None:
        # two loops: ENV_FLUSH is rare and its tests would slow the plain loop down
        way = partial(_loop, call, instruction, form)
        call.branch(ENV_FLUSH, partial(way, flush=True), partial(way, flush=False))

    return emit


def _loop(call: Call, instruction: str, form: Format, flush: bool) -> None:
    read = partial(form.operand, call, flush=flush)
    write = partial(form.narrow, call, flush=flush)
    first = (SRC0, form.element)
    if instruction in BINARY:
        operation = BINARY[instruction]
        inputs = [first, (SRC1, form.element)]
        sweep(call, inputs, form.element, lambda a, b: write(operation(read(a), read(b))), CHUNK)
    elif instruction in SCALAR:
        operation = BINARY[SCALAR[instruction]]
        scalar = call.scalar_lanes(CHUNK)
        if flush:
            scalar = flushed(call, scalar, form.smallest_normal_as_float32)
        sweep(call, [first], form.element, lambda a: write(operation(read(a), scalar)), CHUNK)
    else:
        unary = UNARY[instruction]
        sweep(call, [first], form.element, lambda a: write(unary(read(a))), CHUNK)


def _nan_or(a: Lanes, b: Lanes, equal: Lanes) -> Lanes:
    unordered = Lanes(a.builder, a.builder.fcmp_unordered("uno", a.value, b.value))
    return where(unordered, equal.bits().constant(MAGNITUDE32).as_float(), equal)
