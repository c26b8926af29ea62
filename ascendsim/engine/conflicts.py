"""Which records of a block share bytes, at least one of them writing.

Byte ranges are exact: strides and masks count, so interleaved spans do not conflict. The hidden
scratch of Select belongs to that one instruction and its own barriers (code), so it is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ascendsim.engine.order import Order, positions, touches
from ascendsim.record import UB, Call, Instr

Span = tuple[Any, int, int, bool]  # space, start, stop, written


GRAVITY = ("RAW", "WAW", "WAR")  # of several hazards of a pair the first of these is told


class Shared(NamedTuple):
    """Bytes that two records share: RAW, WAR or WAW, and where (`space` is "UB" or a tensor)."""

    kind: str
    space: str
    start: int
    stop: int


class Race(NamedTuple):
    """Two records that share bytes and have no order: positions, the earlier one first."""

    first: int
    last: int


def conflicts(records: Sequence[Instr]) -> list[int]:
    """Return for each record the set of earlier ones (as bits) that it conflicts with.

    Atomic copies of one operation and type do not conflict with each other.
    """
    spans = _Spans()
    edges: dict[Any, set[int]] = defaultdict(set)
    for instr in records:
        for space, start, stop, _ in spans.of(instr.call):
            edges[space] |= {start, stop}
    cuts = {space: sorted(found) for space, found in edges.items()}
    writers: dict[Any, int] = defaultdict(int)
    readers: dict[Any, int] = defaultdict(int)
    atomics: dict[Any, int] = defaultdict(int)
    found = []
    for at, instr in enumerate(records):
        before, bit = 0, 1 << at
        touched = list(_pieces(spans.of(instr.call), cuts))
        for piece, writes in touched:
            before |= writers[piece] | (readers[piece] if writes else 0)
        atomic = instr.call.fields.get("atomic", "initial")
        if atomic != "initial":
            key = atomic, instr.call.fields["dtype"]
            before &= ~atomics[key]
            atomics[key] |= bit
        found.append(before)
        for piece, writes in touched:
            (writers if writes else readers)[piece] |= bit
    return found


def races(conflicting: Sequence[int], order: Order, within: Order | None = None) -> Iterator[Race]:
    """Yield the pairs that conflict and have no order, later records first grown.

    within : only pairs that are ordered there
    """
    for last, bits in enumerate(conflicting):
        open_pairs = bits & ~order.before[last]
        if within is not None:
            open_pairs &= within.before[last]
        for first in reversed(positions(open_pairs)):
            yield Race(first, last)


def shared(one: Call, other: Call) -> Shared | None:
    """Return the first bytes that two calls share, the hazard as seen in program order."""
    spans = _Spans()
    found = []
    for space, start, stop, writes in spans.of(one):
        for where, begin, end, also in spans.of(other):
            low, high = max(start, begin), min(stop, end)
            if space == where and low < high and (writes or also):
                kind = {(True, False): "RAW", (False, True): "WAR"}.get((writes, also), "WAW")
                name = UB if space == UB else space.name
                found.append(Shared(kind, name, low, high))
    return min(found, key=lambda each: GRAVITY.index(each.kind), default=None)


class _Spans:
    """The byte ranges of calls; a call is bound once and recorded often."""

    def __init__(self) -> None:
        self.known: dict[int, list[Span]] = {}

    def of(self, call: Call) -> list[Span]:
        if not touches(call):
            return []
        found = self.known.get(id(call))
        if found is None:
            found = self.known[id(call)] = [
                (UB if access.space == UB else access.holder, start, stop, access.writes)
                for access in call.accesses
                for start, stop in call.ranges(access)
            ]
        return found


def _pieces(spans: list[Span], cuts: dict[Any, list[int]]) -> Iterator[tuple[Any, bool]]:
    for space, start, stop, writes in spans:
        edges = cuts[space]
        for number in range(bisect_left(edges, start), bisect_left(edges, stop)):
            yield (space, number), writes
