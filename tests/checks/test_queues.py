"""Random kernels whose queues are right never give a finding; without one edge they give a race.

An edge is removed from the records, not from the run: the bytes are those of the correct kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendsim import Options
from ascendsim.ascendc import *
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import TOOLS, Checks
from tests.kit import gm, make_job

TILE = 64
STEPS = st.lists(
    st.tuples(st.sampled_from(("Add", "Muls", "MulsR", "Mask")), *[st.integers(0, 7)] * 3),
    min_size=1,
    max_size=6,
)


@dataclass(frozen=True)
class Plan:
    """A kernel: queues with their numbers of buffers, temporaries, and what Compute does."""

    inputs: tuple[int, ...]
    outputs: int
    temporaries: int
    tiles: int
    steps: list[tuple[str, int, int, int]]
    soc: str
    blocks: int


PLANS = st.builds(
    Plan,
    st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(1, 5),
    STEPS,
    st.sampled_from(("ascend910b1", "ascend950")),
    st.integers(1, 3),
)


class Kernel:
    """CopyIn, Compute and CopyOut with queues; everything that is read was written before."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.pipe = plan, TPipe()
        self.queues = [TQue(TPosition.VECIN, number) for number in plan.inputs]
        self.out = TQue(TPosition.VECOUT, plan.outputs)
        self.buffers = [TBuf(TPosition.VECCALC) for _ in range(plan.temporaries)]
        self.mask = TBuf(TPosition.VECCALC)
        for queue, number in zip(self.queues, plan.inputs, strict=True):
            self.pipe.InitBuffer(queue, number, 4 * TILE)
        self.pipe.InitBuffer(self.out, plan.outputs, 4 * TILE)
        for buffer in self.buffers:
            self.pipe.InitBuffer(buffer, 4 * TILE)
        self.pipe.InitBuffer(self.mask, 32)

    def tile(self, x, out, start):
        for queue in self.queues:
            a = queue.AllocTensor(float32)
            DataCopy(a, x[start:], TILE)
            queue.EnQue(a)
        sources = [queue.DeQue(float32) for queue in self.queues]
        result = self.out.AllocTensor(float32)
        Muls(result, sources[0], 2.0, TILE)
        values = [*sources, result]
        for buffer in self.buffers:
            values.append(buffer.Get(float32))
            Duplicate(values[-1], 1.0, TILE)
        for step in self.plan.steps:
            self.step(values, *step)
        for a in sources:
            Add(result, result, a, TILE)
        self.out.EnQue(result)
        for queue, a in zip(self.queues, sources, strict=True):
            queue.FreeTensor(a)
        result = self.out.DeQue(float32)
        DataCopy(out[start:], result, TILE)
        self.out.FreeTensor(result)

    def step(self, values, kind, *picks):
        dst, one, two = (values[pick % len(values)] for pick in picks)
        if kind == "Add":
            Add(dst, one, two, TILE)
        elif kind == "Muls":
            Muls(dst, one, 0.5, TILE)
        elif kind == "MulsR":
            Muls(dst, one, 0.5, [0xFF0F, 0], 1, UnaryRepeatParams(1, 1, 8, 8))
        else:
            mask = self.mask.Get(uint8_t)
            CompareScalar(mask, one, 1.0, CMPMODE.GE, TILE)
            Select(dst, mask, one, 3.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, TILE)


class Without:
    """An observer between: the calls `name` of one queue wait for nothing."""

    def __init__(self, checks: Checks, name: str, buffer: str) -> None:
        self.checks, self.name, self.buffer = checks, name, buffer
        self.removed = 0

    def before(self, instr):
        wanted = instr.call.name == self.name and instr.call.accesses[0].holder.name == self.buffer
        if wanted and instr.waits:
            self.removed += len(instr.waits)
            instr = instr._replace(waits=())
        self.checks.before(instr)

    def after(self, instr):
        pass


def findings(plan: Plan, name: str = "", buffer: str = ""):
    """Return what the checks find, and how many waits were removed."""
    length = TILE * plan.tiles

    def body(x, out):
        kernel = Kernel(plan)
        first = GetBlockIdx() * length
        for k in range(plan.tiles):
            kernel.tile(gm(x)[first:], gm(out)[first:], k * TILE)

    x = {"x": np.ones(length * plan.blocks, np.float32)}
    shape = {"out": ((length * plan.blocks,), "float32")}
    options = Options(select_scratch="off")
    job = make_job(body, x, shape, soc=plan.soc, block_dim=plan.blocks, options=options)
    checks = Checks(TOOLS, options, defined=("x",))
    between = Without(checks, name, buffer)
    launch(job, Readers((between,)))
    checks.end_launch()
    return checks.all(), between.removed


@settings(max_examples=40, deadline=None)
@given(PLANS)
def test_correct_queues_give_no_finding(plan):
    assert findings(plan) == ([], 0)


@settings(max_examples=25, deadline=None)
@given(PLANS, st.sampled_from(("DeQue", "AllocTensor")), st.sampled_from(("queues", "out")))
def test_without_one_edge_there_is_a_race(plan, name, buffer):
    found, removed = findings(plan, name, buffer)
    codes = {each.code for each in found}
    assert bool(codes) == bool(removed)
    first = "raw" if name == "DeQue" else "war"
    assert not codes or f"racecheck:{first}-inter-pipe" in codes
    assert all(code.startswith("racecheck:") for code in codes)
