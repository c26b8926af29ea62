"""An analysis that always says 'redundant', or always 'a race', is wrong about known edges.

Of barriers, flags and queue edges at least ten each are known to carry weight, and ten each are
known not to, read off the sources (test_minimize) or made so here.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.engine.order import NOTHING, Order, order_of
from ascendsim.explore import minimize
from ascendsim.host.job import make_job as job_of_op
from tests.kit import Ub, gm, make_job
from tests.sync.test_minimize import BARRIER, KNOWN, LOAD, NOT, request

N = 64
FLAG = "SetFlag/WaitFlag({})".format


def flag(event, number):
    SetFlag(event, number)
    WaitFlag(event, number)


def ladder(x, out):
    """Order each step by one synchronisation, or by two that stand in for each other."""
    u = Ub(a=(float32, N), b=(float32, N))
    a, b = u["a"], u["b"]
    DataCopy(a, gm(x), N)
    flag(HardEvent.MTE2_V, 0)
    Adds(b, a, 1.0, N)
    PipeBarrier(PIPE_V)
    PipeBarrier(PIPE_V)
    Muls(a, b, 3.0, N)
    PipeBarrier(PIPE_V)
    PipeBarrier(PIPE_V)
    Add(b, a, a, N)
    PipeBarrier(PIPE_V)
    PipeBarrier(PIPE_V)
    Adds(a, b, 5.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    SetFlag(HardEvent.V_MTE3, 1)
    WaitFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 1)
    DataCopy(gm(out), a, N)
    flag(HardEvent.MTE3_V, 0)
    Adds(a, b, 7.0, N)
    flag(HardEvent.V_MTE3, 2)
    DataCopy(gm(out)[N:], a, N)


LADDER = [
    (FLAG("MTE2_V"), LOAD),
    *[(BARRIER, NOT)] * 6,
    *[(FLAG("V_MTE3"), NOT)] * 2,
    (FLAG("MTE3_V"), LOAD),
    (FLAG("V_MTE3"), LOAD),
]


def kind_of(what):
    return what.partition("(")[0] if "(" in what else "queue"


@cache
def jobs():
    """Return (job, what is known of its edges) of all kernels."""
    x = np.arange(1, N + 1, dtype=np.float32)
    found = [(make_job(ladder, {"x": x}, {"out": ((2 * N,), "float32")}), LADDER)]
    for (name, dtype, soc), known in KNOWN.items():
        op, arrays, til = request(name, dtype, soc)
        found.append((job_of_op(op, arrays, til, soc, 0, asim.Options()), known))
    return found


def wrong():
    """Return how many verdicts of each kind are not what is known."""
    found = Counter()
    for job, known in jobs():
        sync = minimize.minimized(job, inputs=1).sync
        assert [each.point.what for each in sync] == [what for what, _ in known]
        for each, (what, verdict) in zip(sync, known, strict=True):
            found[kind_of(what)] += each.off.verdict != verdict
    return found


def test_ten_of_each_kind_are_known_either_way():
    edges = Counter((kind_of(what), v) for _, known in jobs() for what, v in known)
    assert len(edges) == 6
    assert min(edges.values()) >= 10, edges


def test_the_analysis_is_right_about_all():
    assert not any(wrong().values())


def nothing_matters(records, conflicting, rules, removed=NOTHING):
    """Return the order with what is removed still in it."""
    return order_of(records, conflicting, rules)


def everything_matters(records, conflicting, rules, removed=NOTHING):
    """Return no order at all as soon as something is removed."""
    order = order_of(records, conflicting, rules)
    if removed == NOTHING:
        return order
    return Order([()] * len(order.edges), [0] * len(order.before))


@pytest.mark.parametrize("analysis", [nothing_matters, everything_matters])
def test_a_constant_answer_is_found_out(monkeypatch, analysis):
    monkeypatch.setattr(minimize, "order_of", analysis)
    monkeypatch.setattr(minimize, "witness_of", lambda *arguments: None)  # it takes long
    found = wrong()
    assert min(found[kind] for kind in ("PipeBarrier", "SetFlag/WaitFlag", "queue")) >= 10, found
