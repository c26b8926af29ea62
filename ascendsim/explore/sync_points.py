"""The synchronisations that a kernel's source holds, found in the records of one block.

A point is one place in the source: a PipeBarrier, or the two ends of an edge that a flag or a queue
makes. Each stands for all records that came from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ascendsim.engine.conflicts import conflicts, races
from ascendsim.engine.order import Order, Removed, Rules, order_of
from ascendsim.engine.schedules import Stage
from ascendsim.enums import PIPE
from ascendsim.launch.blocks import short_name
from ascendsim.record import Call, Instr


class Place(NamedTuple):
    """One record, as it is told: the call, the pipe that runs it, the kernel's line, its number."""

    name: str
    pipe: str
    file: str
    line: int
    seq: int
    text: str

    @classmethod
    def of(cls, instr: Instr) -> Place:
        """Return the place of a record."""
        call, where = instr.call, instr.where
        pipe = call.pipe.name.removeprefix("PIPE_")
        return cls(call.name, pipe, short_name(where.file), where.line, instr.seq, where.text)

    def to_json(self) -> dict[str, Any]:
        """Return the place as JSON."""
        where = {"file": self.file, "line": self.line}
        return {"call": self.name, "pipe": self.pipe, "seq": self.seq, "where": where}


@dataclass(frozen=True, slots=True)
class SyncPoint:
    """A barrier (`other` is None), or an edge from `where` (set, EnQue, FreeTensor) to `other`.

    spans : (position that signals, position that waits) of every record of this point
    removed : what its removal takes out of the order
    """

    what: str
    where: Place
    other: Place | None
    spans: tuple[tuple[int, int], ...]
    removed: Removed


def sync_points(records: Sequence[Instr]) -> list[SyncPoint]:
    """Return all points in the order in which the block first meets them."""
    found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    signals: dict[int, int] = {}
    for at, instr in enumerate(records):
        signals.update((token.serial, at) for token in instr.signals)
        if instr.call.name == "PipeBarrier" and instr.seq >= 0:
            found[_what(instr, None), instr.where, None].append((at, at))
        for token in instr.waits:
            start = records[signals[token.serial]]
            key = _what(start, instr), start.where, instr.where
            found[key].append((signals[token.serial], at))
    return [_point(records, key[0], spans) for key, spans in found.items()]


def _point(records: Sequence[Instr], what: str, spans: list[tuple[int, int]]) -> SyncPoint:
    first, last = spans[0]
    if first == last:
        removed = Removed(barriers=frozenset(at for at, _ in spans))
        return SyncPoint(what, Place.of(records[first]), None, tuple(spans), removed)
    serials = {t.serial for at, _ in spans for t in records[at].signals}
    waited = {t.serial for _, at in spans for t in records[at].waits}
    removed = Removed(tokens=frozenset(serials & waited))
    ends = Place.of(records[first]), Place.of(records[last])
    return SyncPoint(what, *ends, tuple(spans), removed)


def _what(start: Instr, end: Instr | None) -> str:
    call = start.call
    if end is None:
        return f"PipeBarrier({call.fields['mode']})"
    if call.name == "SetFlag":
        return f"SetFlag/WaitFlag({call.fields['mode']})"
    return f"{call.accesses[0].holder.name} {call.name}/{end.call.name}"


def with_barriers(stage: Stage, rules: Rules) -> tuple[Stage, list[Place]]:
    """Return the stage with one barrier of V wherever two of its instructions race on V.

    Also returns, for each such place in the source, the instruction that the barrier stands before.
    """
    places: list[Place] = []
    while True:
        conflicting = conflicts(stage.records)
        order = order_of(stage.records, conflicting, rules)
        racing = _first_on_vector(stage, conflicting, order)
        if racing is None:
            return stage, places
        places.append(Place.of(racing))
        stage = _inserted(stage, racing)


def _first_on_vector(stage: Stage, conflicting: list[int], order: Order) -> Instr | None:
    for race in races(conflicting, order):
        both = [stage.records[at] for at in race]
        if all(instr.call.pipe is PIPE.PIPE_V for instr in both):
            return both[1]
    return None


def _inserted(stage: Stage, before: Instr) -> Stage:
    """Return the stage with a barrier before every record that came from the place of `before`."""
    records: list[Instr] = []
    scalars: dict[int, bytes] = {}
    barrier = Call("PipeBarrier", PIPE.PIPE_V, stage.core, (), fields={"mode": "PIPE_V"})
    for at, instr in enumerate(stage.records):
        if instr.where == before.where and instr.call.name == before.call.name:
            records.append(Instr(-1, instr.block, barrier, None, (), (), instr.where))
        if at in stage.scalars:
            scalars[len(records)] = stage.scalars[at]
        records.append(instr)
    return Stage(stage.core, records, scalars, stage.start)
