"""Vectors of LLVM values as Python expressions: the notation of the compiled bodies.

`a * b + 1.0` on two `Lanes` appends the instructions to the builder that made them: one IEEE 754
operation each, without fast-math flags, so LLVM neither fuses nor reorders them. Comparisons are
ordered (false on NaN) for floats and signed for integers; a right shift is logical. Python numbers
are broadcast to every lane.
"""

from __future__ import annotations

from llvmlite import ir

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
HALF, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()
VOID = ir.VoidType()

_FLOAT_OF = {16: HALF, 32: F32, 64: F64}


def element_bits(element: ir.Type) -> int:
    """Return the width of an element type."""
    if isinstance(element, ir.IntType):
        return element.width
    return {HALF: 16, F32: 32, F64: 64}[element]


class Lanes:
    """A vector value and the builder that emits what is done with it."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value
        self.count: int = value.type.count
        self.element: ir.Type = value.type.element

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating point."""
        return not isinstance(self.element, ir.IntType)

    def constant(self, number: float) -> Lanes:
        """Broadcast a Python number to the shape and type of this vector."""
        if not self.is_float:
            number = int(number)
            width = element_bits(self.element)
            number = (number + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
        return Lanes(self.builder, ir.Constant(self.value.type, [number] * self.count))

    def _operand(self, other: Lanes | float) -> ir.Value:
        return other.value if isinstance(other, Lanes) else self.constant(other).value

    def _binary(self, other: Lanes | float, of_float: str, of_int: str) -> Lanes:
        emit = getattr(self.builder, of_float if self.is_float else of_int)
        return Lanes(self.builder, emit(self.value, self._operand(other)))

    def __add__(self, other: Lanes | float) -> Lanes:
        return self._binary(other, "fadd", "add")

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._binary(other, "fsub", "sub")

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._binary(other, "fmul", "mul")

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._binary(other, "fdiv", "sdiv")

    def __and__(self, other: Lanes | int) -> Lanes:
        return self._binary(other, "and_", "and_")

    def __or__(self, other: Lanes | int) -> Lanes:
        return self._binary(other, "or_", "or_")

    def __xor__(self, other: Lanes | int) -> Lanes:
        return self._binary(other, "xor", "xor")

    def __lshift__(self, other: Lanes | int) -> Lanes:
        return self._binary(other, "shl", "shl")

    def __rshift__(self, other: Lanes | int) -> Lanes:
        return self._binary(other, "lshr", "lshr")

    def shifted_right(self, other: Lanes | int) -> Lanes:
        """Shift right, copies of the sign bit coming in."""
        return Lanes(self.builder, self.builder.ashr(self.value, self._operand(other)))

    def below(self, other: Lanes | int) -> Lanes:
        """Compare integers as unsigned numbers."""
        value = self.builder.icmp_unsigned("<", self.value, self._operand(other))
        return Lanes(self.builder, value)

    def __invert__(self) -> Lanes:
        return Lanes(self.builder, self.builder.not_(self.value))

    def __neg__(self) -> Lanes:
        if self.is_float:
            return Lanes(self.builder, self.builder.fneg(self.value))
        return self.constant(0) - self

    def compare(self, operator: str, other: Lanes | float) -> Lanes:
        """Compare lane by lane with one of < > <= >= == !=; `!=` is true on NaN."""
        operand = self._operand(other)
        if not self.is_float:
            return Lanes(self.builder, self.builder.icmp_signed(operator, self.value, operand))
        emit = self.builder.fcmp_unordered if operator == "!=" else self.builder.fcmp_ordered
        return Lanes(self.builder, emit(operator, self.value, operand))

    def __lt__(self, other: Lanes | float) -> Lanes:
        return self.compare("<", other)

    def __gt__(self, other: Lanes | float) -> Lanes:
        return self.compare(">", other)

    def __le__(self, other: Lanes | float) -> Lanes:
        return self.compare("<=", other)

    def __ge__(self, other: Lanes | float) -> Lanes:
        return self.compare(">=", other)

    def __eq__(self, other: object) -> Lanes:  # type: ignore[override]
        return self.compare("==", other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Lanes:  # type: ignore[override]
        return self.compare("!=", other)  # type: ignore[arg-type]

    def is_nan(self) -> Lanes:
        """Which lanes are NaN."""
        return Lanes(self.builder, self.builder.fcmp_unordered("uno", self.value, self.value))

    def _convert(self, emit: str, element: ir.Type) -> Lanes:
        target = ir.VectorType(element, self.count)
        return Lanes(self.builder, getattr(self.builder, emit)(self.value, target))

    def bits(self) -> Lanes:
        """Return the raw patterns as integers."""
        return self._convert("bitcast", ir.IntType(element_bits(self.element)))

    def as_float(self) -> Lanes:
        """Read raw patterns as floating point of the same width."""
        return self._convert("bitcast", _FLOAT_OF[element_bits(self.element)])

    def to_float(self, element: ir.Type) -> Lanes:
        """Convert to another float type (nearest even), or a signed integer to a float type."""
        if not self.is_float:
            return self._convert("sitofp", element)
        wider = element_bits(element) > element_bits(self.element)
        return self._convert("fpext" if wider else "fptrunc", element)

    def to_int(self, element: ir.Type) -> Lanes:
        """Convert a float toward zero, or widen (zeros) or narrow an integer."""
        if self.is_float:
            return self._convert("fptosi", element)
        wider = element_bits(element) > element_bits(self.element)
        return self._convert("zext" if wider else "trunc", element)

    def extended(self, element: ir.Type) -> Lanes:
        """Widen a signed integer."""
        return self._convert("sext", element)

    def spread(self, element: ir.Type) -> Lanes:
        """Turn truth values into all-ones or all-zeros words."""
        return self._convert("sext", element)


def where(condition: Lanes, then: Lanes, other: Lanes | float) -> Lanes:
    """Choose lane by lane."""
    value = then._operand(other)
    return Lanes(then.builder, then.builder.select(condition.value, then.value, value))


def splat(builder: ir.IRBuilder, scalar: ir.Value, count: int) -> Lanes:
    """Broadcast a scalar LLVM value."""
    vector = ir.VectorType(scalar.type, count)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, count), [0] * count)
    return Lanes(builder, builder.shuffle_vector(first, first, zeros))


def intrinsic(name: str, *operands: Lanes) -> Lanes:
    """Call an LLVM intrinsic such as `fma`, `sqrt` or `floor` on vectors of one type."""
    first = operands[0]
    vector = first.value.type
    suffix = _suffix(first)
    signature = ir.FunctionType(vector, [vector] * len(operands))
    function = declare(first.builder.module, f"llvm.{name}.{suffix}", signature)
    return Lanes(first.builder, first.builder.call(function, [o.value for o in operands]))


def saturated(lanes: Lanes, element: ir.IntType, signed: bool) -> Lanes:
    """Convert floats to integers toward zero: clamped to the range, NaN to 0."""
    vector = ir.VectorType(element, lanes.count)
    kind = "fptosi" if signed else "fptoui"
    name = f"llvm.{kind}.sat.v{lanes.count}i{element.width}.{_suffix(lanes)}"
    function = declare(lanes.builder.module, name, ir.FunctionType(vector, [lanes.value.type]))
    return Lanes(lanes.builder, lanes.builder.call(function, [lanes.value]))


def _suffix(lanes: Lanes) -> str:
    return f"v{lanes.count}f{element_bits(lanes.element)}"


def declare(module: ir.Module, name: str, signature: ir.FunctionType) -> ir.Function:
    """Return the function called `name` in `module`, declared on first use."""
    return module.globals.get(name) or ir.Function(module, signature, name)
