"""Bodies of arithmetic and logic on integers: exact modulo the width, as the hardware wraps.

Saturation of integer arithmetic (CTRL[53]) is off when a kernel starts and not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from llvmlite import ir

from ascendsim.dtypes import DType
from ascendsim.enums import CMPMODE
from ascendsim.numerics.lanes import I1, Lanes, where
from ascendsim.numerics.opcodes import MODE, SRC0, SRC1
from ascendsim.numerics.sweep import Call, sweep

CHUNK, COMPARE_CHUNK = 32, 64
BINARY = ("add", "sub", "mul", "max", "min", "and", "or", "subrelu")
SCALAR = {
    "adds": "add",
    "muls": "mul",
    "maxs": "max",
    "mins": "min",
    "ands": "and",
    "ors": "or",
    "shiftleft": "shl",
    "shiftright": "shr",
}
UNARY = ("not", "relu")
COMPARE = ("compare", "compares")


def emitter(instruction: str, dtype: DType) -> Callable[[Call], None]:
    """Return what emits the body of an instruction on an integer type."""
    element = ir.IntType(8 * dtype.nbytes)
    signed = dtype.kind == "int"

    def emit(call: Call) -> None:
        one, two = [(SRC0, element)], [(SRC0, element), (SRC1, element)]
        if instruction in COMPARE:
            _compare(call, element, signed, instruction == "compares")
        elif instruction in BINARY:
            sweep(call, two, element, partial(_operate, instruction, signed), CHUNK)
        elif instruction in SCALAR:
            scalar = call.scalar_pattern(element, CHUNK)
            name = SCALAR[instruction]
            sweep(call, one, element, lambda a: _operate(name, signed, a, scalar), CHUNK)
        elif instruction == "not":
            sweep(call, one, element, lambda a: ~a, CHUNK)
        else:
            sweep(call, one, element, lambda a: where(a > 0, a, 0), CHUNK)

    return emit


def _operate(name: str, signed: bool, a: Lanes, b: Lanes) -> Lanes:
    """Return one operation; shifts by the width or more leave zeros, or copies of the sign."""
    if name in ("shl", "shr"):
        return _shifted(name, signed, a, b)
    if name == "max":
        return where(_less(signed, a, b), b, a)
    if name == "min":
        return where(_less(signed, b, a), b, a)
    if name in ("and", "or"):
        return a & b if name == "and" else a | b
    if name == "subrelu":
        return where(a - b > 0, a - b, 0)
    return {"add": a.__add__, "sub": a.__sub__, "mul": a.__mul__}[name](b)


def _shifted(name: str, signed: bool, a: Lanes, distance: Lanes) -> Lanes:
    last = a.element.width - 1
    fits = distance.below(last + 1)
    inside = where(fits, distance, last)
    if name == "shr" and signed:
        return a.shifted_right(inside)
    return where(fits, a << inside if name == "shl" else a >> inside, 0)


def _less(signed: bool, a: Lanes, b: Lanes) -> Lanes:
    return a < b if signed else a.below(b)


def _compare(call: Call, element: ir.IntType, signed: bool, with_scalar: bool) -> None:
    orders: dict[CMPMODE, Callable[[Lanes, Lanes], Lanes]] = {
        CMPMODE.LT: lambda a, b: _less(signed, a, b),
        CMPMODE.GT: lambda a, b: _less(signed, b, a),
        CMPMODE.EQ: lambda a, b: a == b,
        CMPMODE.LE: lambda a, b: ~_less(signed, b, a),
        CMPMODE.GE: lambda a, b: ~_less(signed, a, b),
        CMPMODE.NE: lambda a, b: a != b,
    }

    def loop(order: Callable[[Lanes, Lanes], Lanes]) -> None:
        if not with_scalar:
            sweep(call, [(SRC0, element), (SRC1, element)], I1, order, COMPARE_CHUNK)
            return
        scalar = call.scalar_pattern(element, COMPARE_CHUNK)
        sweep(call, [(SRC0, element)], I1, lambda a: order(a, scalar), COMPARE_CHUNK)

    call.switch(MODE, [((int(mode),), partial(loop, order)) for mode, order in orders.items()])
