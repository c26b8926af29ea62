"""Random kernels: correct ones agree in all orders; without one edge a race shows, or nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendsim import Options
from ascendsim.engine.conflicts import conflicts, races
from ascendsim.engine.order import NOTHING, Rules, order_of
from ascendsim.engine.sequences import sequences
from ascendsim.explore.sync_points import sync_points
from ascendsim.explore.witness import differing
from ascendsim.launch.staging import staged
from tests.kit import make_job
from tests.sync.machine import Machine
from tests.sync.programs import N, plans

ORDERS = 12
few = settings(max_examples=25, deadline=None)


def job_of(plan, soc, options=None):
    x = np.random.default_rng(1).standard_normal(plan.tiles * plan.inputs * N).astype(np.float32)
    return make_job(
        plan.body,
        {"x": x},
        {"out": ((plan.tiles * N,), "float32")},
        soc=soc,
        options=options or Options(),
    )


def differs(stage, order, seed):
    want = stage.run(stage.program_order())
    tried = sequences(stage.records, order, ORDERS, seed)
    return [name for name, sequence in tried if differing(stage, want, sequence)]


@few
@given(plans(), st.sampled_from(["ascend910b1", "ascend950"]), st.integers(0, 99))
def test_correct_queues_never_race_and_all_schedules_agree(plan, soc, seed):
    with staged(job_of(plan, soc), 0) as stage:
        found = conflicts(stage.records)
        rules = Rules.of(stage.core.soc.arch, auto_sync=not plan.barriers)
        order = order_of(stage.records, found, rules)
        assert list(races(found, order)) == []
        assert differs(stage, order, seed) == []


@few
@given(plans(), st.sampled_from(["ascend910b1", "ascend950"]), st.data())
def test_without_one_edge_a_race_is_found_or_no_schedule_differs(plan, soc, data):
    with staged(job_of(plan, soc), 0) as stage:
        point = data.draw(st.sampled_from(sync_points(stage.records)))
        found = conflicts(stage.records)
        rules = Rules.of(stage.core.soc.arch, auto_sync=not plan.barriers)
        order = order_of(stage.records, found, rules, point.removed)
        if not list(races(found, order)):
            assert differs(stage, order, data.draw(st.integers(0, 99))) == []


@settings(max_examples=15, deadline=None)
@given(plans(), st.booleans(), st.data())
def test_the_graph_is_what_an_event_machine_does(plan, in_order, data):
    """Whatever is held back, exactly those start that the graph does not put behind it."""
    with staged(job_of(plan, "ascend910b1"), 0) as stage:
        rules = Rules(vector=in_order, scalar=False)
        order = order_of(stage.records, conflicts(stage.records), rules, NOTHING)
        instructions = [i for i, r in enumerate(stage.records) if r.call.geometry is not None]
        for held in data.draw(st.lists(st.sampled_from(instructions), min_size=3, max_size=8)):
            started = Machine(stage.records, rules, held).run()
            waiting = {i for i in instructions if order.before[i] >> held & 1}
            assert started == set(instructions) - waiting
