"""What carries weight, shown again without the graph: by the event machine of machine.py.

The synchronisation is taken out of the records, and the first instruction of the hazard never
ends. Then the second one must start, and what started, run before what did not, must leave other
bytes in GM on one of the 16 inputs.
"""

from __future__ import annotations

import pytest

import ascendsim as asim
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.engine.order import Rules
from ascendsim.explore.inputs import seeded_inputs
from ascendsim.explore.sync_points import sync_points, with_barriers
from ascendsim.explore.witness import differing
from ascendsim.host.job import make_job
from ascendsim.launch.staging import staged
from tests.sync.machine import Machine
from tests.sync.test_minimize import CASES, LOAD, answer, request


def started_while_held(stage, rules, removed, held):
    """Return which positions start without what is removed when `held` never ends."""
    kept = [at for at in range(len(stage.records)) if at not in removed.barriers]
    records = [
        stage.records[at]._replace(
            waits=tuple(t for t in stage.records[at].waits if t.serial not in removed.tokens)
        )
        for at in kept
    ]
    return {kept[at] for at in Machine(records, rules, kept.index(held)).run()}


def position(stage, place):
    (at,) = [k for k, record in enumerate(stage.records) if record.seq == place.seq]
    return at


def shows_a_difference(stage, sequence, inputs):
    """Tell whether an order leaves other bytes than the program's on one of the inputs."""
    for arrays in inputs:
        stage.supply(arrays)
        if differing(stage, stage.run(stage.program_order()), sequence) is not None:
            return True
    return False


@pytest.mark.parametrize("auto_sync", [False, True])
@pytest.mark.parametrize(("name", "dtype", "soc"), CASES)
def test_the_machine_shows_what_carries_weight(name, dtype, soc, auto_sync):
    op, arrays, til = request(name, dtype, soc)
    types = {name: as_dtype(array.dtype) for name, array in arrays.items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    inputs = [arrays, *seeded_inputs(types, shapes, 0, 15)]
    with staged(make_job(op, arrays, til, soc, 0, asim.Options()), 0) as stage:
        rules = Rules.of(stage.core.soc.arch, auto_sync)
        stage, _ = with_barriers(stage, Rules.of(stage.core.soc.arch, False))
        points = {(point.what, point.where): point for point in sync_points(stage.records)}
        shown = 0
        for each in answer(name, dtype, soc).sync:
            verdict = each.on if auto_sync else each.off
            if verdict.verdict != LOAD:
                continue
            point = points[each.point.what, each.point.where]
            first, last = (position(stage, p) for p in (verdict.hazard.first, verdict.hazard.last))
            started = started_while_held(stage, rules, point.removed, first)
            assert last in started, point
            ahead = sorted(started - {first})
            behind = [at for at in stage.program_order() if at not in ahead]
            assert shows_a_difference(stage, ahead + behind, inputs), point
            shown += 1
        assert shown >= 2
