"""Keep what every call of a block changed, so that time can run both ways.

An entry is a record and the bytes that it stored, before and after. Memory is bounded by the
bytes that are stored, by `blocks=`, and by `last=`: entries that drop out are folded into the
block's start.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from ascendsim.record import GM, UB, Instr


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
    """All entries of one block, in program order; `ub` is the UB before the first of them."""

    def __init__(self, ub: np.ndarray, limit: int | None) -> None:
        self.ub = ub
        self.dropped = 0
        self.limit = limit
        self.entries: deque[Entry] = deque()

    def append(self, entry: Entry) -> None:
        """Add an entry; the oldest one is folded into the start beyond the limit."""
        self.entries.append(entry)
        if self.limit is not None and len(self.entries) > self.limit:
            for delta in self.entries.popleft().deltas:
                if delta.space == UB:
                    self.ub[delta.start : delta.stop] = np.frombuffer(delta.after, np.uint8)
            self.dropped += 1


class Recorder:
    """An observer that keeps a BlockRecording per block."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.blocks: dict[int, BlockRecording] = {}
        self._before: list[bytes] = []

    def before(self, instr: Instr) -> None:
        """Keep the bytes that the call is about to store over."""
        if instr.block not in self.blocks:
            start = instr.call.core.ub.array.copy()
            self.blocks[instr.block] = BlockRecording(start, self.last)
        self._before = [memory[a:b].tobytes() for _, memory, a, b in _stores(instr)]

    def after(self, instr: Instr) -> None:
        """Keep the bytes that the call stored."""
        deltas = tuple(
            Delta(space, start, before, memory[start:stop].tobytes())
            for before, (space, memory, start, stop) in zip(
                self._before, _stores(instr), strict=True
            )
        )
        self.blocks[instr.block].append(Entry(instr, deltas))


def _stores(instr: Instr) -> list[tuple[str, np.ndarray, int, int]]:
    """Return (space, memory, start, stop) of every range that a call stores."""
    call = instr.call
    if call.execute is None:
        return []
    ub = call.core.ub.array
    found = [(UB, ub, start, stop) for start, stop in call.hidden]
    for access in call.accesses:
        if access.writes:
            in_gm = access.space == GM
            space, memory = (access.holder.name, access.holder.memory) if in_gm else (UB, ub)
            found += [(space, memory, start, stop) for start, stop in call.ranges(access)]
    return found
