"""Remove every synchronisation of a kernel in turn: some are redundant, some carry weight.

    from ascendsim.explore.minimize import minimize_sync
    print(minimize_sync(op, arrays, tiling))

A synchronisation is redundant when every two instructions that share bytes keep an order without
it; the answer shows the chain that remains. Otherwise it carries weight, and the answer shows two
instructions, the bytes, and an order of the block that leaves other bytes in GM. Each is removed
alone: two that are redundant may stand in for each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ascendsim.engine.conflicts import Race, conflicts, races
from ascendsim.engine.order import Rules, order_of, positions
from ascendsim.engine.schedules import Stage
from ascendsim.enums import PIPE
from ascendsim.explore.inputs import seeded_inputs
from ascendsim.explore.schedules import blocks_to_try, rules_of
from ascendsim.explore.sync_points import Place, SyncPoint, sync_points, with_barriers
from ascendsim.explore.witness import Hazard, Inputs, Witness, witness_of
from ascendsim.host import Op, Tiling, load
from ascendsim.host.job import make_job
from ascendsim.launch import Job
from ascendsim.launch.staging import staged
from ascendsim.options import Options
from ascendsim.view import sync_text

SEEDED_INPUTS = 16
REDUNDANT, LOAD_BEARING = "redundant", "load-bearing"
_ENDS = ("AllocTensor", "FreeTensor")
_SELECT = (
    "Select of this chip holds barriers of its own in the published header, which would order "
    "these two; no manual promises them, so they do not count here"
)
_ISSUE = (
    "that what the scalar unit did is done before a later instruction is issued is assumed, no "
    "manual promises it: keep this flag"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a kernel without one of its synchronisations.

    hazard : load-bearing: two instructions that lose their order; redundant: the nearest two that
        it stands between (None: it orders nothing that shares bytes)
    path : redundant: what still orders them, as (record, kind of the edge that leaves it)
    witness : load-bearing: an order that shows it (None: the bytes were equal on every input)
    races : how many pairs lose their order
    """

    verdict: str
    hazard: Hazard | None = None
    path: tuple[tuple[Place, str], ...] = ()
    witness: Witness | None = None
    races: int = 0
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        hazard = None if self.hazard is None else self.hazard.to_json()
        path = [place.to_json() | {"edge": kind} for place, kind in self.path]
        witness = None if self.witness is None else self.witness.to_json()
        known = {"verdict": self.verdict, "hazard": hazard, "path": path, "witness": witness}
        return known | {"races": self.races, "note": self.note}


@dataclass(frozen=True, slots=True)
class Judged:
    """One synchronisation with its verdicts for auto_sync=off and on."""

    point: SyncPoint
    off: Verdict
    on: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return an entry of `sync` in the document of `ascendsim check --json`."""
        where, other = self.point.where, self.point.other
        ends = {"file": where.file, "line": where.line}
        if other is not None:
            ends |= {"other_file": other.file, "other_line": other.line}
        return (
            {"what": self.point.what, "where": ends}
            | self.off.to_json()
            | {"auto_sync_on": self.on.to_json()}
        )


@dataclass(frozen=True, slots=True)
class Minimized:
    """The answer. Print it, or take it apart.

    added : instructions before which auto_sync=off needs a barrier that the kernel lacks
    racing : pairs without an order before anything is removed, on other pipes than V alone
    once : queues of which no buffer is used a second time: their FreeTensor orders nothing yet
    """

    op: str
    soc: str
    block: int
    inputs: int
    sync: tuple[Judged, ...]
    added: tuple[Place, ...]
    racing: tuple[Hazard, ...]
    once: tuple[str, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the `sync` part of the document of `ascendsim check --json`."""
        return [each.to_json() for each in self.sync]

    def __str__(self) -> str:
        return sync_text.minimized(self)


def minimize_sync(
    op: Op | str,
    arrays: Mapping[str, np.ndarray],
    tiling: Tiling,
    *,
    soc: str | None = None,
    block: int = 0,
    seed: int = 0,
    inputs: int = SEEDED_INPUTS,
    options: Options | None = None,
) -> Minimized:
    """Judge every barrier, flag pair and queue edge of one block.

    Witnesses are looked for on `arrays` and on inputs of the seeds seed + 1 ... (`inputs` in all).
    Take a shape of at least three tiles per block, else buffers are never used again.

    Raises
    ------
    RequestError
        When there is no such block.
    UnsupportedError
        When blocks wait for one another, or the block has too many records.
    AscendError
        When the kernel breaks a rule.
    """
    op = load(op)
    job = make_job(op, arrays, tiling, soc, seed, options or Options())
    return minimized(job, block, seed, inputs)


def minimized(job: Job, block: int = 0, seed: int = 0, inputs: int = SEEDED_INPUTS) -> Minimized:
    """Do what `minimize_sync` says, for a job."""
    blocks_to_try((block,), job.block_dim)
    shapes = {name: array.shape for name, array in job.inputs.items()}
    data: Inputs = [job.inputs, *seeded_inputs(job.input_types, shapes, seed, inputs - 1)]
    with staged(job, block) as stage:
        off = rules_of(stage, replace(job.options, auto_sync="off"))
        on = rules_of(stage, replace(job.options, auto_sync="on"))
        base, added = with_barriers(stage, off)
        judges = _Judge(base, off, data), _Judge(stage, on, data)
        of_on = {_key(point): point for point in sync_points(stage.records)}
        sync = [
            Judged(point, judges[0].verdict(point), judges[1].verdict(of_on[_key(point)]))
            for point in sync_points(base.records)
        ]
        racing = [Hazard.of(base, race) for race in judges[0].racing]
        once = _used_once(stage)
    return Minimized(
        job.name, job.soc.name, block, len(data), tuple(sync), tuple(added), tuple(racing), once
    )


def _used_once(stage: Stage) -> tuple[str, ...]:
    """Return the queues that free buffers and never take one of them again."""
    calls = [(r.call.accesses[0].holder.name, r) for r in stage.records if r.call.name in _ENDS]
    again = {name for name, record in calls if record.call.name == "AllocTensor" and record.waits}
    freed = dict.fromkeys(name for name, record in calls if record.call.name == "FreeTensor")
    return tuple(name for name in freed if name not in again)


def _key(point: SyncPoint) -> Any:
    return point.what, point.where, point.other


class _Judge:
    """Gives verdicts on the points of one stage under one set of rules."""

    def __init__(self, stage: Stage, rules: Rules, inputs: Inputs) -> None:
        self.stage, self.rules, self.inputs = stage, rules, inputs
        self.conflicting = conflicts(stage.records)
        self.order = order_of(stage.records, self.conflicting, rules)
        self.racing = list(races(self.conflicting, self.order))

    def verdict(self, point: SyncPoint) -> Verdict:
        """Return what becomes of the block without `point`."""
        order = order_of(self.stage.records, self.conflicting, self.rules, point.removed)
        lost = list(races(self.conflicting, order, within=self.order))
        if not lost:
            pair = self._ordered(point)
            if pair is None:
                return Verdict(REDUNDANT)
            chain = order.path(*pair)
            path = tuple((Place.of(self.stage.records[e.source]), e.kind) for e in chain)
            by_issue = self.stage.records[pair.first].call.pipe is PIPE.PIPE_S
            note = _ISSUE if by_issue else ""
            return Verdict(REDUNDANT, Hazard.of(self.stage, pair), path, note=note)
        found = witness_of(self.stage, order, lost, self.inputs)
        race, witness = found or (lost[0], None)
        hazard = Hazard.of(self.stage, race)
        return Verdict(LOAD_BEARING, hazard, (), witness, len(lost), self._note(race))

    def _ordered(self, point: SyncPoint) -> Race | None:
        """Return the nearest pair that shares bytes across the point, from its pipe to its pipe."""
        records = self.stage.records
        for start, stop in point.spans:
            source, target = records[start].call.pipe, records[stop].call.pipe
            for last in range(stop + 1, len(records)):
                if records[last].call.pipe is not target:
                    continue
                earlier = self.conflicting[last] & ((1 << start) - 1)
                for first in reversed(positions(earlier)):
                    if records[first].call.pipe is source:
                        return Race(first, last)
        return None

    def _note(self, race: Race) -> str:
        """Say where a chip is kinder than its manual promises."""
        calls = [self.stage.records[at].call for at in race]
        if self.stage.core.soc.arch != "c220" or {c.pipe.name for c in calls} != {"PIPE_V"}:
            return ""
        first, last = calls
        modes = ("VSEL_CMPMASK_SPR", "VSEL_TENSOR_TENSOR_MODE")
        behind = (
            first.name == "Select" and first.fields["mode"] in modes and "count" in first.fields
        )
        return _SELECT if behind or last.name == "Select" else ""
