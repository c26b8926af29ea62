"""Sweeps: what kills a point, who computes it, and that valid points change time, never bytes."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError, TilingError
from ascendsim.explore import coverage, schedulers
from ascendsim.explore.sweep import Sweep, sweep
from ascendsim.host.job import timing_job
from ascendsim.launch import recorded
from ascendsim.options import Options
from tests.helpers import assert_same_bits

KERNELS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
TILE = {"hard_sigmoid_grad": "ubFactor", "hard_swish_grad": "ubFactor", "swish_grad": "tileDataNum"}

#: each block stores `piece` elements at block * step, in one run or (gap) every second 32 bytes
FOLDER = {
    "op_def.py": """
from ascendsim.host import OpDef
OP = OpDef("pieces", inputs=("x",), outputs=("out",), dtypes=("float32",), socs=("ascend910b1",))
""",
    "op_host.py": """
from ascendsim.host import CeilDiv, Tiling
def tiling(ctx, fixed={}):
    fields = {"piece": 64, "step": 64, "gap": 0, "scalar": 0} | fixed
    return Tiling(CeilDiv(ctx.n, 64), 0, fields, positive=("piece",))
""",
    "op_kernel.py": """
from ascendsim.ascendc import *
def pieces(x, out, workspace, tiling):
    source, target = GlobalTensor(float32), GlobalTensor(float32)
    start = GetBlockIdx() * tiling.step
    source.SetGlobalBuffer(x)
    target.SetGlobalBuffer(out[start:], tiling.piece)
    pipe, buf = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buf, 4096)
    local = buf.Get(float32)
    DataCopy(local, source, tiling.piece)
    if tiling.gap:
        blocks = tiling.piece // 16
        DataCopy(target, local, DataCopyParams(blocks, 1, 0, 1))
        DataCopy(target[8:], local, DataCopyParams(blocks, 1, 0, 1))
    else:
        DataCopy(target, local, tiling.piece)
    if tiling.scalar:
        target.SetValue(0, 1.0)
""",
}


@pytest.fixture
def pieces(tmp_path: Path) -> str:
    folder = tmp_path / "pieces"
    folder.mkdir()
    for name, text in FOLDER.items():
        (folder / name).write_text(text)
    return str(folder)


def small(op: str = "swish_grad", axes: Any = None, n: int = 100_000, **kwargs: Any) -> Sweep:
    axes = axes or {"tileDataNum": [64, 100, 512, 2048, 8176, 65536], "buffer_num": [1, 2, 9]}
    return sweep(op, (n,), "float16", axes, **kwargs)


@pytest.fixture(scope="module")
def found() -> Sweep:
    return small(workers=1)


def test_each_rejected_point_names_what_kills_it(found):
    reasons = {tuple(row.fields.values()): row.reason for row in found.rows if not row.valid}
    assert reasons[100, 2].startswith("tiling: tileDataNum = 100: a multiple of 16 is needed")
    assert reasons[64, 9].startswith("queue limits: op_kernel.py:")
    assert reasons[65536, 1].startswith("UB capacity: op_kernel.py:")
    assert set(found.rejected()) == {"tiling", "queue limits", "UB capacity"}
    assert sum(map(len, found.rejected().values())) == len(reasons)


def test_zero_is_a_rejected_point_and_not_a_failed_sweep():
    rows = small(axes={"tileDataNum": [0, 512]}, workers=1).rows
    assert [row.valid for row in rows] == [False, True]
    assert rows[0].reason.startswith("tiling: tileDataNum = 0")


def test_the_shipped_tiling_is_marked(found):
    assert found.shipped.fields == {"tileDataNum": 8176, "buffer_num": 2}
    assert [row.fields for row in found.rows if row.shipped] == [found.shipped.fields]
    cores = small(axes={"block_dim": [1, 48]}, workers=1)
    assert cores.shipped.fields == {"block_dim": 48}
    assert [row.shipped for row in cores.rows] == [False, True]
    assert [row.blocks for row in cores.rows] == [1, 48]


def test_a_row_is_what_time_says(found):
    op = asim.load("swish_grad")
    timeline = asim.time(op, op.tiling((100_000,), "float16", fixed={"tileDataNum": 512}))
    (row,) = (r for r in found.rows if r.fields == {"tileDataNum": 512, "buffer_num": 2})
    assert (row.aiv_us, row.bound, row.ub_used) == (
        timeline.aiv_us,
        timeline.bound,
        timeline.ub_used,
    )
    assert row.low < row.aiv_us < row.high
    assert 0.05 <= row.high / row.aiv_us - 1 <= 0.25


def test_ranking_and_pareto(found):
    ranked = found.ranked()
    times = [row.aiv_us for row in ranked]
    assert times == sorted(times)
    assert found.best(3) == ranked[:3]
    assert found.within_error(ranked[0])
    assert not found.within_error(ranked[-1])
    kept = found.pareto()
    for row, other in product(ranked, ranked):
        beaten = all(getattr(other, f) <= getattr(row, f) for f in ("aiv_us", "ub_used", "cores"))
        if beaten and other.aiv_us < row.aiv_us:
            assert row not in kept
    assert {row.ub_used for row in kept} >= {min(row.ub_used for row in ranked)}


def test_processes_give_the_rows_of_this_process(found, monkeypatch):
    monkeypatch.setattr(schedulers, "ALONE_SECONDS", 0.0)
    ticks: list[tuple[int, int]] = []
    assert small(workers=2, progress=lambda *tick: ticks.append(tick)) == found
    assert ticks[-1] == (18, 18)
    assert [done for done, _ in ticks] == sorted(done for done, _ in ticks)


@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_the_rows_of_this_process(found):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        assert cluster.scheduler_address.startswith("tcp://")
        assert small(scheduler=cluster.scheduler_address) == found


def test_a_cluster_that_is_not_there(monkeypatch):
    monkeypatch.setattr(schedulers, "CONNECT_SECONDS", 1)
    with pytest.raises(RequestError, match=r"tcp://127.0.0.1:9 (cannot be reached|needs dask)"):
        small(scheduler="tcp://127.0.0.1:9")


def test_a_variant_is_computed_here_and_nowhere_else(found):
    op = asim.load("swish_grad").variant(constants={"BUFFER_NUM": 1})
    axes = {"tileDataNum": [512]}
    (row,) = small(op, axes).rows
    (same,) = (r for r in found.rows if r.fields == {"tileDataNum": 512, "buffer_num": 1})
    assert row.aiv_us == same.aiv_us
    with pytest.raises(RequestError, match="exists in this process only"):
        small(op, axes, scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    ("axes", "kwargs", "text"),
    [
        ({"nosuch": [1]}, {}, "tiling field 'nosuch' is unknown; use one of smallCoreDataNum"),
        ({"block_dim": [0]}, {}, "block_dim = 0: use a whole number of 1 or more"),
        ({"buffer_num": [1.5]}, {}, r"buffer_num = 1.5: use a whole number"),
        ({"tileDataNum": []}, {}, "the sweep of tileDataNum has no values"),
        ({"tileDataNum": range(2000), "block_dim": range(1, 1000)}, {}, "at most 1000000"),
        ({"tileDataNum": [64]}, {"scheduler": "cluster"}, "use local or tcp://HOST:PORT"),
        ({"tileDataNum": [64]}, {"workers": 0}, "use 1 or more"),
        ({"tileDataNum": [64]}, {"soc": "ascend7"}, "SoC 'ascend7' is unknown"),
    ],
)
def test_a_sweep_that_makes_no_sense(axes, kwargs, text):
    with pytest.raises(RequestError, match=text):
        small(axes=axes, **kwargs)


def test_an_operator_that_refuses_everything():
    with pytest.raises(TilingError, match="an empty tensor is refused"):
        small(axes={"tileDataNum": [64]}, n=0)


def test_no_buffers_to_replace(pieces):
    with pytest.raises(RequestError, match="has no BUFFER_NUM to replace"):
        sweep(pieces, (640,), "float32", {"buffer_num": [1]})


def test_values_replaced_after_tiling():
    rows = small(axes={"tileDataNum": [512]}, blocks=3, workers=1).rows
    assert [(row.valid, row.reason) for row in rows] == [(False, "coverage")]
    assert rows[0].detail.startswith("out: ")


@pytest.mark.parametrize("how", [{}, {"gap": 1}, {"scalar": 1}])
def test_points_that_do_not_cover_the_tensor(pieces, how):
    axes = {"piece": [48, 64, 80], "step": [64]}
    rows = sweep(pieces, (640,), "float32", axes, settings=how, workers=1).rows
    scalar = "scalar" in how
    assert [row.valid for row in rows] == [False, not scalar, False]
    assert {row.reason for row in rows if not row.valid} <= {"coverage", rows[2].reason}
    assert "640 of 2560 bytes never written" in rows[0].detail
    if scalar:
        assert rows[1].detail == "out: 0 of 2560 bytes never written, 40 written more than once"


def test_overlap_is_no_cover_even_when_nothing_is_missing(pieces):
    (row,) = sweep(pieces, (640,), "float32", {"step": [56]}, workers=1).rows
    assert (row.valid, row.reason) == (False, "coverage")
    assert "288 written more than once" in row.detail


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [1, 1023, 20_001, 300_000])
def test_writes_of_two_blocks_tell_those_of_all(name, n):
    op = asim.load(name)
    job = timing_job(op, op.tiling((n,), "float16"), Options())
    shared, every = coverage.shared_writes(recorded(job)), coverage.recorded_writes(job)
    assert shared.keys() == every.keys() == {"out"}
    assert np.array_equal(bytes_of(shared["out"], n * 2), bytes_of(every["out"], n * 2))
    assert coverage.coverage_gaps(job, recorded(job)) == ""


def bytes_of(spans: np.ndarray, nbytes: int) -> np.ndarray:
    """How many times each byte is written."""
    times = np.zeros(nbytes + 64, np.int64)
    for start, stop in spans:
        times[start:stop] += 1
    return times


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "dtype", ["float32", "float16", pytest.param("bfloat16", marks=pytest.mark.slow)]
)
def test_valid_points_give_the_bytes_of_the_shipped_tiling(name, dtype):
    shape = (4, 5003)
    axes = {TILE[name]: [64, 320, 1024], "buffer_num": [1, 2], "block_dim": [3, 48]}
    found = sweep(name, shape, dtype, axes, workers=1)
    assert all(row.valid for row in found.rows), [r.reason for r in found.rows if not r.valid]
    generator = np.random.default_rng(7)
    op = asim.load(name)
    shipped = op.tiling(shape, dtype)
    arrays = {
        tensor: (4 * generator.standard_normal(math.prod(shape)))
        .astype(shipped.dtypes[tensor].numpy)
        .reshape(shape)
        for tensor in op.definition.inputs
    }
    want = asim.launch(op, arrays, shipped).out
    for row in found.rows[::2] if dtype == "float32" else found.rows[1::5]:
        fixed = dict(row.fields)
        variant = op.variant(constants={"BUFFER_NUM": fixed.pop("buffer_num")})
        got = asim.launch(variant, arrays, variant.tiling(shape, dtype, fixed=fixed)).out
        assert_same_bits(got, want)
