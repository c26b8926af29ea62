"""Memory by absolute address inside compiled functions, and the way into the bodies.

Each function here is a numba intrinsic: it exists only in compiled code.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ascendsim.numerics import families
from ascendsim.numerics.lanes import F64, I1, I8, I64, POINTER, VOID, declare
from ascendsim.numerics.sweep import Call

_BODY_TYPE = ir.FunctionType(VOID, [I64, F64])


def _memory(builder, address):
    return builder.inttoptr(address, POINTER)


def _loader(element: ir.Type):
    @intrinsic
    def load(typingctx, address):
        def emit(context, builder, signature, arguments):
            value = builder.load(_memory(builder, arguments[0]), typ=element, align=1)
            if element == F64:
                return value
            return value if element == I64 else builder.zext(value, I64)

        return (types.float64 if element == F64 else types.int64)(types.int64), emit

    return load


def _storer(element: ir.Type):
    @intrinsic
    def store(typingctx, address, value):
        def emit(context, builder, signature, arguments):
            place, word = arguments
            word = word if element == I64 else builder.trunc(word, element)
            builder.store(word, _memory(builder, place), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), emit

    return store


load8, load16, load32, load64 = (_loader(ir.IntType(bits)) for bits in (8, 16, 32, 64))
load_float64 = _loader(F64)
store8, store16, store32, store64 = (_storer(ir.IntType(bits)) for bits in (8, 16, 32, 64))


@intrinsic
def move_bytes(typingctx, target, source, nbytes):
    """Copy bytes; the ranges may overlap."""

    def emit(context, builder, signature, arguments):
        target, source, nbytes = arguments
        kind = ir.FunctionType(VOID, [POINTER, POINTER, I64, I1])
        function = declare(builder.module, "llvm.memmove.p0.p0.i64", kind)
        places = [_memory(builder, target), _memory(builder, source)]
        builder.call(function, [*places, nbytes, I1(0)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


@intrinsic
def fill_bytes(typingctx, target, nbytes, byte):
    """Set bytes to one value."""

    def emit(context, builder, signature, arguments):
        target, nbytes, byte = arguments
        kind = ir.FunctionType(VOID, [POINTER, I8, I64, I1])
        function = declare(builder.module, "llvm.memset.p0.i64", kind)
        place = _memory(builder, target)
        builder.call(function, [place, builder.trunc(byte, I8), nbytes, I1(0)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


@intrinsic(prefer_literal=True)
def stack_bytes(typingctx, nbytes):
    """Reserve a constant number of bytes of the caller's frame and return their address."""
    size = nbytes.literal_value

    def emit(context, builder, signature, arguments):
        with builder.goto_entry_block():
            place = builder.alloca(ir.ArrayType(I8, size))
            place.align = 64
        return builder.ptrtoint(place, I64)

    return types.int64(nbytes), emit


@intrinsic(prefer_literal=True)
def body_address(typingctx, family):
    """Return the address of the flat body of a family, compiled into the same module."""
    name = family.literal_value

    def emit(context, builder, signature, arguments):
        return builder.ptrtoint(_body(builder.module, name), I64)

    return types.int64(family), emit


@intrinsic
def call_body(typingctx, address, row, scalar):
    """Call a body, or any compiled entry, by address."""

    def emit(context, builder, signature, arguments):
        address, row, scalar = arguments
        builder.call(builder.inttoptr(address, _BODY_TYPE.as_pointer()), [row, scalar])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.float64), emit


def _body(module: ir.Module, family: str) -> ir.Function:
    """Emit the body of a family: a switch on the OP word with one case for each instruction."""
    function = ir.Function(module, _BODY_TYPE, f"ascendsim_{family}")
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    families.emit(family, Call(builder, *function.args))
    builder.ret_void()
    return function
