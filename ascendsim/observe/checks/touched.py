"""The exact bytes that a call touches, in a form that is quick to compare.

A contiguous operand is two numbers. Of a masked one the bytes are kept as a mask over its extent,
of a strided copy as ranges, so that operands that lie between each other's lanes do not meet.
`Call.ranges` says the same, one range at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.observe.checks.ranges import Ranges, meet
from ascendsim.record import UB, Access, Call

MAX_KEPT = 4096  # calls whose bytes are remembered


class Touched:
    """Bytes [start, stop) of `holder` (of UB: None), all of them, those of `mask` or of `ranges`.

    `atomic` names operation and type of a copy that combines with what is there, else "".
    """

    __slots__ = ("_mask", "access", "atomic", "holder", "ranges", "start", "stop", "writes")

    def __init__(
        self,
        access: Access,
        start: int,
        stop: int,
        mask: np.ndarray | None,
        ranges: Ranges | None = None,
    ) -> None:
        self.access, self.start, self.stop, self._mask = access, start, stop, mask
        self.holder: Any = None if access.space == UB else access.holder
        self.writes, self.atomic = access.writes, ""
        self.ranges = ranges  # those of a strided copy, whose extent in GM may be large

    @property
    def memory(self) -> str:
        """The name of the memory: "UB", or that of a GM tensor."""
        return UB if self.holder is None else self.holder.name

    @property
    def mask(self) -> np.ndarray | None:
        """Which bytes from `start` on are touched, bool; None for all."""
        if self._mask is None and self.ranges is not None:
            mask = np.zeros(self.stop - self.start, bool)
            for start, stop in zip(*self.ranges, strict=True):
                mask[start - self.start : stop - self.start] = True
            self._mask = mask
        return self._mask

    @property
    def index(self) -> Any:
        """What to index the bytes of the whole memory with, after `[start:stop]`."""
        mask = self.mask
        return slice(None) if mask is None else mask

    def meets(self, other: Touched) -> tuple[int, int] | None:
        """Return the first and behind the last byte that both touch, None when there is none."""
        if self.holder is not other.holder:
            return None
        start, stop = max(self.start, other.start), min(self.stop, other.stop)
        if start >= stop:
            return None
        if self.holder is not None and (self.ranges or other.ranges):
            return meet(self._sorted(), other._sorted())
        if self.mask is None and other.mask is None:
            return start, stop
        both = np.ones(stop - start, bool)
        for each in (self, other):
            if each.mask is not None:
                both &= each.mask[start - each.start : stop - each.start]
        found = np.flatnonzero(both)
        return (start + int(found[0]), start + int(found[-1]) + 1) if found.size else None

    def spans(self) -> list[tuple[int, int]]:
        """Return the contiguous pieces (start, stop)."""
        if self.ranges is not None:
            return list(zip(self.ranges[0].tolist(), self.ranges[1].tolist(), strict=True))
        if self.mask is None:
            return [(self.start, self.stop)]
        edges = np.flatnonzero(np.diff(self.mask.astype(np.int8), prepend=0, append=0)) + self.start
        return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]

    def _sorted(self) -> Ranges:
        """Return the bytes as ranges."""
        if self.ranges is not None:
            return self.ranges
        pieces = np.array(self.spans(), np.int64)
        return pieces[:, 0], pieces[:, 1]


class TouchedBytes:
    """Finds the bytes of calls, and remembers those of bound calls."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Call, tuple[Touched, ...]]] = {}

    def of(self, call: Call) -> tuple[Touched, ...]:
        """Return what `call` touches, operand by operand; operands without a byte are left out."""
        kept = self._kept.get(id(call))
        if kept is not None:
            return kept[1]
        found = tuple(t for t in (_touched(call, access) for access in call.accesses) if t)
        operation = call.fields.get("atomic", "initial")
        if operation != "initial":
            for each in found:
                each.atomic = f"{operation} {each.access.dtype}" if each.writes else ""
        if call.address:  # a bound call comes again; those of copies do not
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            self._kept[id(call)] = call, found
        return found


def _touched(call: Call, access: Access) -> Touched | None:
    shape: Any = call.geometry
    if shape is None:
        return None
    blocks = getattr(shape, "blocks", None)
    if isinstance(blocks, int):  # a copy, or one element
        return _blocks(access, blocks)
    parts = getattr(shape, "parts", None)
    part = shape if parts is None else parts[access.role]
    if isinstance(part, tuple):
        return _painted(access, np.array(part, np.int64).reshape(-1, 2) + access.start)
    if part.counted or access.element == 0 or part.contiguous:
        spans = part.ranges(access)
        return Touched(access, spans[0][0], spans[0][1], None) if spans else None
    starts = lane_starts(part, access).reshape(-1)[: part.count]  # counter mode may end within
    return _painted(access, np.stack([starts, starts + access.element], 1))


def lane_starts(shape: Any, access: Access) -> np.ndarray:
    """Return the byte offset in UB of each active lane: int64 (repeats, active lanes)."""
    lanes = active_lanes(shape)
    per_block = DATABLOCK_BYTES // access.element
    inside = lanes // per_block * access.block_stride + lanes % per_block * access.element
    repeats = np.arange(shape.repeats, dtype=np.int64)[:, None] * access.repeat_stride
    return access.start + repeats + inside  # type: ignore[no-any-return]


def active_lanes(shape: Any) -> np.ndarray:
    """Return the lanes of a repeat that its mask selects, int64."""
    bits = np.frombuffer(shape.mask.to_bytes(16, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(bits, bitorder="little"))


def _blocks(access: Access, blocks: int) -> Touched | None:
    nbytes, pitch, start = access.element, access.block_stride, access.start
    if not blocks or not nbytes:
        return None
    if blocks == 1 or pitch == nbytes:
        return Touched(access, start, start + blocks * nbytes, None)
    starts = start + np.arange(blocks, dtype=np.int64) * pitch
    if pitch > nbytes:
        return Touched(access, start, int(starts[-1]) + nbytes, None, (starts, starts + nbytes))
    return _painted(access, np.stack([starts, starts + nbytes], 1))


def _painted(access: Access, spans: np.ndarray) -> Touched | None:
    """Return the bytes of spans (start, stop), int64 (n, 2); they may overlap."""
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not spans.size:
        return None
    start, stop = int(spans[:, 0].min()), int(spans[:, 1].max())
    if len(spans) == 1:
        return Touched(access, start, stop, None)
    steps = np.zeros(stop - start + 1, np.int32)
    np.add.at(steps, spans[:, 0] - start, 1)
    np.add.at(steps, spans[:, 1] - start, -1)
    mask = np.cumsum(steps[:-1]) > 0
    return Touched(access, start, stop, None if mask.all() else mask)
