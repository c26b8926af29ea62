"""The loop around every flat body: whole chunks of lanes, and the tail through scratch memory.

An emitter says what one chunk of lanes computes, in terms of a call: `call.env`, `call.branch`,
`call.switch` for what is fixed, `call.scalar_lanes` for the scalar, and last `sweep(call, inputs,
output, compute, chunk)`. Here the call is one instruction whose operands lie in memory; the fused
engine hands the same emitters a call whose operands are values of its own loop (engine/emit.py).
For both to work an emitter takes the number of lanes from its operands (`a.count`) or from
`call.width(CHUNK)`, and ends in exactly one `sweep` on every way through it.

A chunk is read completely before it is written, so a destination may equal a source. The last,
partial chunk works on padded copies on the stack: the same vector code serves it and no byte
outside the operands is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from ascendsim.numerics.lanes import (
    F32,
    I1,
    I8,
    I64,
    POINTER,
    VOID,
    Lanes,
    declare,
    element_bits,
    splat,
)
from ascendsim.numerics.opcodes import COUNT, DST, ENV, ROW_WORDS

WORD_BYTES = 8
_SCRATCH_ALIGN = 64


class Call:
    """One call being compiled: where the row's words, its ENV bits and its scalar come from."""

    def __init__(self, builder: ir.IRBuilder, row: ir.Value, scalar: ir.Value) -> None:
        self.builder = builder
        self._scalar = scalar
        self._entry = builder.block
        # all at once: LLVM drops the unused, and no store of the loops stands in the way
        pointer = builder.inttoptr(row, POINTER)
        places = [builder.gep(pointer, [I64(i)], source_etype=I64) for i in range(ROW_WORDS)]
        self._words = [builder.load(place, typ=I64, align=WORD_BYTES) for place in places]

    def word(self, index: int) -> ir.Value:
        """Return a word of the row."""
        return self._words[index]

    def env(self, bit: int) -> ir.Value:
        """Return whether a bit of the ENV word is set."""
        masked = self.builder.and_(self.word(ENV), I64(bit))
        return self.builder.icmp_unsigned("!=", masked, I64(0))

    def branch(self, bit: int, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Emit two ways, to be taken by a bit of the ENV word."""
        with self.builder.if_else(self.env(bit)) as (yes, no):
            with yes:
                then()
            with no:
                otherwise()

    def width(self, chunk: int) -> int:
        """Return how many lanes are computed at once where the emitter would have `chunk`."""
        return chunk

    def sweep(
        self,
        inputs: Sequence[tuple[int, ir.Type]],
        output: ir.Type,
        compute: Callable[..., Lanes],
        chunk: int,
    ) -> None:
        """Emit the loop over COUNT lanes."""
        loop(self, inputs, [(DST, output)], lambda *lanes: [compute(*lanes)], chunk)

    def choose(self, bit: int, then: int, other: int, like: Lanes) -> Lanes:
        """Return a constant that depends on a bit of the ENV word, in the shape of `like`."""
        mask = (1 << element_bits(like.element)) - 1
        one, two = like.element(then & mask), like.element(other & mask)
        return splat(self.builder, self.builder.select(self.env(bit), one, two), like.count)

    def scalar_lanes(self, count: int) -> Lanes:
        """Return the scalar as float32 in every lane (exact for all three float types)."""
        return splat(self.builder, self.builder.fptrunc(self._scalar, F32), count)

    def scalar_pattern(self, element: ir.Type, count: int) -> Lanes:
        """Return the scalar, a raw pattern sent as a whole number, in every lane."""
        word = self.builder.fptosi(self._scalar, I64)
        return splat(self.builder, self.builder.trunc(word, element), count)

    def scratch(self, nbytes: int) -> ir.Value:
        """Reserve aligned bytes on the stack, once per compiled call."""
        with self.builder.goto_block(self._entry):
            self.builder.position_at_start(self._entry)
            place = self.builder.alloca(ir.ArrayType(I8, nbytes))
            place.align = _SCRATCH_ALIGN
            # llvmlite still types what it allocates; everything else here is opaque
            place.type = POINTER
        return place

    def switch(self, index: int, arms: Sequence[tuple[Sequence[int], Callable[[], None]]]) -> None:
        """Branch on a word of the row: (values, what emits their code) each; others do nothing."""
        done = self.builder.append_basic_block("done")
        choice = self.builder.switch(self.word(index), done)
        for values, emit in arms:
            block = self.builder.append_basic_block("case")
            for value in values:
                choice.add_case(I64(int(value)), block)
            self.builder.position_at_end(block)
            emit()
            self.builder.branch(done)
        self.builder.position_at_end(done)


class Stream:
    """An operand that a sweep walks through: address and element type (I1 for mask bits)."""

    def __init__(self, call: Any, index: int, element: ir.Type, chunk: int) -> None:
        self.builder = call.builder
        self.element = element
        self.chunk = chunk
        self.chunk_bytes = chunk * element_bits(element) // 8
        self.base = self.builder.inttoptr(call.word(index), POINTER)
        self.scratch = call.scratch(self.chunk_bytes)

    def bytes_of(self, lanes: ir.Value) -> ir.Value:
        """Return the bytes that hold `lanes` elements."""
        bits = self.builder.mul(lanes, I64(element_bits(self.element)))
        return self.builder.lshr(self.builder.add(bits, I64(7)), I64(3))

    def chunk_at(self, number: ir.Value) -> ir.Value:
        """Return the address of a chunk."""
        start = self.builder.mul(number, I64(self.chunk_bytes))
        return self.builder.gep(self.base, [start], source_etype=I8)

    def place(self, number: ir.Value, partial: ir.Value) -> ir.Value:
        """Return where the loop finds a chunk: in memory, or in scratch for the partial one."""
        return self.builder.select(partial, self.scratch, self.chunk_at(number))

    def load(self, place: ir.Value) -> Lanes:
        """Read a chunk."""
        vector = ir.VectorType(self.element, self.chunk)
        if self.element is I1:
            word = self.builder.load(place, typ=ir.IntType(self.chunk), align=1)
            return Lanes(self.builder, self.builder.bitcast(word, vector))
        return Lanes(self.builder, self.builder.load(place, typ=vector, align=1))

    def store(self, value: Lanes, place: ir.Value) -> None:
        """Write a chunk."""
        assert value.element == self.element, (str(value.element), str(self.element))
        word = value.value
        if self.element is I1:
            word = self.builder.bitcast(word, ir.IntType(self.chunk))
        self.builder.store(word, place, align=1)

    def clear_beyond(self, lanes: ir.Value) -> None:
        """Zero the mask bits of the scratch chunk from `lanes` on."""
        assert self.chunk == element_bits(I64)
        word = self.builder.load(self.scratch, typ=I64)
        keep = self.builder.sub(self.builder.shl(I64(1), lanes), I64(1))
        self.builder.store(self.builder.and_(word, keep), self.scratch)


def sweep(
    call: Call,
    inputs: Sequence[tuple[int, ir.Type]],
    output: ir.Type,
    compute: Callable[..., Lanes],
    chunk: int,
) -> None:
    """Emit `dst[i] = compute(inputs[i]...)` for COUNT lanes, `chunk` lanes at a time."""
    call.sweep(inputs, output, compute, chunk)


def loop(
    call: Any,
    inputs: Sequence[tuple[int, ir.Type]],
    outputs: Sequence[tuple[int, ir.Type]],
    compute: Callable[..., Sequence[Lanes]],
    chunk: int,
) -> None:
    """Emit the loop over COUNT lanes; inputs and outputs are words that hold addresses."""
    builder = call.builder
    sources = [Stream(call, index, element, chunk) for index, element in inputs]
    targets = [Stream(call, index, element, chunk) for index, element in outputs]
    count = call.word(COUNT)
    whole = builder.udiv(count, I64(chunk))
    rest = builder.urem(count, I64(chunk))
    has_rest = builder.icmp_unsigned("!=", rest, I64(0))
    with builder.if_then(has_rest):
        for source in sources:
            _copy(builder, source.scratch, source.chunk_at(whole), source.bytes_of(rest))
    rounds = builder.add(whole, builder.zext(has_rest, I64))
    with counted_loop(builder, rounds) as (number, _):
        partial = builder.icmp_unsigned("==", number, whole)
        values = [source.load(source.place(number, partial)) for source in sources]
        for target, value in zip(targets, compute(*values), strict=True):
            target.store(value, target.place(number, partial))
    with builder.if_then(has_rest):
        for target in targets:
            if target.element is I1:
                target.clear_beyond(rest)
            _copy(builder, target.chunk_at(whole), target.scratch, target.bytes_of(rest))


@contextmanager
def counted_loop(
    builder: ir.IRBuilder, count: ir.Value, carried: Sequence[ir.Value] = ()
) -> Iterator[tuple[ir.Value, list[ir.Value]]]:
    """Emit a loop of `count` rounds around what is emitted inside.

    Gives the number of the round and a list of carried values, which the inside replaces by those
    for the next round; afterwards the list holds what the last round left.
    """
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    number = builder.phi(I64)
    number.add_incoming(I64(0), before)
    kept = [builder.phi(value.type) for value in carried]
    for phi, value in zip(kept, carried, strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_unsigned("<", number, count), body, after)
    builder.position_at_end(body)
    changed = list[ir.Value](kept)
    yield number, changed
    number.add_incoming(builder.add(number, I64(1)), builder.block)
    for phi, value in zip(kept, changed, strict=True):
        phi.add_incoming(value, builder.block)
    changed[:] = kept
    builder.branch(head)
    builder.position_at_end(after)


def _copy(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, nbytes: ir.Value) -> None:
    signature = ir.FunctionType(VOID, [POINTER, POINTER, I64, I1])
    function = declare(builder.module, "llvm.memcpy.p0.p0.i64", signature)
    builder.call(function, [target, source, nbytes, I1(0)])
