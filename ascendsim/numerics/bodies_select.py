"""Bodies that move patterns without looking at them: Select, its scalar form, Duplicate and Copy.

The scalar of `selects_<bytes>` and `duplicate_<bytes>` is the raw pattern as a whole number, which
a float64 carries exactly for up to 53 bits: -0.0, NaN payloads and integers arrive unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from ascendsim.numerics.lanes import I1, where
from ascendsim.numerics.opcodes import MASK, SRC0, SRC1
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 64


def emitter(instruction: str, nbytes: int) -> Callable[[Call], None]:
    """Return what emits `select`, `selects`, `duplicate` or `copy` for elements of `nbytes`."""
    element = ir.IntType(8 * nbytes)

    def emit(call: Call) -> None:
        mask, first, second = (MASK, I1), (SRC0, element), (SRC1, element)
        if instruction == "select":
            sweep(call, [mask, first, second], element, where, CHUNK)
            return
        if instruction == "copy":
            sweep(call, [first], element, lambda a: a, CHUNK)
            return
        scalar = call.scalar_pattern(element, CHUNK)
        if instruction == "selects":
            sweep(call, [mask, first], element, lambda m, a: where(m, a, scalar), CHUNK)
        else:
            sweep(call, [], element, lambda: scalar, CHUNK)

    return emit
