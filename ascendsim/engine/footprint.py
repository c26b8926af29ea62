"""Which bytes a launch touches: UB bytes that hold their first content, and the bytes of GM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascendsim.engine.lower import Entry
from ascendsim.engine.stream import NoPlanError, Stream
from ascendsim.record import GM, UB, Call

Spans = list[tuple[int, int]]


def stale_bytes(
    stream: Stream, entries: Sequence[Entry], ub_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yield the ranges of UB that a block reads before it wrote them.

    All else of UB needs no fill before the block: nothing of it can reach the result. Nor can the
    scratch that an instruction writes unasked, unless a buffer is laid over it later.

    Raises
    ------
    NoPlanError
        When one is, and is read before it is written.
    """
    written = np.zeros(ub_bytes, bool)
    stale = np.zeros(ub_bytes, bool)
    hidden = np.zeros(ub_bytes, bool)
    known: dict[Call, tuple[Spans, Spans]] = {}
    for number in sorted({entry.number for entry in entries}):
        call = stream.calls[number]
        spans = known.get(call)
        if spans is None:
            spans = known[call] = (_spans(call, False), _spans(call, True))
        for start, stop in spans[0]:
            if not written[start:stop].all():
                stale[start:stop] |= ~written[start:stop]
                written[start:stop] = True
        for start, stop in spans[1]:
            written[start:stop] = True
        for start, stop in call.hidden:
            hidden[start:stop] = True
            written[start:stop] = False
    if (stale & hidden).any():
        raise NoPlanError("a buffer lies over the scratch of an instruction and is read unwritten")
    edges = np.flatnonzero(np.diff(stale, prepend=False, append=False))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _spans(call: Call, writes: bool) -> Spans:
    return [
        span
        for access in call.accesses
        if access.space == UB and access.writes is writes
        for span in call.ranges(access)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """What a launch does with one GM tensor.

    reads, writes : int64 (spans, 3): start, stop, block, over all blocks
    reach : the byte behind the last that is read or written
    traffic : bytes read and written
    """

    reads: np.ndarray
    writes: np.ndarray
    reach: int
    traffic: int

    @staticmethod
    def of(reads: np.ndarray, writes: np.ndarray) -> Footprint:
        """Return the footprint of a tensor."""
        both = np.concatenate([reads, writes])
        traffic = int((both[:, 1] - both[:, 0]).sum())
        return Footprint(reads, writes, int(both[:, 1].max(initial=0)), traffic)


def footprint(
    calls: Sequence[Call | None],
    entries: np.ndarray,
    classes: Sequence[tuple[tuple[int, ...], int, int]],
    tensors: Mapping[str, int],
) -> dict[str, Footprint]:
    """Return the footprint of each GM tensor; arguments as in plan.py."""
    reads: dict[str, list[np.ndarray]] = {name: [] for name in tensors}
    writes: dict[str, list[np.ndarray]] = {name: [] for name in tensors}
    for blocks, first, last in classes:
        numbers = np.array(blocks, np.int64)
        for position in range(first, last):
            call, step = calls[position], int(entries[position, 2])
            for access in () if call is None else call.accesses:
                if access.space == GM:
                    table = writes if access.writes else reads
                    spans = np.array(call.ranges(access), np.int64).reshape(-1, 2)  # type: ignore[union-attr]
                    table[access.holder.name].append(_over(spans, numbers, step))
    return {n: Footprint.of(_joined(reads[n]), _joined(writes[n])) for n in tensors}


def independent(touched: Mapping[str, Footprint]) -> bool:
    """Tell whether the blocks of a launch may run in any order, or at once."""
    for each in touched.values():
        if each.writes.size and each.reads.size:
            return False
        order = each.writes[np.argsort(each.writes[:, 0], kind="stable")]
        meets = order[1:, 0] < np.maximum.accumulate(order[:, 1])[:-1]
        if (meets & (order[1:, 2] != order[:-1, 2])).any():
            return False
    return True


def _over(spans: np.ndarray, blocks: np.ndarray, step: int) -> np.ndarray:
    """Return the spans of one call in every block of its class."""
    moved = spans[None, :, :] + (step * (blocks - blocks[0]))[:, None, None]
    owner = np.broadcast_to(blocks[:, None, None], (*moved.shape[:2], 1))
    return np.concatenate([moved, owner], axis=2).reshape(-1, 3)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty((0, 3), np.int64)
