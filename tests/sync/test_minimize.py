"""Verdicts on every synchronisation of known kernels, and the witnesses of those that count."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.engine.conflicts import conflicts
from ascendsim.engine.order import Rules, order_of
from ascendsim.engine.sequences import sequences
from ascendsim.explore.inputs import random_inputs
from ascendsim.explore.minimize import minimize_sync, minimized
from ascendsim.explore.sync_points import sync_points, with_barriers
from ascendsim.explore.witness import differing
from ascendsim.host.job import make_job as job_of_op
from ascendsim.launch.staging import staged
from tests.kit import Ub, gm, make_job

PING_PONG = str(Path(__file__).parents[1] / "ports" / "ping_pong")
LOAD, NOT = "load-bearing", "redundant"
BARRIER = "PipeBarrier(PIPE_V)"

# What each synchronisation is for, read off the source, in the order in which a block meets them.
# Two queues that are filled together stand in for each other: the copies of both lie before either
# EnQue, and both FreeTensor lie behind all that reads either.
SWISH_SLOPE = [
    (BARRIER, NOT),  # Compare to Select: the next barrier stands between them as well
    (BARRIER, LOAD),  # Adds to Select
    (BARRIER, LOAD),  # Select to Select
    (BARRIER, LOAD),  # Select to Mul: the last one of float32
]
SWISH_IN = [("inputQueueX EnQue/DeQue", NOT), ("inputQueueGrad EnQue/DeQue", NOT)]
SWISH_OUT = [
    ("outputQueueY EnQue/DeQue", LOAD),
    ("inputQueueX FreeTensor/AllocTensor", NOT),
    ("inputQueueGrad FreeTensor/AllocTensor", NOT),
    ("outputQueueY FreeTensor/AllocTensor", LOAD),
]
SIGMOID = [
    ("gradOutputQueue EnQue/DeQue", NOT),
    ("selfQueue EnQue/DeQue", NOT),
    ("gradInputQueue EnQue/DeQue", LOAD),
    ("gradOutputQueue FreeTensor/AllocTensor", NOT),
    ("selfQueue FreeTensor/AllocTensor", NOT),
    ("gradInputQueue FreeTensor/AllocTensor", LOAD),
]
SWISH_GRAD = [
    ("inQueueGrad EnQue/DeQue", NOT),
    ("inQueueX EnQue/DeQue", NOT),
    ("outQueueGrad EnQue/DeQue", LOAD),
    ("inQueueGrad FreeTensor/AllocTensor", NOT),
    ("inQueueX FreeTensor/AllocTensor", NOT),
    ("outQueueGrad FreeTensor/AllocTensor", LOAD),
]


def ping_pong(barrier):
    return [
        ("SetFlag/WaitFlag(V_MTE2)", NOT),  # nothing was read before the first copy
        ("SetFlag/WaitFlag(MTE2_V)", LOAD),
        (BARRIER, barrier),
        ("SetFlag/WaitFlag(MTE3_V)", NOT),  # nothing was copied out before the first result
        (BARRIER, barrier),
        ("SetFlag/WaitFlag(V_MTE3)", LOAD),
        ("SetFlag/WaitFlag(V_MTE2)", LOAD),
        ("SetFlag/WaitFlag(MTE3_V)", LOAD),
        ("SetFlag/WaitFlag(V_MTE2)", NOT),  # nothing is copied in behind the last wait
        ("SetFlag/WaitFlag(MTE3_V)", NOT),
    ]


KNOWN = {
    ("hard_swish_grad", "float32", "ascend910b1"): [
        (BARRIER, LOAD),  # constants to the first Compare
        *SWISH_IN,
        *SWISH_SLOPE,
        *SWISH_OUT,
    ],
    ("hard_swish_grad", "float16", "ascend910b1"): [
        (BARRIER, NOT),  # constants: the barrier behind the Casts stands between as well
        *SWISH_IN,
        (BARRIER, LOAD),  # Cast to Compare
        *SWISH_SLOPE,
        (BARRIER, LOAD),  # Mul to Cast
        *SWISH_OUT,
    ],
    ("hard_sigmoid_grad", "float32", "ascend950"): SIGMOID,
    ("hard_sigmoid_grad", "bfloat16", "ascend950"): SIGMOID,
    ("swish_grad", "float32", "ascend910b1"): SWISH_GRAD,
    ("swish_grad", "float16", "ascend910b1"): SWISH_GRAD,
    (PING_PONG, "float32", "ascend910b1"): ping_pong(LOAD),
    (PING_PONG, "float32", "ascend950"): ping_pong(NOT),  # V is in order there
}
TILE = {"swish_grad": ("tileDataNum", 128), "hard_swish_grad": ("ubFactor", 64)}
TILE["hard_sigmoid_grad"] = TILE["hard_swish_grad"]
CASES = [pytest.param(*key, id=f"{Path(key[0]).name}-{key[1]}-{key[2]}") for key in KNOWN]


@cache
def request(name, dtype, soc):
    """Return the operator, inputs and tiling of one block with four tiles or more."""
    op = asim.load(name)
    field, tile = TILE.get(name, ("tileLength", 64))
    n = 4 * tile if tile > 64 or name == PING_PONG else 3 * tile + 10
    n = 6 * tile if name == PING_PONG else n
    til = op.tiling((n,), dtype, soc=soc, cores=1, fixed={field: tile})
    assert til.block_dim == 1
    assert n >= 3 * tile
    return op, random_inputs({k: as_dtype(dtype) for k in op.definition.inputs}, (n,), 0), til


@cache
def answer(name, dtype, soc):
    return minimize_sync(*request(name, dtype, soc))


@pytest.mark.parametrize(("name", "dtype", "soc"), CASES)
def test_verdicts(name, dtype, soc):
    found = answer(name, dtype, soc)
    assert [(each.point.what, each.off.verdict) for each in found.sync] == KNOWN[name, dtype, soc]
    for each in found.sync:  # with auto_sync=on no barrier of V is needed
        on = NOT if each.point.what == BARRIER else each.off.verdict
        assert each.on.verdict == on
    assert found.racing == ()
    assert found.inputs == 16


def test_both_verdicts_are_well_represented():
    """Neither 'always redundant' nor 'always a race' gets through the table."""
    verdicts = [verdict for table in KNOWN.values() for _, verdict in table]
    assert min(verdicts.count(LOAD), verdicts.count(NOT)) >= 10


@pytest.mark.parametrize(("name", "dtype", "soc"), CASES)
def test_what_carries_weight_has_a_witness(name, dtype, soc):
    for each in answer(name, dtype, soc).sync:
        for verdict in (each.off, each.on):
            if verdict.verdict == LOAD:
                assert verdict.witness is not None, each.point
                assert verdict.witness.difference.want != verdict.witness.difference.got
                assert verdict.hazard.first.seq < verdict.hazard.last.seq
            else:
                assert verdict.witness is None


@pytest.mark.parametrize(("name", "dtype", "soc"), CASES)
@pytest.mark.parametrize("auto_sync", [False, True])
def test_without_what_is_redundant_no_order_differs(name, dtype, soc, auto_sync):
    """The verdict by the graph, held against many orders that are run."""
    op, arrays, til = request(name, dtype, soc)
    job = job_of_op(op, arrays, til, soc, 0, asim.Options())
    with staged(job, 0) as stage:
        rules = Rules.of(stage.core.soc.arch, auto_sync)
        stage, _ = with_barriers(stage, rules)
        found = conflicts(stage.records)
        want = stage.run(stage.program_order())
        judged = {(e.point.what, e.point.where): e for e in answer(name, dtype, soc).sync}
        for point in sync_points(stage.records):
            each = judged[point.what, point.where]
            verdict = (each.on if auto_sync else each.off).verdict
            order = order_of(stage.records, found, rules, point.removed)
            tried = sequences(stage.records, order, 20, 5)
            parted = [run for run, sequence in tried if differing(stage, want, sequence)]
            assert (verdict == LOAD) or not parted, point


def test_missing_barriers_are_listed():
    swish = answer("hard_swish_grad", "float32", "ascend910b1")
    assert [place.text for place in swish.added] == ["Adds(slope, slope, ONE_HALF, computeNum)"]
    assert answer("hard_sigmoid_grad", "float32", "ascend950").added == ()
    assert len(answer("swish_grad", "float32", "ascend910b1").added) == 11


def test_the_chain_that_remains_is_a_chain():
    (_, queue, *_) = answer("hard_swish_grad", "float32", "ascend910b1").sync
    steps = [(place.name, kind) for place, kind in queue.off.path]
    assert steps == [
        ("DataCopyPad", "pipe"),  # the copy is complete before the queue's flag is set
        ("EnQue", "pipe"),  # flags of a pipe are set in order
        ("EnQue", "token"),  # that of the other queue
        ("DeQue", "pipe"),  # which V waits for before its first instruction
    ]


def equal_bytes(x, out):
    """Keep two fills apart that store the same: without the barrier a race without effect."""
    u = Ub(a=(float32, 64), b=(float32, 64))
    Duplicate(u["a"], 1.0, 64)
    PipeBarrier(PIPE_V)
    Duplicate(u["a"], 1.0, 64)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(out), u["a"], 64)


def test_only_equal_bytes_lack_a_witness():
    x = np.ones(64, np.float32)
    job = make_job(equal_bytes, {"x": x}, {"out": ((64,), "float32")})
    barrier, flag = minimized(job).sync
    assert (barrier.off.verdict, barrier.off.witness) == (LOAD, None)
    assert barrier.off.hazard.shared.kind == "WAW"
    assert flag.off.witness is not None
    with staged(job, 0) as stage:  # the bytes: what either fill leaves in a cleared UB
        start, stop = barrier.off.hazard.shared[2:]
        images = []
        for place in (barrier.off.hazard.first, barrier.off.hazard.last):
            call = stage.records[place.seq].call
            stage.core.ub.array[:] = 0
            call.execute(call.address, call.encode(1.0) if call.encode else 1.0)
            images.append(stage.core.ub.array[start:stop].tobytes())
        assert images[0] == images[1] == x.tobytes()


def test_a_flag_of_the_scalar_unit_is_redundant_by_assumption_only():
    def body(x, out):
        u = Ub(a=(float32, 64))
        u["a"].SetValue(0, 1.0)
        SetFlag(HardEvent.S_MTE3, 0)
        WaitFlag(HardEvent.S_MTE3, 0)
        DataCopy(gm(out), u["a"], 64)

    x = np.ones(64, np.float32)
    found = minimized(make_job(body, {"x": x}, {"out": ((64,), "float32")}), inputs=1)
    (flag,) = found.sync
    assert (flag.off.verdict, flag.off.path[0][0].name) == (NOT, "SetValue")
    assert flag.off.note.endswith("keep this flag")
    assert "[note] that what the scalar unit did" in str(found)
