"""Keep what every call of a block changed, so that time can run both ways.

An entry is a record and the bytes that it stored, before and after. Memory is bounded by the
bytes that are stored, by `blocks=`, and by `last=`: entries that drop out are folded into the
block's start.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ascendsim.record import GM, UB, Call, Instr, Span
from ascendsim.record.registers import Registers


class Delta(NamedTuple):
    """Bytes that a call stored: `space` is "UB" or the name of a GM tensor, `start` a byte."""

    space: str
    start: int
    before: bytes
    after: bytes

    @property
    def stop(self) -> int:
        """The byte behind the last."""
        return self.start + len(self.after)


class Entry(NamedTuple):
    """One record with what it stored."""

    instr: Instr
    deltas: tuple[Delta, ...]


class BlockRecording:
    """All entries of one block, in program order.

    `ub` is the UB before the first of them, `registers` what the registers held then.

    While the block runs only what calls stored is kept; the bytes before follow from that, once
    somebody asks for the entries. With `limit`, the oldest calls beyond it are folded into both.
    """

    def __init__(self, ub: np.ndarray, limit: int | None) -> None:
        self.ub, self.registers = ub, Registers()
        self.dropped = 0
        self.limit = limit
        self._stored: deque[tuple[Instr, tuple[Delta, ...]]] = deque()
        self._entries: list[Entry] = []
        self._seen = 0  # calls when the entries were made

    def append(self, instr: Instr, stored: tuple[Delta, ...]) -> None:
        """Add a call; the UB deltas of `stored` have no `before` yet."""
        self._stored.append((instr, stored))
        if self.limit is not None and len(self._stored) > self.limit:
            if not self.dropped:
                self.ub = self.ub.copy()  # so far it was every block's
            oldest, deltas = self._stored.popleft()
            for delta in deltas:
                _store(self.ub, delta)
            self.registers = self.registers.after((oldest.call,))
            self.dropped += 1

    @property
    def entries(self) -> list[Entry]:
        """The calls with what they stored, as of now."""
        seen = self.dropped + len(self._stored)
        if self._seen != seen:
            ub = self.ub.copy()
            self._seen = seen
            self._entries = [Entry(instr, _completed(ub, stored)) for instr, stored in self._stored]
        return self._entries


class Recorder:
    """An observer that keeps a BlockRecording per block."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.blocks: dict[int, BlockRecording] = {}
        self._before: list[bytes] = []

    def before(self, instr: Instr) -> None:
        """Keep the bytes of GM that the call is about to store over: blocks share them."""
        if instr.block not in self.blocks:
            # UB holds its fill when a block begins
            self.blocks[instr.block] = BlockRecording(instr.call.core.ub.template, self.last)
        self._before = [
            store.holder.memory[store.start : store.stop].tobytes()
            for store in _stores(instr.call)
            if store.space is GM
        ]

    def after(self, instr: Instr) -> None:
        """Keep the bytes that the call stored."""
        call = instr.call
        ub, gm_before = call.core.ub.array, iter(self._before)
        deltas = []
        for space, holder, start, stop in _stores(call):
            if space is GM:
                after = holder.memory[start:stop].tobytes()
                deltas.append(Delta(holder.name, start, next(gm_before), after))
            else:
                deltas.append(Delta(UB, start, b"", ub[start:stop].tobytes()))
        self.blocks[instr.block].append(instr, tuple(deltas))


def _stores(call: Call) -> tuple[Span, ...]:
    """Return every range that a call stores."""
    if call.execute is None or not call.core.executing:
        return ()
    if not call.hidden:
        return call.stores
    return (*(Span(UB, None, start, stop) for start, stop in call.hidden), *call.stores)


def _completed(ub: np.ndarray, stored: tuple[Delta, ...]) -> tuple[Delta, ...]:
    """Return the deltas of a call with the bytes before it, which `ub` holds; store them there."""
    whole = tuple(
        each
        if each.space != UB
        else Delta(UB, each.start, ub[each.start : each.stop].tobytes(), each.after)
        for each in stored
    )
    for each in whole:
        _store(ub, each)
    return whole


def _store(ub: np.ndarray, delta: Delta) -> None:
    if delta.space == UB:
        ub[delta.start : delta.stop] = np.frombuffer(delta.after, np.uint8)
