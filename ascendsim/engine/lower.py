"""Turn the calls of a block into rows of a table that one compiled loop runs.

A row is ROW_WORDS of int64. A row of a body is the row that step mode runs, its UB addresses made
relative; FUNCTION is the body's machine address. A row with FUNCTION 0 moves blocks of bytes:
copies, padding, stores of scalars and the fill of UB are all moves. What changes from tile to tile,
the place in GM and the scalar, is in the *entry* that names the row, so rows are few.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ascendsim.engine.stream import NoPlanError, Stream
from ascendsim.engine.words import (
    ABSOLUTE,
    BLOCKS,
    CHECK,
    DST_PITCH,
    DST_SPACE,
    FUNCTION,
    IN_PARAMETERS,
    IN_UB,
    NBYTES,
    ROW_WORDS,
    SRC_PITCH,
    SRC_SPACE,
    UB_SPACE,
    WORD_BYTES,
)
from ascendsim.isa.footprint import Footprint
from ascendsim.numerics import opcodes
from ascendsim.record import Call, Move, Store

#: spaces that every plan has: what UB holds at first, and the plan's constants
TEMPLATE, CONSTANTS = 0, 1
#: a constant is repeated over so many bytes, the most that DataCopyPad stores beside a block
CONSTANT_BYTES = 64

_ADDRESSES = (opcodes.DST, opcodes.SRC0, opcodes.SRC1, opcodes.MASK)


class Entry(NamedTuple):
    """One executed row: which, where, with which scalar, of which call of the stream.

    place : added to the destination of a move out of UB, to the source of a move into it (bytes);
    `in_gm` says that it is a place in GM.
    """

    row: int
    place: int
    scalar: float
    number: int
    in_gm: bool = False


class Lowering:
    """The rows of a plan, each once.

    spaces : names of GM tensors, by number; constants : bytes that moves read; `relative` says for
    each word of a row what it is counted from (words.py). `parameters` are the parameter blocks of
    programs, which programs write to, so that each thread has its own; `inner` are the places of
    the words there that are counted from the start of all of them.
    """

    def __init__(self, tensors: Iterable[str]) -> None:
        self.spaces = {name: number for number, name in enumerate(tensors, CONSTANTS + 1)}
        self.rows: list[list[int]] = []
        self.relative: list[list[int]] = []
        self.parameters: list[int] = []
        self.inner: list[int] = []
        self.kept: list[Call] = []  # keeps the geometry blocks that rows point at alive
        self._constants: dict[bytes, int] = {}
        self._known: dict[Any, int] = {}

    @property
    def constants(self) -> np.ndarray:
        """The bytes of the space CONSTANTS."""
        return np.frombuffer(b"".join(self._constants) or bytes(1), np.uint8)

    def entries(self, stream: Stream) -> list[Entry]:
        """Return what runs for the calls of a block, in program order.

        Raises
        ------
        NoPlanError
            When a call does more than rows can say.
        """
        found: list[Entry] = []
        for number, call in enumerate(stream.calls):
            row, scalar = call.row, stream.scalars[number]
            if isinstance(row, Move):
                self._copy(number, row, found)
            elif isinstance(row, Store):
                self._store(number, row, found)
            elif row is None:
                raise NoPlanError(_refusal(call))
            elif call.geometry.count and call.geometry.repeats:  # type: ignore[union-attr]
                found.append(Entry(self._body(call), 0, scalar, number))
        return found

    def fill(self, start: int, stop: int) -> Entry:
        """Return what gives bytes of UB their first content."""
        row = self._move((1, 0, 0, stop - start), (UB_SPACE, start), (TEMPLATE, 0))
        return Entry(row, start, 0.0, -1)

    def _body(self, call: Call) -> int:
        known = self._known.get(call)
        if known is None:
            words, block, *table = call.row
            base = call.core.ub.base
            numbers = [*words.tolist(), *[0] * (ROW_WORDS - opcodes.ROW_WORDS)]
            relative = [ABSOLUTE] * ROW_WORDS
            for word in _ADDRESSES:
                # a table is memory of the call's own, which nobody writes to
                if numbers[word] and not (table and word == opcodes.SRC0):
                    numbers[word], relative[word] = numbers[word] - base, IN_UB
            if isinstance(call.geometry, Footprint):
                self._program(block.tolist(), numbers, relative)
            numbers[FUNCTION] = call.core.bodies.address(numbers[opcodes.OP])
            self.kept.append(call)
            known = self._add(call, numbers, relative)
        return known

    def _program(self, block: list[int], numbers: list[int], relative: list[int]) -> None:
        """Give a row a parameter block among those of the plan."""
        first = len(self.parameters)
        start = first * WORD_BYTES
        block[opcodes.P_SCRATCH] = start + opcodes.PARAMETER_WORDS * WORD_BYTES
        self.inner.append(first + opcodes.P_SCRATCH)
        self.parameters += block
        numbers[opcodes.GEOMETRY], relative[opcodes.GEOMETRY] = start, IN_PARAMETERS
        if block[opcodes.P_CHECKED]:
            numbers[CHECK] = start + opcodes.P_STATUS * WORD_BYTES
            relative[CHECK] = IN_PARAMETERS

    def _copy(self, number: int, move: Move, found: list[Entry]) -> None:
        if not move.blocks:
            return
        into, out_of = self._place(move.dst_space, move.dst), self._place(move.src_space, move.src)
        place = move.dst if move.dst_space else move.src if move.src_space else 0
        shape = (move.blocks, move.dst_pitch, move.src_pitch, move.nbytes)
        in_gm = bool(move.dst_space or move.src_space)
        found.append(Entry(self._move(shape, into, out_of), place, 0.0, number, in_gm))
        if move.pad is not None:
            self._pad(number, move, found)

    def _pad(self, number: int, move: Move, found: list[Entry]) -> None:
        """Add what stands beside each block: constants, or the block's first element."""
        pad, pitch, start = move.pad, move.dst_pitch, move.dst
        end = start + move.nbytes

        def constant(bits: int, at: int, nbytes: int) -> None:
            if nbytes:
                source = (CONSTANTS, 0)
                row = self._move((move.blocks, pitch, 0, nbytes), (UB_SPACE, at), source)
                found.append(Entry(row, self._constant(bits, pad.element), 0.0, number))

        constant(pad.side, start - pad.left, pad.left)
        constant(pad.side, end, pad.right)
        if pad.tail is not None:
            constant(pad.tail, end + pad.right, pad.after - pad.right)
            return
        for at in range(end + pad.right, end + pad.after, pad.element):
            shape = (move.blocks, pitch, pitch, pad.element)
            row = self._move(shape, (UB_SPACE, at), (UB_SPACE, start))
            found.append(Entry(row, 0, 0.0, number))

    def _store(self, number: int, store: Store, found: list[Entry]) -> None:
        source = self._constant(store.bits, store.nbytes)
        if store.space:
            # one place an entry: the constant's own offset goes into the row
            into, out_of, place = (self.spaces[store.space], 0), (CONSTANTS, source), store.start
        else:
            into, out_of, place = (UB_SPACE, store.start), (CONSTANTS, 0), source
        row = self._move((1, 0, 0, store.nbytes), into, out_of)
        found.append(Entry(row, place, 0.0, number, bool(store.space)))

    def _place(self, space: str, start: int) -> tuple[int, int]:
        return (self.spaces[space], 0) if space else (UB_SPACE, start)

    def _move(
        self, shape: tuple[int, int, int, int], into: tuple[int, int], out_of: tuple[int, int]
    ) -> int:
        key = (shape, into, out_of)
        known = self._known.get(key)
        if known is None:
            words, relative = [0] * ROW_WORDS, [ABSOLUTE] * ROW_WORDS
            words[BLOCKS], words[DST_PITCH], words[SRC_PITCH], words[NBYTES] = shape
            words[DST_SPACE], words[opcodes.DST] = into
            words[SRC_SPACE], words[opcodes.SRC0] = out_of
            relative[opcodes.DST] = IN_UB if into[0] == UB_SPACE else ABSOLUTE
            relative[opcodes.SRC0] = IN_UB if out_of[0] == UB_SPACE else ABSOLUTE
            known = self._add(key, words, relative)
        return known

    def _constant(self, bits: int, nbytes: int) -> int:
        element = bits.to_bytes(nbytes, "little")
        return CONSTANT_BYTES * self._constants.setdefault(
            element * (CONSTANT_BYTES // nbytes), len(self._constants)
        )

    def _add(self, key: Any, words: list[int], relative: list[int]) -> int:
        self.rows.append(words)
        self.relative.append(relative)
        self._known[key] = len(self.rows) - 1
        return len(self.rows) - 1


def _refusal(call: Call) -> str:
    """Say why a call without a row cannot be planned."""
    if call.meets:
        return f"{call.name}: blocks wait for one another, which only step mode lets them do"
    if "atomic" in call.fields:
        return (
            f"{call.name} stores atomically or first values of several blocks: such stores are "
            f"made in the order of step mode"
        )
    if call.geometry is not None:
        return f"{call.name} is a library function without compiled body, which only step mode runs"
    return f"{call.name} has no form that an engine could run"
