"""Reductions, moved elements and waiting blocks in the timeline."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim import soc as socs
from ascendsim.ascendc import *
from ascendsim.explore.study import alone
from ascendsim.launch import recorded, scheduled
from ascendsim.observe.timeline.steps import BARRIER
from tests.kit import Ub, gm, make_job

CALLS = {
    "WholeReduceSum": lambda u: WholeReduceSum(u["b"], u["a"], 64, 8, 1, 1, 8),
    "WholeReduceMax": lambda u: WholeReduceMax(u["b"], u["a"], 64, 8, 1, 1, 8),
    "BlockReduceSum": lambda u: BlockReduceSum(u["b"], u["a"], 8, 64, 1, 1, 8),
    "PairReduceSum": lambda u: PairReduceSum(u["b"], u["a"], 8, 64, 1, 1, 8),
    "ReduceSum": lambda u: ReduceSum(u["b"], u["a"], u["t"], 512),
    "ReduceMax": lambda u: ReduceMax(u["b"], u["a"], u["t"], 512, True),
    "Copy": lambda u: Copy(u["b"], u["a"], 64, 8, CopyRepeatParams()),
    "Brcb": lambda u: Brcb(u["b"], u["a"], 8, BrcbRepeatParams(1, 8)),
    "CreateVecIndex": lambda u: CreateVecIndex(u["b"], 0, 512),
    "Gather": lambda u: Gather(u["b"], u["a"], u["t"].ReinterpretCast(uint32), 0, 512),
    "GatherMask": lambda u: GatherMask(u["b"], u["a"], 1, False, 0, GatherMaskParams(1, 8, 8, 0)),
}


def timed(body, soc="ascend910b1", **request):
    job = make_job(body, {"x": np.zeros(512, np.float32)}, {"out": ((512,), "float32")}, soc,
                   **request)  # fmt: skip
    return alone(scheduled(job, recorded(job)), job.ub_bytes)


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend910_93", "ascend950"])
@pytest.mark.parametrize("name", CALLS)
def test_costs_come_from_the_chip(name, soc):
    def body(x, out):
        u = Ub(a=(float32, 512), b=(float32, 512), t=(float32, 512))
        CALLS[name](u)

    timeline = timed(body, soc)
    (work,) = [w for w in timeline.launch.blocks[0].stream.recorder.table if w.name == name]
    cost = socs.load(soc).ops[name].cost
    assert work.busy == pytest.approx(cost.fixed + cost.rate("float32") * 8, abs=1e-4)
    assert work.low


def test_blocks_that_wait():
    def body(x, out):
        u = Ub(a=(float32, 64))
        DataCopy(u["a"], gm(x), 64)
        SyncAll()
        InitOutput(gm(out), 64)
        SetAtomicAdd(float32)
        DataCopy(gm(out), u["a"], 64)
        SetAtomicNone()

    timeline = timed(body, block_dim=4)
    (text,) = timeline.to_json()["not_predicted"]
    assert "SyncAll" in text
    recorder = timeline.launch.blocks[0].stream.recorder
    assert recorder.kinds.count(BARRIER) == 2  # it arrives and leaves
    assert [w.shared for w in recorder.writes] == [True, True]
    assert len(timeline.launch.blocks) == 1  # all blocks do the same


def test_nothing_is_left_out_otherwise():
    def body(x, out):
        DataCopy(Ub(a=(float32, 64))["a"], gm(x), 64)

    assert "not_predicted" not in timed(body).to_json()
