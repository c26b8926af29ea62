"""racecheck (vector clocks) and the happens-before graph (sets of bits) see the same races."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.dtypes import float32 as f32
from ascendsim.engine.conflicts import conflicts, races
from ascendsim.engine.order import NOTHING, Rules, order_of
from ascendsim.explore.inputs import random_inputs
from ascendsim.explore.sync_points import sync_points
from ascendsim.host.job import make_job
from ascendsim.launch.staging import staged
from ascendsim.observe.checks import Checks
from tests.sync.programs import plans
from tests.sync.test_random_programs import job_of

PING_PONG = str(Path(__file__).parents[1] / "ports" / "ping_pong")


def without(records, removed):
    """Return the records as if the kernel had not made what is removed."""
    return [
        record._replace(waits=tuple(t for t in record.waits if t.serial not in removed.tokens))
        for at, record in enumerate(records)
        if at not in removed.barriers
    ]


def by_clocks(stage, removed, options):
    """Return the pairs of calls, by number in the block, that racecheck reports."""
    checks = Checks(("racecheck",), options)
    for record in without(stage.records, removed):
        checks.before(record)
    return {(each.other_seq, each.seq) for each in checks.all()}


def by_graph(stage, removed, options):
    """Return the pairs without an order, by number in the block."""
    found = conflicts(stage.records)
    rules = Rules.of(stage.core.soc.arch, options.auto_sync == "on")
    order = order_of(stage.records, found, rules, removed)
    return {tuple(stage.records[at].seq for at in race) for race in races(found, order)}


def check(stage, removed, options):
    """Hold the two against each other; racecheck takes a race that it reported for ordered."""
    clocks, graph = by_clocks(stage, removed, options), by_graph(stage, removed, options)
    assert bool(clocks) == bool(graph)
    assert clocks <= graph
    if graph:  # the first second instruction of a race is the same
        assert min(b for _, b in clocks) == min(b for _, b in graph)


@settings(max_examples=40, deadline=None)
@given(plans(), st.sampled_from(["ascend910b1", "ascend950"]), st.booleans(), st.data())
def test_on_random_programs(plan, soc, auto_sync, data):
    options = asim.Options(auto_sync="on" if auto_sync else "off")
    with staged(job_of(plan, soc, options), 0) as stage:
        points = sync_points(stage.records)
        point = data.draw(st.sampled_from([None, *points]))
        check(stage, NOTHING if point is None else point.removed, options)


@pytest.mark.parametrize("name", ["hard_swish_grad", "hard_sigmoid_grad", "swish_grad", PING_PONG])
@pytest.mark.parametrize("auto_sync", ["on", "off"])
def test_on_every_synchronisation_of_the_kernels(name, auto_sync):
    op, options = asim.load(name), asim.Options(auto_sync=auto_sync)
    n = 384 if name == PING_PONG else 20_000
    til = op.tiling((n,), "float32", **({} if name == PING_PONG else {"cores": 1}))
    arrays = random_inputs(dict.fromkeys(op.definition.inputs, f32), (n,), 0)
    with staged(make_job(op, arrays, til, None, 0, options), 0) as stage:
        for removed in (NOTHING, *(point.removed for point in sync_points(stage.records))):
            check(stage, removed, options)
