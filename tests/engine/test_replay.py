"""Replay leaves the bytes, warnings and evidence of step mode, or says why it did not run."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.engine import replay, threads
from ascendsim.errors import BoundsError, QueueError
from ascendsim.launch.plans import forget_plans, plan_of
from tests.engine.kit import assert_same, job_of, ran, random_bits
from tests.kit import Ub, gm

OUT = {"out": ((256,), "float32")}


@pytest.fixture(autouse=True)
def no_plans():
    forget_plans()


def data(seed=0, count=256, T=float32):
    return {"x": random_bits(T, count, seed)}


def check(body, inputs, outputs=OUT, mode="replay", **request):
    """Run in both modes; later data of the same shape runs the kept plan."""
    for seed in (None, 1, 2):
        if seed is not None:
            inputs = {n: random_bits(as_type(a), a.size, seed) for n, a in inputs.items()}
        job = job_of(body, inputs, outputs, **request)
        got = ran(job, mode)
        assert (got.mode, got.fallback) == (mode, "")
        assert_same(got, ran(job, "step"))
    return got


def as_type(array):
    from ascendsim.dtypes import dtype

    return dtype(array.dtype)


def tiles(x, out):
    u, start = Ub(a=(float32, 64), b=(float32, 64)), 64 * GetBlockIdx()
    DataCopy(u["a"], gm(x)[start:], 64)
    Muls(u["b"], u["a"], 3.0, 64)
    Adds(u["b"], u["b"], -0.0, 64)
    DataCopy(gm(out)[start:], u["b"], 64)


def test_blocks_and_places():
    check(tiles, data(), block_dim=4)


def test_masks_repeats_and_strides():
    def body(x, out):
        u = Ub(a=(float32, 256), b=(float32, 256), m=(uint8_t, 64))
        DataCopy(u["a"], gm(x), 256)
        Duplicate(u["b"], -0.0, 256)
        Add(u["b"], u["a"], u["a"], [0x5555, 0], 4, BinaryRepeatParams(1, 1, 1, 8, 8, 8))
        Muls(u["b"], u["b"], 0.5, 64, 2, UnaryRepeatParams(2, 1, 16, 8))
        CompareScalar(u["m"], u["b"], 0.0, CMPMODE.GT, 256)
        Select(u["b"], u["m"], u["b"], 7.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 256)
        DataCopy(gm(out), u["b"], 256)

    check(body, data())


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
@pytest.mark.parametrize("pad", [(0, 0, 0), (0, 1, 0), (1, 3, 5), (1, 0, 2), (0, 2, 0)])
@pytest.mark.parametrize("T", [float32, half, uint8_t])
def test_padding_reaches_gm(soc, pad, T):
    is_pad, left, right = pad

    def body(x, out):
        u = Ub(a=(T, 256))
        params = DataCopyPadParams(bool(is_pad), left, right, 9)
        DataCopyPad(u["a"], gm(x), DataCopyParams(3, 11 * T.nbytes, 1, 1), params)
        DataCopy(gm(out), u["a"], 256)

    out = {"out": ((256,), T.name)}
    check(body, data(T=T), out, soc=soc)


def test_stale_bytes_are_the_fill():
    def body(x, out):
        u = Ub(a=(float32, 256))
        DataCopy(u["a"], gm(x), 64)
        DataCopy(gm(out), u["a"], 128)  # 64 of them hold what UB held
        DataCopy(u["a"][128:], gm(x), 128)

    for fill in ("poison", "0x3c", "random"):
        check(body, data(), block_dim=3, options={"ub_fill": fill}, seed=5)


def test_scalar_stores():
    def body(x, out):
        u = Ub(a=(float32, 64), i=(int32_t, 8))
        DataCopy(u["a"], gm(x), 64)
        u["a"].SetValue(3, 1.5)
        u["i"].SetValue(0, GetBlockIdx() + 7)
        DataCopy(gm(out)[64 * GetBlockIdx() :], u["a"], 64)
        gm(out).SetValue(64 * GetBlockIdx(), 2.5)

    check(body, data(), block_dim=3)


def test_blocks_that_meet_in_gm_run_in_order(monkeypatch):
    monkeypatch.setattr(replay, "threads_for", lambda traffic: 2)

    def body(x, out):
        u, start = Ub(a=(float32, 64)), 32 * GetBlockIdx()
        DataCopy(u["a"], gm(x)[start:], 64)
        Muls(u["a"], u["a"], 1.0 + GetBlockIdx(), 64)
        DataCopy(gm(out)[start:], u["a"], 64)

    got = check(body, data(), block_dim=5)
    assert any(w.startswith("coverage: out") for w in got.result.warnings)
    assert not plan_of(job_of(body, data(), OUT, block_dim=5)).plan.independent


def test_threads_leave_the_same_bytes(monkeypatch):
    monkeypatch.setattr(replay, "threads_for", lambda traffic: 3)
    monkeypatch.setattr(threads, "machine_threads", lambda: 3)
    check(tiles, data(), block_dim=4)


def test_inputs_of_any_strides_and_unwritten_outputs():
    def body(x, out):
        u = Ub(a=(float32, 64))
        DataCopy(u["a"], gm(x), 64)
        DataCopy(gm(out)[128:], u["a"], 64)

    wide = random_bits(float32, 512, 3)[::2]
    job = job_of(body, {"x": wide}, OUT)
    got = ran(job, "replay")
    assert_same(got, ran(job, "step"))
    assert any("never written" in w for w in got.result.warnings)


def test_an_input_that_the_kernel_writes_is_not_changed():
    def body(x, out):
        u = Ub(a=(float32, 64))
        Duplicate(u["a"], 4.0, 64)
        DataCopy(gm(x), u["a"], 64)
        DataCopy(u["a"], gm(x), 64)
        DataCopy(gm(out), u["a"], 64)

    job = job_of(body, data(), OUT)
    before = job.inputs["x"].copy()
    assert_same(ran(job, "replay"), ran(job, "step"))
    assert before.tobytes() == job.inputs["x"].tobytes()


def test_a_kernel_that_reads_data_runs_as_step():
    def body(x, out):
        u = Ub(a=(float32, 64))
        DataCopy(u["a"], gm(x), 64)
        Adds(u["a"], u["a"], float(u["a"].GetValue(0)), 64)
        DataCopy(gm(out), u["a"], 64)

    job = job_of(body, {"x": np.arange(256, dtype=np.float32)}, OUT)
    for mode in ("replay", "fused"):
        got = ran(job, mode)
        assert got.mode == "step"
        assert "GetValue" in got.fallback
        assert got.fallback.endswith("ran as step")
        assert "test_replay.py:" in got.fallback
        assert_same(got, ran(job, "step"))


@pytest.mark.parametrize("mode", ["auto", "step", "replay", "fused"])
def test_errors_are_those_of_step_mode(mode):
    def late(x, out):
        u, start = Ub(a=(float32, 64)), 64 * GetBlockIdx()
        DataCopy(u["a"], gm(x)[start:], 64)
        DataCopy(gm(out)[start:], u["a"], 64)  # block 4 leaves the tensor

    def freed(x, out):
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(queue, 1, 256)
        a = queue.AllocTensor(float32)
        queue.FreeTensor(a)
        DataCopy(a, gm(x), 64)

    for body, error in ((late, BoundsError), (freed, QueueError)):
        texts = set()
        for way in (mode, "step"):
            with pytest.raises(error) as caught:
                ran(job_of(body, data(), OUT, block_dim=5), way)
            texts.add(str(caught.value))
        assert len(texts) == 1
        assert "test_replay.py:" in texts.pop()


FACTOR = 2.0


class Config:
    factors: ClassVar = [1.0]


def test_a_constant_that_changes_is_noticed(monkeypatch):
    inner = 1.0

    def body(x, out):
        u = Ub(a=(float32, 64))
        DataCopy(u["a"], gm(x), 64)
        Muls(u["a"], u["a"], FACTOR * Config.factors[0] * inner, 64)
        DataCopy(gm(out), u["a"], 64)

    job = job_of(body, {"x": np.ones(256, np.float32)}, {"out": ((64,), "float32")})

    def first():
        return float(ran(job, "replay").result.outputs["out"][0])

    assert first() == first() == 2.0
    kept = plan_of(job)
    assert plan_of(job) is kept
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert first() == 3.0
    monkeypatch.setattr(Config, "factors", [5.0])
    assert first() == 15.0
    Config.factors[0] = 7.0
    assert first() == 21.0
    inner = 2.0
    assert first() == 42.0


def test_auto_steps_first_and_replays_then():
    job = job_of(tiles, data(), OUT, block_dim=4)
    first, second = ran(job, "auto"), ran(job, "auto")
    assert first.mode == "step"
    assert "first launch" in first.fallback
    assert second.mode in ("replay", "fused")
    assert_same(second, first)


def test_records_are_made_in_step_mode():
    images = {}
    job = job_of(tiles, data(), OUT, block_dim=4)
    got = ran(job, "replay", ub_sink=lambda core, ub: images.__setitem__(core, ub.copy()))
    assert got.mode == "step"
    assert "UB images" in got.fallback
    assert len(images) == 4


def test_blocks_that_do_nothing():
    def body(x, out):
        if GetBlockIdx() < 2:
            tiles(x, out)

    check(body, data(count=128), {"out": ((128,), "float32")}, block_dim=4)

    def nothing(x, out):
        pass

    check(nothing, data(), block_dim=2)
