"""Bodies of multiply-add, Relu, SubRelu, LeakyRelu, Divs, Reciprocal, Rsqrt, in float formats.

A multiply-add rounds twice, product and sum, or once where ENV_REGISTER is set (950). Rsqrt is one
rounding of the exact value, or on 950 a rounded quotient of one by a rounded root.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ascendsim.numerics.bodies_exp import single_of, sum_to_odd
from ascendsim.numerics.formats import FLOAT16, FLOAT32, INFINITY32, Format, flushed
from ascendsim.numerics.lanes import F32, F64, Lanes, intrinsic, where
from ascendsim.numerics.opcodes import ENV_REGISTER, MASK, SRC0, SRC1
from ascendsim.numerics.sweep import Call, sweep

CHUNK = 16
MAGNITUDE64 = (1 << 63) - 1
#: where the factors and the addend stand
MULTIPLY_ADD = {
    "muladddst": (SRC0, SRC1, MASK),  # src0 * src1 + dst
    "fusedmuladd": (SRC0, MASK, SRC1),  # src0 * dst + src1
    "axpy": (SRC0, None, SRC1),  # src * scalar + dst
}
SIMPLE = ("relu", "subrelu", "leakyrelu", "divs", "subs", "reciprocal", "rsqrt")


def emitter(instruction: str, source: Format, target: Format) -> Callable[[Call], None]:
    """Return what emits the body of an instruction; source and target differ for some sums."""

    def emit(call: Call) -> None:
        if instruction in MULTIPLY_ADD:
            one, two = (
                partial(_multiply_add, call, MULTIPLY_ADD[instruction], source, target, fused)
                for fused in (True, False)
            )
            call.branch(ENV_REGISTER, one, two)
        elif instruction == "subrelu":
            _sub_relu(call, source)
        elif instruction == "rsqrt":
            one, two = (partial(_simple, call, source, way) for way in (_two_steps, _one_step))
            call.branch(ENV_REGISTER, one, two)
        else:
            _simple(call, source, OPERATIONS[instruction])

    return emit


def _simple(
    call: Call, form: Format, operation: Callable[[Call, Format, Lanes, Lanes], Lanes]
) -> None:
    scalar = flushed(call, call.scalar_lanes(CHUNK), form.smallest_normal_as_float32)

    def compute(a: Lanes) -> Lanes:
        x = form.operand(call, a, flush=True)
        return form.narrow(call, operation(call, form, x, scalar), flush=True)

    sweep(call, [(SRC0, form.element)], form.element, compute, CHUNK)


def _sub_relu(call: Call, form: Format) -> None:
    def compute(a: Lanes, b: Lanes) -> Lanes:
        difference = _read(call, form, a) - _read(call, form, b)
        return form.narrow(call, _relu(call, form, difference, difference), flush=True)

    sweep(call, [(SRC0, form.element), (SRC1, form.element)], form.element, compute, CHUNK)


def _relu(call: Call, form: Format, x: Lanes, scalar: Lanes) -> Lanes:
    return where(x > 0.0, x, where(x.is_nan(), x, 0.0))


def _leaky(call: Call, form: Format, x: Lanes, scalar: Lanes) -> Lanes:
    return where(x >= 0.0, x, x * scalar)


def _one_step(call: Call, form: Format, x: Lanes, scalar: Lanes) -> Lanes:
    wide = x.to_float(F64)
    return single_of(wide.constant(1.0) / intrinsic("sqrt", wide), form)


def _two_steps(call: Call, form: Format, x: Lanes, scalar: Lanes) -> Lanes:
    root = form.narrow(call, intrinsic("sqrt", x), flush=True)
    return x.constant(1.0) / form.operand(call, root, flush=True)


OPERATIONS: dict[str, Callable[[Call, Format, Lanes, Lanes], Lanes]] = {
    "relu": _relu,
    "leakyrelu": _leaky,
    "divs": lambda call, form, x, scalar: x / scalar,
    "subs": lambda call, form, x, scalar: x - scalar,
    "reciprocal": lambda call, form, x, scalar: x.constant(1.0) / x,
}


def _multiply_add(
    call: Call, places: tuple[int, int | None, int], source: Format, target: Format, fused: bool
) -> None:
    first, second, third = places
    inputs = [(first, source.element), (third, target.element)]
    scalar = flushed(call, call.scalar_lanes(CHUNK), source.smallest_normal_as_float32)

    def compute(a: Lanes, c: Lanes, b: Lanes | None = None) -> Lanes:
        x, z = _read(call, source, a), _read(call, target, c)
        y = scalar if b is None else _read(call, source, b)
        total = _fused(target, x, y, z) if fused else _twice(target, x, y) + z
        return target.narrow(call, total, flush=True)

    if second is not None:
        inputs.append((second, source.element))
    sweep(call, inputs, target.element, compute, CHUNK)


def _read(call: Call, form: Format, lanes: Lanes) -> Lanes:
    return form.operand(call, lanes, flush=True)


def _twice(form: Format, x: Lanes, y: Lanes) -> Lanes:
    """Return the product rounded to the format, as float32."""
    product = x * y
    return product if form is FLOAT32 else form.widen(form.rounded(product))


def _fused(form: Format, x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    """Return the sum so that rounding it to the format is the only rounding (bfloat16: float32)."""
    if form is not FLOAT16:
        return intrinsic("fma", x, y, z)
    product, wide = x.to_float(F64) * y.to_float(F64), z.to_float(F64)
    larger = (product.bits() & MAGNITUDE64) >= (wide.bits() & MAGNITUDE64)
    total = sum_to_odd(where(larger, product, wide), where(larger, wide, product))
    exceptional = (product + wide).to_float(F32)
    finite = (exceptional.bits() & INFINITY32) != INFINITY32
    return where(finite, single_of(total, form), exceptional)
