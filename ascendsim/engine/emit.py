"""Compile a program to one loop: every value stays in registers from load to store.

How an instruction becomes fusable: by its declaration and its emitter, nothing else. The fused loop
calls the very emitters that make the flat bodies (numerics/families.py), with `_Instruction` in
place of `sweep.Call`: words of the row are fixed numbers, operands are values of the loop, and
`sweep` computes one chunk of lanes instead of walking through memory. So there is one definition of
an instruction's lane arithmetic. An emitter that keeps to numerics/sweep.py (the number of lanes
from its operands or `call.width`, `call.branch` and `call.switch` for what the row fixes, one
`sweep` at the end) is fused without further ado. One that walks through memory by itself, because
lane i of its result needs more than lane i of its operands, meets `NotFusableError` here; kernels
that use it are replayed. Tests draw random kernels from all declared instructions.

A Lanes value may be asked for as another element type of the same width: patterns are re-read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ascendsim.engine.program_text import SIDE_BY_SIDE, WIDTH, Line, NotFusableError, parse
from ascendsim.numerics import families
from ascendsim.numerics.lanes import (
    F32,
    F64,
    I1,
    I32,
    I64,
    POINTER,
    VOID,
    Lanes,
    element_bits,
    splat,
)
from ascendsim.numerics.opcodes import COUNT, ENV, MASK, MODE, SRC0, SRC1
from ascendsim.numerics.sweep import WORD_BYTES, Call, loop

#: lines whose values come from outside: from GM, or (emit_sweep.py) made by the loop
INPUTS = ("load", "pattern", "constant")
WORDS = {"src0": SRC0, "src1": SRC1, "mask": MASK}


class _Instruction:
    """One line of a program, in the place of a `sweep.Call`."""

    def __init__(self, builder: ir.IRBuilder, line: Line, operands: dict[int, Lanes], scalar: Any):
        self.builder = builder
        self.result: Lanes | None = None
        self._line, self._operands, self._scalar = line, operands, scalar

    def word(self, index: int) -> ir.Value:
        """Return a fixed word of the row; the others are addresses, which there are none of."""
        return I64(self._fixed(index))

    def _fixed(self, index: int) -> int:
        if index not in (MODE, ENV):
            raise NotFusableError(f"{self._line.name} reads its operands by address")
        return self._line.fields["mode" if index == MODE else "env"]

    def env(self, bit: int) -> ir.Value:
        """Return whether a bit of the ENV word is set."""
        return I1(int(self._fixed(ENV) & bit != 0))

    def branch(self, bit: int, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Take one of two ways."""
        (then if self._fixed(ENV) & bit else otherwise)()

    def switch(self, index: int, arms: Sequence[tuple[Sequence[int], Callable[[], None]]]) -> None:
        """Take the way that a word of the row chooses."""
        wanted = self._fixed(index)
        for values, emit in arms:
            if wanted in (int(value) for value in values):
                emit()
                return

    def choose(self, bit: int, then: int, other: int, like: Lanes) -> Lanes:
        """Return a constant that depends on a bit of the ENV word, in the shape of `like`."""
        return like.constant(then if self._fixed(ENV) & bit else other)

    def width(self, chunk: int) -> int:
        """Return how many lanes the loop computes at once."""
        return WIDTH

    def scratch(self, nbytes: int) -> ir.Value:
        """Refuse memory."""
        raise NotFusableError(f"{self._line.name} works in memory")

    def scalar_lanes(self, count: int) -> Lanes:
        """Return the scalar as float32 in every lane."""
        return splat(self.builder, self.builder.fptrunc(self._scalar, F32), WIDTH)

    def scalar_pattern(self, element: ir.Type, count: int) -> Lanes:
        """Return the scalar, a raw pattern sent as a whole number, in every lane."""
        word = self.builder.fptosi(self._scalar, I64)
        return splat(self.builder, self.builder.trunc(word, element), WIDTH)

    def sweep(
        self,
        inputs: Sequence[tuple[int, ir.Type]],
        output: ir.Type,
        compute: Callable[..., Lanes],
        chunk: int,
    ) -> None:
        """Compute one chunk of lanes."""
        if self.result is not None:
            raise NotFusableError(f"{self._line.name} sweeps more than once")
        self.result = compute(*(retyped(self._operands[word], kind) for word, kind in inputs))
        assert self.result.element == output, (str(self.result.element), str(output))


class _LoopCall:
    """The loop itself, in the place of a `sweep.Call`: words are the tensors, and the count."""

    def __init__(self, builder: ir.IRBuilder, addresses: dict[int, ir.Value], count: ir.Value):
        self.builder = builder
        self._entry = builder.block
        self._words = addresses | {COUNT: count}

    word = Call.word
    scratch = Call.scratch


def retyped(lanes: Lanes, element: ir.Type) -> Lanes:
    """Return the same patterns as elements of another type of the same width."""
    if lanes.element == element:
        return lanes
    if element_bits(lanes.element) != element_bits(element):
        raise NotFusableError(f"{lanes.element} is read as {element}")
    value = lanes.builder.bitcast(lanes.value, ir.VectorType(element, lanes.count))
    return Lanes(lanes.builder, value)


def values_of(
    builder: ir.IRBuilder, lines: Sequence[Line], loaded: Sequence[Lanes], scalars: Sequence[Any]
) -> list[Lanes]:
    """Emit the values of a program for one chunk; loads take `loaded` in their order."""
    loads, values = iter(loaded), list[Lanes]()
    for line in lines:
        if line.name in INPUTS:
            values.append(next(loads))
        elif line.name != "store":
            values.append(_emitted(builder, line, values, scalars[line.fields["scalar"]]))
    return values


def _emitted(builder: ir.IRBuilder, line: Line, values: Sequence[Lanes], scalar: Any) -> Lanes:
    operands = {w: values[line.fields[n]] for n, w in WORDS.items() if n in line.fields}
    call = _Instruction(builder, line, operands, scalar)
    EMITTERS[line.name](call)  # type: ignore[arg-type]
    if call.result is None:
        raise NotFusableError(f"{line.name} has no result lane by lane")
    return call.result


def emit_loop(
    builder: ir.IRBuilder, text: str, bases: Any, scalars: Any, start: Any, count: Any
) -> None:
    """Emit the loop of a program.

    bases : address of a table with the address of each tensor; scalars : address of a table of
    float64; start, count : the elements to compute.
    """
    lines = parse(text)
    loads = [line for line in lines if line.name == "load"]
    stores = [line for line in lines if line.name == "store"]
    moved = [line for line in lines if line.name in ("load", "store")]
    # a word per load and store, numbered behind the words of a row
    first = 100
    addresses = {first + k: _address(builder, bases, line, start) for k, line in enumerate(moved)}
    inputs = [(first + moved.index(line), _integer(line)) for line in loads]
    outputs = [(first + moved.index(line), _integer(line)) for line in stores]
    used = 1 + max((line.fields.get("scalar", -1) for line in lines), default=-1)
    numbers = [element_of(builder, scalars, number, F64) for number in range(used)]

    def compute(*loaded: Lanes) -> list[Lanes]:
        results = []
        for part in range(SIDE_BY_SIDE):
            few = [_part(lanes, part) for lanes in loaded]
            values = values_of(builder, lines, few, numbers)
            results.append([retyped(values[s.fields["value"]], _integer(s)) for s in stores])
        return [_joined(builder, parts) for parts in zip(*results, strict=True)]

    loop(_LoopCall(builder, addresses, count), inputs, outputs, compute, WIDTH * SIDE_BY_SIDE)


def try_loop(text: str) -> None:
    """Emit a program for nobody, to learn whether it can be.

    Raises
    ------
    NotFusableError
        When an instruction does not work lane by lane.
    """
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(VOID, [I64] * 4), "trial")
    emit_loop(ir.IRBuilder(function.append_basic_block("entry")), text, *function.args)


def _part(lanes: Lanes, number: int) -> Lanes:
    return _shuffled(lanes.builder, lanes.value, lanes.value, number * WIDTH, WIDTH)


def _joined(builder: ir.IRBuilder, parts: Sequence[Lanes]) -> Lanes:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    low, high = _joined(builder, parts[:half]), _joined(builder, parts[half:])
    return _shuffled(builder, low.value, high.value, 0, 2 * low.count)


def _shuffled(builder: ir.IRBuilder, one: Any, other: Any, first: int, count: int) -> Lanes:
    order = ir.Constant(ir.VectorType(I32, count), list(range(first, first + count)))
    return Lanes(builder, builder.shuffle_vector(one, other, order))


def _integer(line: Line) -> ir.IntType:
    return ir.IntType(line.fields["bits"])


def _address(builder: ir.IRBuilder, bases: Any, line: Line, start: Any) -> ir.Value:
    base = element_of(builder, bases, line.fields["tensor"], I64)
    return builder.add(base, builder.mul(start, I64(line.fields["bits"] // 8)))


def element_of(builder: ir.IRBuilder, table: Any, number: int, kind: ir.Type) -> ir.Value:
    """Load a word of a table of addresses or float64."""
    place = builder.inttoptr(builder.add(table, I64(number * WORD_BYTES)), POINTER)
    return builder.load(place, typ=kind, align=WORD_BYTES)


EMITTERS = {name: emit for bodies in families.table().values() for name, emit in bodies.items()}


@intrinsic(prefer_literal=True)
def run_program(typingctx, text, bases, scalars, start, count):
    """Run the loop of a program, a constant text; see `emit_loop`."""
    program = text.literal_value

    def emit(context, builder, signature, arguments):
        emit_loop(builder, program, *arguments[1:])
        return context.get_dummy_value()

    return types.void(text, types.int64, types.int64, types.int64, types.int64), emit
