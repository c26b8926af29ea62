"""Compile a program to a loop over bit patterns that the loop itself makes.

The program is that of program.py with two more kinds of lines for what would be loaded:

    v0 = pattern(shift=0, bits=32)      bits of the index, from bit `shift` on
    v1 = constant(number=0, bits=32)    the same pattern for every index

and one `store(value=, bits=, infinity=, quiet=)`, whose last two fields say which patterns are NaN
and which one stands for them in the sum (both 0: none). The sum of `out * (index * FACTOR + 1)` is
folded as sum(out * index) and sum(out), which needs 32-bit products only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ascendsim.engine.emit import element_of, retyped, values_of
from ascendsim.engine.program_text import CHUNK, SIDE_BY_SIDE, WIDTH, Line, parse
from ascendsim.numerics.lanes import F64, I8, I32, I64, POINTER, Lanes, splat, where
from ascendsim.numerics.sweep import WORD_BYTES, counted_loop


class _Body:
    """One round of the loop: CHUNK results from CHUNK indices."""

    def __init__(self, builder: ir.IRBuilder, text: str, constants: Any, scalars: Any) -> None:
        self.builder = builder
        self.lines = parse(text)
        self.store = self.lines[-1]
        used = 1 + max((line.fields.get("scalar", -1) for line in self.lines), default=-1)
        self.scalars = [element_of(builder, scalars, number, F64) for number in range(used)]
        self.constants = {
            line.fields["number"]: element_of(builder, constants, line.fields["number"], I64)
            for line in self.lines
            if line.name == "constant"
        }

    def results(self, first: ir.Value) -> list[tuple[Lanes, Lanes]]:
        """Return (indices, results) of each part of a round; `first` is its first index."""
        found = []
        for part in range(SIDE_BY_SIDE):
            start = self.builder.trunc(first, I32)
            order = [part * WIDTH + lane for lane in range(WIDTH)]
            steps = Lanes(self.builder, ir.Constant(ir.VectorType(I32, WIDTH), order))
            index = splat(self.builder, start, WIDTH) + steps
            values = values_of(self.builder, self.lines, self._inputs(index), self.scalars)
            kind = ir.IntType(self.store.fields["bits"])
            found.append((index, retyped(values[self.store.fields["value"]], kind)))
        return found

    def _inputs(self, index: Lanes) -> list[Lanes]:
        return [
            self._pattern(line, index) if line.name == "pattern" else self._constant(line)
            for line in self.lines
            if line.name in ("pattern", "constant")
        ]

    def _pattern(self, line: Line, index: Lanes) -> Lanes:
        kind = ir.IntType(line.fields["bits"])
        shifted = index >> line.fields["shift"] if line.fields["shift"] else index
        return shifted if kind == I32 else shifted.to_int(kind)

    def _constant(self, line: Line) -> Lanes:
        word = self.constants[line.fields["number"]]
        kind = ir.IntType(line.fields["bits"])
        return splat(self.builder, self.builder.trunc(word, kind), WIDTH)

    def counted(self, result: Lanes) -> Lanes:
        """Return results as they enter the sum: one pattern for every NaN."""
        infinity, quiet = self.store.fields["infinity"], self.store.fields["quiet"]
        if not infinity:
            return result
        magnitude = result & ((1 << (result.element.width - 1)) - 1)
        return where(magnitude > infinity, result.constant(quiet), result)


def emit_fill(builder: ir.IRBuilder, text: str, *arguments: Any) -> None:
    """Emit `fill(constants, scalars, start, rounds, out)`: CHUNK results a round, one by one."""
    constants, scalars, start, rounds, out = arguments
    body = _Body(builder, text, constants, scalars)
    nbytes = body.store.fields["bits"] // 8 * WIDTH
    base = builder.inttoptr(out, POINTER)
    with counted_loop(builder, rounds) as (number, _):
        first = builder.add(start, builder.mul(number, I64(CHUNK)))
        place = builder.mul(number, I64(nbytes * SIDE_BY_SIDE))
        for part, (_, result) in enumerate(body.results(first)):
            at = builder.add(place, I64(part * nbytes))
            builder.store(result.value, builder.gep(base, [at], source_etype=I8), align=1)


def emit_fold(builder: ir.IRBuilder, text: str, *arguments: Any) -> None:
    """Emit `fold(constants, scalars, start, rounds, sums)`: the two sums, each of WIDTH words."""
    constants, scalars, start, rounds, sums = arguments
    body = _Body(builder, text, constants, scalars)
    kind = ir.VectorType(I64, WIDTH)
    zero = ir.Constant(kind, [0] * WIDTH)
    base = builder.inttoptr(sums, POINTER)
    places = [builder.gep(base, [I64(k * WIDTH)], source_etype=I64) for k in range(2)]
    with counted_loop(builder, rounds, (zero, zero)) as (number, carried):
        first = builder.add(start, builder.mul(number, I64(CHUNK)))
        totals = [Lanes(builder, value) for value in carried]
        for index, result in body.results(first):
            wide = _widened(body.counted(result))
            totals = [totals[0] + wide * _widened(index), totals[1] + wide]
        carried[:] = [total.value for total in totals]
    for place, total in zip(places, carried, strict=True):
        builder.store(total, place, align=WORD_BYTES)


def _widened(lanes: Lanes) -> Lanes:
    return lanes.to_int(I64)


def _intrinsic(emit_body: Any) -> Any:
    @intrinsic(prefer_literal=True)
    def run(typingctx, text, constants, scalars, start, rounds, place):
        program = text.literal_value

        def emit(context, builder, signature, arguments: Sequence[Any]):
            emit_body(builder, program, *arguments[1:])
            return context.get_dummy_value()

        return types.void(text, *[types.int64] * 5), emit

    return run


run_fill, run_fold = _intrinsic(emit_fill), _intrinsic(emit_fold)
