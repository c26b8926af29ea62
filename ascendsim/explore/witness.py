"""Two instructions without an order between them, and an order of the block that shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ascendsim.engine.conflicts import GRAVITY, Race, Shared, shared
from ascendsim.engine.order import Order
from ascendsim.engine.schedules import Difference, Stage
from ascendsim.engine.sequences import MAX_RACING, led_by, swapped
from ascendsim.explore.sync_points import Place
from ascendsim.record import UB, Instr

PER_PLACE = 3  # races between the same two lines that are tried: first, middle, last
Inputs = Sequence[Mapping[str, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Hazard:
    """Two records that share bytes: RAW, WAR or WAW in program order, `first` the earlier one.

    buffer : the queue or TBuf that holds the bytes in UB, the tensor in GM
    """

    first: Place
    last: Place
    shared: Shared
    buffer: str

    @classmethod
    def of(cls, stage: Stage, race: Race) -> Hazard:
        """Return the hazard of two records of a stage."""
        first, last = (stage.records[at] for at in race)
        found = shared(first.call, last.call)
        assert found is not None
        return cls(Place.of(first), Place.of(last), found, _holder(first, found))

    def to_json(self) -> dict[str, Any]:
        """Return the hazard as JSON."""
        return {
            "kind": self.shared.kind,
            "first": self.first.to_json(),
            "last": self.last.to_json(),
            "space": self.shared.space,
            "buffer": self.buffer,
            "bytes": [self.shared.start, self.shared.stop],
        }

    def __str__(self) -> str:
        kind, space, start, stop = self.shared
        place = f"{space}[{start:#x}, {stop:#x})"
        place = f"{self.buffer} {place}" if space == UB else place
        return (
            f"{kind} {place}: {self.first.name} line {self.first.line} ({self.first.pipe}), "
            f"then {self.last.name} line {self.last.line} ({self.last.pipe})"
        )


class Witness(NamedTuple):
    """An order that leaves other bytes: input (number), what it does, the first wrong element."""

    input: int
    order: str
    difference: Difference

    def to_json(self) -> dict[str, Any]:
        """Return the witness as JSON."""
        tensor, element, dtype, want, got = self.difference
        first = {"tensor": tensor, "element": element, "dtype": dtype, "want": want, "got": got}
        return {"input": self.input, "order": self.order, "first": first}

    def __str__(self) -> str:
        tensor, element, dtype, want, got = self.difference
        return (
            f"{tensor}[{element}] is {got:#x} instead of {want:#x} ({dtype}, input {self.input}, "
            f"{self.order})"
        )


def witness_of(
    stage: Stage, order: Order, pairs: Sequence[Race], inputs: Inputs
) -> tuple[Race, Witness] | None:
    """Return the first pair that leaves other bytes when swapped, with its witness.

    Of many pairs between the same two lines a few are tried, on every input. Inputs with which the
    kernel would read other scalars than it was recorded with are left out.
    """
    chosen = few(stage, pairs)
    for number, arrays in enumerate(inputs):
        stage.supply(arrays)
        want = stage.run(stage.program_order())
        if isinstance(want, Difference):
            continue
        for race in chosen:
            for name, sequence in swapped(order, *race):
                found = differing(stage, want, sequence)
                if found is not None:
                    return race, Witness(number, name, found)
    return None


def differing(
    stage: Stage, want: Mapping[str, np.ndarray], sequence: Sequence[int]
) -> Difference | None:
    """Return what an order leaves differently from `want`, None when nothing."""
    got = stage.run(sequence)
    return got if isinstance(got, Difference) else stage.first_difference(want, got)


def decisive(
    stage: Stage, order: Order, pairs: Sequence[Race], sequence: Sequence[int]
) -> tuple[Race, Difference] | None:
    """Return a pair whose order alone makes the difference, near an order that shows one.

    Instructions that race are exchanged one by one until they stand as in the program. At some
    exchange the difference vanishes: before and after it the block differs in that pair only.
    """
    racing, known = {at for pair in pairs for at in pair}, set(pairs)
    chosen = [at for at in sequence if at in racing]
    want = stage.run(stage.program_order())
    if len(chosen) > MAX_RACING or isinstance(want, Difference):
        return None
    found = differing(stage, want, led_by(order, chosen))
    while found is not None:
        at = next((k for k in range(len(chosen) - 1) if chosen[k] > chosen[k + 1]), None)
        if at is None:
            return None
        last, first = chosen[at : at + 2]
        chosen[at : at + 2] = first, last
        if Race(first, last) in known:
            now = differing(stage, want, led_by(order, chosen))
            if now is None:
                return Race(first, last), found
            found = now
    return None


def few(stage: Stage, pairs: Sequence[Race]) -> list[Race]:
    """Return some of the pairs between each two lines, reads of what was written first."""
    groups: dict[Any, list[Race]] = defaultdict(list)
    for race in pairs:
        groups[tuple(stage.records[at].where for at in race)].append(race)
    found = [race for group in groups.values() for race in _spread(group)]
    return sorted(found, key=lambda race: GRAVITY.index(Hazard.of(stage, race).shared.kind))


def _holder(instr: Instr, found: Shared) -> str:
    """Return the name of what holds the shared bytes of a record."""
    for access in instr.call.accesses:
        same = found.space in (access.space, getattr(access.holder, "name", ""))
        if same and any(a < found.stop and found.start < b for a, b in instr.call.ranges(access)):
            return str(access.holder.name)
    return found.space


def _spread(group: list[Race]) -> Iterator[Race]:
    size = len(group)
    for at in sorted({0, size // 2, size - 1})[:PER_PLACE]:
        yield group[at]
