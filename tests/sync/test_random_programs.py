"""Random kernels: correct ones agree in all orders; without one edge a race shows, or nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ascendsim import Options
from ascendsim.engine.conflicts import conflicts, races
from ascendsim.engine.order import NOTHING, Rules, order_of
from ascendsim.engine.sequences import sequences
from ascendsim.explore.sync_points import sync_points
from ascendsim.explore.witness import differing
from ascendsim.launch import Readers, launch
from ascendsim.launch.staging import staged
from ascendsim.observe.checks import Checks
from tests.kit import make_job
from tests.sync.machine import Machine
from tests.sync.programs import plans

ORDERS = 20
few = settings(max_examples=25, deadline=None)


def job_of(plan, soc, options=None):
    x = np.random.default_rng(1).standard_normal(plan.x_size).astype(np.float32)
    return make_job(
        plan.body,
        {"x": x},
        {"out": ((plan.out_size,), "float32")},
        soc=soc,
        block_dim=plan.blocks,
        options=options or Options(),
    )


def differs(stage, order, pairs, seed):
    want = stage.run(stage.program_order())
    tried = sequences(stage.records, order, ORDERS, seed, pairs)
    return [name for name, sequence in tried if differing(stage, want, sequence)]


def graph_of(stage, plan, removed=NOTHING):
    """Return the order of a stage, and its races."""
    found = conflicts(stage.records)
    rules = Rules.of(stage.core.soc.arch, auto_sync=not plan.barriers)
    order = order_of(stage.records, found, rules, removed)
    return order, list(races(found, order))


@few
@given(plans(), st.sampled_from(["ascend910b1", "ascend950"]), st.integers(0, 99))
def test_correct_queues_never_race_and_all_schedules_agree(plan, soc, seed):
    with staged(job_of(plan, soc), 0) as stage:
        order, pairs = graph_of(stage, plan)
        assert pairs == []
        assert differs(stage, order, pairs, seed) == []


@few
@given(plans(blocks=3), st.sampled_from(["ascend910b1", "ascend950"]))
def test_correct_kernels_of_several_blocks_have_no_findings(plan, soc):
    """All blocks read tiles of their own, and store to tiles of their own."""
    options = Options(auto_sync="off" if plan.barriers else "on")
    job = job_of(plan, soc, options)
    checks = Checks(("memcheck", "racecheck", "synccheck"), options, defined=("x",))
    launch(job, Readers(checks=checks))
    # a strided call in place shares bytes in part: not a fault of order
    assert [each for each in checks.all() if each.code != "memcheck:overlap"] == []


def judged(plan, soc, removed, seed):
    """Take one edge out and say what becomes of the kernel."""
    with staged(job_of(plan, soc), 0) as stage:
        points = sync_points(stage.records)
        point = points[removed % len(points)]
        order, pairs = graph_of(stage, plan, point.removed)
        parted = differs(stage, order, pairs, seed)
        assert pairs or not parted, point
        return "redundant" if not pairs else "shown" if parted else "without effect"


def test_without_one_edge_a_race_is_found_or_no_schedule_differs():
    kinds = Counter()

    @settings(max_examples=60, deadline=None, phases=[Phase.generate])
    @given(
        plans(),
        st.sampled_from(["ascend910b1", "ascend950"]),
        st.integers(0, 50),
        st.integers(0, 9),
    )
    def each(plan, soc, removed, seed):
        kinds[judged(plan, soc, removed, seed)] += 1

    each()
    assert min(kinds["redundant"], kinds["shown"]) >= 6, kinds


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
