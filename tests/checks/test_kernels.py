"""The kernels of the repository are clean, at every shape of their golden tilings and traces."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.observe.checks import TOOLS
from tests.test_traces import NO_FIELDS, TRACES, load

PORTS = Path(__file__).parents[1] / "ports"
TILINGS = Path(__file__).parents[1] / "data" / "tilings"
MOST, LARGE, HUGE = 20_000, 2_000_000, 20_000_000
OPS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
SIZES = (1, 21, 65, 1023, 4096, 100_003)
SLACK = {"memcheck:gm-slack"}


def checked(op, n, dtype, til=None, **more):
    """Launch with all checks on data of the operator's types; return the run."""
    op = asim.load(op)
    til = til or op.tiling((n,) if isinstance(n, int) else n, dtype)
    types = op.definition.choose_dtypes(dtype)
    arrays = {name: np.ones(n, types[name].numpy) for name in op.definition.inputs}
    return asim.launch(op, arrays, til, checks=TOOLS, **more)


def assert_clean(run, slack=False):
    codes = {each.code for each in run.findings}
    assert codes <= (SLACK if slack else set()), run.findings
    assert all(each.severity == "warning" for each in run.findings)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", OPS)
def test_sizes(op, dtype):
    for n in SIZES:
        run = checked(op, n, dtype)
        assert_clean(run, slack=op == "swish_grad")
        if op == "swish_grad":
            assert bool(run.findings) == bool(n * asim.dtypes.dtype(dtype).nbytes % 32)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_golden_traces(path):
    trace = load(path)
    til = asim.load(trace["op"]).tiling(
        (trace["n"],), trace["dtype"], cores=trace["cores_available"], ub=trace["ub"]
    )
    fields = {k: v for k, v in trace["tiling"].items() if k not in NO_FIELDS}
    til = til.replace(fields, trace["block_dim"])
    assert_clean(checked(trace["op"], trace["n"], trace["dtype"], til), trace["op"] == "swish_grad")


def test_the_slack_of_swish_grad_by_line_and_byte():
    run = checked("swish_grad", 100_003, "float16")
    found = [(each.instruction, each.memory, each.bytes, each.count) for each in run.findings]
    span = (200_006, 200_032)
    assert found == [("DataCopy", name, span, 1) for name in ("grad", "x", "out")]
    lines = Path(run.findings[0].where[0]).read_text(encoding="utf-8").splitlines()
    assert all("DataCopy(" in lines[each.where[1] - 1] for each in run.findings)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_stale_tails_show_in_strict_mode_only(dtype):
    assert_clean(checked("hard_swish_grad", 100_003, dtype))
    run = checked("hard_swish_grad", 100_003, dtype, strict=True)
    assert {each.code for each in run.findings} == {"initcheck:uninitialized-read"}
    assert {each.instruction for each in run.findings} >= {"Compare", "Muls", "Mul"}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_ports(dtype):
    assert_clean(checked("add", 100_003, dtype))
    blend = asim.load(PORTS / "blend")
    arrays = {name: np.ones(5000, dtype) for name in ("x", "y")}
    arrays["weight"] = np.ones(1, dtype)
    shapes = {name: array.shape for name, array in arrays.items()}
    assert_clean(asim.launch(blend, arrays, blend.tiling(shapes, dtype), checks=TOOLS))


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
@pytest.mark.parametrize("n", [64, 576, 64_000])
def test_flags_alone(soc, n):
    """PingPong has no queues: its two halves of UB are ordered by flags."""
    op = asim.load(PORTS / "ping_pong")
    til = op.tiling((n,), "float32", soc=soc)
    run = asim.launch(op, {"x": np.ones(n, np.float32)}, til, checks=TOOLS)
    assert run.findings == []


@pytest.mark.parametrize(("passes", "codes"), [(1, set()), (8, {"racecheck:waw-intra-pipe"})])
def test_copies_over_one_another_without_a_barrier(passes, codes):
    """GmCopy only measures MTE2: once its slots are used again, copies overwrite each other."""
    op = asim.load(PORTS / "gm_copy")
    til = op.tiling((96, 512), "float16", passes=passes)
    run = asim.launch(op, {"x": np.ones((96, 512), np.float16)}, til, checks=TOOLS)
    assert {each.code for each in run.findings} == codes


def golden(op):
    """Return all golden tilings of an operator that succeed."""
    cases = json.loads((TILINGS / f"{op}.json").read_text())
    return [each for each in cases if each["expect"]["status"] == "SUCCESS"]


@pytest.mark.parametrize("op", OPS)
def test_golden_tilings(op):
    fit = [each for each in golden(op) if math.prod(each["shape"]) <= MOST]
    assert len(fit) >= 50
    for case in fit[::5]:
        assert_clean_with(op, case)


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS)
def test_every_golden_tiling(op):
    """Each but the few beyond HUGE elements; of those with millions the first and last blocks."""
    cases = [each for each in golden(op) if math.prod(each["shape"]) <= HUGE]
    assert len(golden(op)) - len(cases) <= 3
    for case in cases:
        large = math.prod(case["shape"]) > LARGE
        last = case["expect"]["block_dim"] - 1
        assert_clean_with(op, case, blocks=sorted({0, min(1, last), last}) if large else None)


def assert_clean_with(op, case, **more):
    shape, dtype, cores, ub = (case[key] for key in ("shape", "dtype", "cores", "ub"))
    til = asim.load(op).tiling(shape, dtype, cores=cores, ub=ub)
    assert til.block_dim == case["expect"]["block_dim"]
    assert_clean(checked(op, tuple(shape), dtype, til, **more), slack=op == "swish_grad")


def test_without_the_compiler_the_vector_pipe_needs_barriers():
    """Muls and Adds on one tensor, without a barrier between: the compiler puts it there."""
    options = asim.Options(auto_sync="off")
    run = checked("hard_swish_grad", 5000, "float32", options=options)
    found = [(each.code, each.partner.split()[0], each.instruction) for each in run.findings]
    assert found == [("racecheck:raw-intra-pipe", "Muls", "Adds")]
    assert_clean(checked("hard_sigmoid_grad", 5000, "float32", options=options))
