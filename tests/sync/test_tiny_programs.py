"""Tiny programs against every outcome that an event machine of its own finds for them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ascendsim import Options
from ascendsim.engine.conflicts import conflicts, races
from ascendsim.engine.order import Rules, order_of
from ascendsim.engine.schedules import Difference
from ascendsim.engine.sequences import sequences, swapped
from ascendsim.launch.staging import staged
from ascendsim.observe.checks import Checks
from tests.kit import make_job
from tests.sync.tiny import CELLS, LANES, SPOILED, Step, body, outcomes, programs

NBYTES, ORDERS = CELLS * LANES * 4, 50
X = np.arange(101, 101 + LANES * CELLS, dtype=np.float32)


class Tried:
    """What is said of a tiny program, and what its orders leave.

    possible : all outcomes, None when there are too many ways
    sampled : outcomes of the orders of `check --schedules`; swaps : of those of single races
    """

    def __init__(self, steps, in_order):
        options = Options(auto_sync="on" if in_order else "off", ub_fill="0x3f")
        job = make_job(body(steps), {"x": X}, {"out": ((LANES,), "float32")}, options=options)
        with staged(job, 0) as stage:
            self.possible = outcomes(steps, b"\x3f" * NBYTES + X.tobytes(), in_order)
            found = conflicts(stage.records)
            order = order_of(stage.records, found, Rules.of(stage.core.soc.arch, in_order))
            self.races = list(races(found, order))
            self.correct = outcome(stage, stage.program_order())
            tried = sequences(stage.records, order, ORDERS, 1, self.races)
            self.sampled = {outcome(stage, each) for _, each in tried}
            swaps = (each for race in self.races for _, each in swapped(order, *race))
            self.swaps = {outcome(stage, each) for each in swaps}
            checks = Checks(("racecheck",), options)
            for record in stage.records:
                checks.before(record)
            self.findings = checks.all()


def outcome(stage, sequence):
    left = stage.run(sequence)
    return SPOILED if isinstance(left, Difference) else left["x"][:NBYTES].tobytes()


def judge(tried):
    """Hold the analysis against the machine; return what kind of program it was."""
    if tried.possible is None:
        return "too many ways"
    assert tried.correct in tried.possible
    assert tried.sampled <= tried.possible, "an order that the tokens do not permit"
    assert tried.swaps <= tried.possible, "an exchange that the tokens do not permit"
    assert bool(tried.findings) == bool(tried.races)
    if tried.possible == {tried.correct}:
        assert tried.sampled <= {tried.correct}
        return "race without effect" if tried.races else "no race"
    assert tried.races, "another outcome, and no race is known"
    assert tried.sampled - {tried.correct}, "another outcome that no order showed"
    return "race with effect"


def check_many(examples):
    """Judge random programs; return how many there were of each kind."""
    kinds = Counter()

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(programs(), st.booleans())
    def each(steps, in_order):
        scalar = any(step.kind == "get" for step in steps)
        kinds[judge(Tried(steps, in_order and not scalar))] += 1

    each()
    return kinds


def test_orders_are_permitted_and_find_whatever_may_differ():
    kinds = check_many(60)
    assert all(kinds[kind] >= 2 for kind in ("no race", "race without effect", "race with effect"))


@pytest.mark.slow
def test_many_more():
    check_many(200)


def adds(source, target, number=3):
    return Step("adds", "V", (source,), (target,), number)


def test_a_lost_update_is_shown():
    """Both read before either stores: no order of whole instructions leaves that."""
    tried = Tried(
        [adds(0, 0), adds(0, 0), Step("barrier", "ALL"), Step("out", "MTE3", (0,), (3,))], 0
    )
    assert judge(tried) == "race with effect"
    assert len(tried.possible) == 2


def test_what_takes_three_exchanges_is_shown():
    steps = [
        adds(2, 1),
        Step("out", "MTE3", (1,), (3,)),
        Step("muls", "V", (2,), (0,), 2),
        adds(0, 2),
        Step("out", "MTE3", (2,), (4,)),
    ]
    tried = Tried(steps, False)
    assert judge(tried) == "race with effect"
    assert len(tried.possible) >= 6


@pytest.mark.parametrize("wrong", ["no edges", "no barrier"])
def test_a_wrong_graph_does_not_pass(monkeypatch, wrong):
    """Orders that tokens forbid, or races that are overlooked, fail the judgement."""
    from ascendsim.engine import order as graph

    steps = [adds(0, 0), Step("barrier", "V"), adds(0, 0), Step("barrier", "ALL")]
    steps += [Step("out", "MTE3", (0,), (3,))]
    assert judge(Tried(steps, False)) == "no race"
    name = "_all_pipes" if wrong == "no barrier" else "add"
    monkeypatch.setattr(graph._Builder, name, lambda self, at: ())
    if wrong == "no barrier":
        monkeypatch.setattr(graph._Builder, name, lambda self, at: [])
    with pytest.raises(AssertionError):
        judge(Tried(steps, False))
