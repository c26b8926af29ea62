"""Loops made from a plan leave the bytes of step mode, and what cannot be a loop says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.engine import fused, generated, program, replay, threads
from ascendsim.explore.speed.random_kernels import FAULTS, random_kernel
from ascendsim.launch.plans import forget_plans, plan_of
from tests.engine.kit import assert_same, bits, job_of, ran, random_bits
from tests.helpers import assert_same_bits
from tests.kit import Ub, gm

OPS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
DTYPES = ("float32", "float16", "bfloat16")
PORTS = Path(__file__).parents[1] / "ports"


@pytest.fixture(autouse=True)
def no_plans():
    forget_plans()


def launched(op, arrays, dtype, mode, **settings):
    tiling = op.tiling({n: a.shape for n, a in arrays.items()}, dtype, **settings)
    return asim.launch(op, arrays, tiling, mode=mode)


def same_in_all_modes(op, dtype, shapes, modes=("replay", "fused"), **settings):
    types = op.definition.choose_dtypes(dtype)
    arrays = {
        n: random_bits(types[n], int(np.prod(shape)), k).reshape(shape)
        for k, (n, shape) in enumerate(shapes.items())
    }
    want = launched(op, arrays, dtype, "step", **settings)
    for mode in modes:
        got = launched(op, arrays, dtype, mode, **settings)
        assert (got.mode, got.fallback) == (mode, "")
        assert_same_bits(bits(got.out), bits(want.out))
        assert got.warnings == want.warnings
        assert got.evidence == want.evidence


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_kernels_on_random_bits(name, dtype):
    op = asim.load(name)
    for n in (1, 65, 10_000, 100_003):
        same_in_all_modes(op, dtype, {"grad": (n,), "x": (n,)})
    same_in_all_modes(op, dtype, {"grad": (3, 777), "x": (3, 777)}, cores=3, ub=16384)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_add_with_all_its_knobs(dtype):
    op = asim.load("add")
    for knobs in ({}, {"buffer_num": 1}):
        shapes = dict.fromkeys(op.definition.inputs, (5000,))
        fixed = {k: v for k, v in knobs.items() if k in op.tiling((5000,), dtype).fields}
        same_in_all_modes(op, dtype, shapes, fixed=fixed)


def test_kernels_of_the_tests():
    same_in_all_modes(asim.load(PORTS / "gm_copy"), "float16", {"x": (96, 512)}, ("replay",))
    blend = asim.load(PORTS / "blend")
    same = {"x": (4096,), "y": (4096,), "weight": (1,)}
    arrays = {n: np.full(s, 2.0, np.float32) for n, s in same.items()}
    got = launched(blend, arrays, "float32", "fused")
    assert got.mode == "step"  # it reads its weight as a scalar
    assert "GetValue" in got.fallback


def random_kernels_run_fused(seeds):
    loops = 0
    for seed in seeds:
        job = random_kernel(seed)
        got = ran(job, "fused")
        assert_same(got, ran(job, "replay"))
        assert_same(got, ran(job, "step"))
        loops += got.mode == "fused"
    return loops


def random_faults_are_named(seeds):
    for seed in seeds:
        fault = FAULTS[seed % len(FAULTS)]
        job = random_kernel(seed, fault)
        got = ran(job, "fused")
        assert got.mode == "replay"
        assert fault.split()[0] in got.fallback
        assert " and " in got.fallback
        assert_same(got, ran(job, "step"))


def test_random_kernels():
    assert random_kernels_run_fused(range(20)) >= 19
    random_faults_are_named(range(12))


@pytest.mark.slow
def test_many_random_kernels():
    assert random_kernels_run_fused(range(1000, 1120)) >= 114
    random_faults_are_named(range(1000, 1040))


def chained(names):
    """Return a kernel whose buffers have the given names."""
    first, second = names

    def body(x, out):
        u = Ub(**{first: (float32, 64), second: (float32, 64)})
        DataCopy(u[first], gm(x), 64)
        Muls(u[second], u[first], 3.0, 64)
        Adds(u[second], u[second], 1.0, 64)
        DataCopy(gm(out), u[second], 64)

    return body


ONE = ({"x": np.arange(64, dtype=np.float32)}, {"out": ((64,), "float32")})


def test_names_do_not_matter():
    texts = set()
    for names in (("a", "b"), ("other", "names")):
        job = job_of(chained(names), *ONE)
        assert ran(job, "fused").mode == "fused"
        texts.add(fused.fused_of(plan_of(job).plan, {}).loops[0].text)
    assert len(texts) == 1


def test_a_wrong_loop_is_found(monkeypatch):
    wrong = lambda *arguments: None  # noqa: E731
    monkeypatch.setattr(fused, "loop_function", lambda text: wrong)
    job = job_of(chained(("a", "b")), *ONE)
    got = ran(job, "fused")
    assert got.mode == "replay"
    assert "differs from replay" in got.fallback
    assert_same(got, ran(job, "step"))


@pytest.mark.parametrize(("option", "checks"), [("once", 1), ("always", 3)])
def test_the_check_runs_once_or_always(monkeypatch, option, checks):
    from ascendsim.launch import plans

    seen = []
    monkeypatch.setattr(plans, "difference", lambda *a: seen.append(1) or "")
    job = job_of(chained(("a", "b")), *ONE, options={"fused_check": option})
    for _ in range(3):
        assert ran(job, "fused").mode == "fused"
    assert len(seen) == checks


def test_threads_leave_the_same_bytes(monkeypatch):
    for module in (fused, replay):
        monkeypatch.setattr(module, "threads_for", lambda traffic: 3)
    monkeypatch.setattr(threads, "machine_threads", lambda: 3)
    monkeypatch.setattr(fused, "GRAIN", 64)
    op = asim.load("hard_swish_grad")
    same_in_all_modes(op, "float16", {"grad": (10_007,), "x": (10_007,)})


def test_several_outputs_and_constants():
    def body(x, one, two, three):
        u = Ub(a=(float32, 64), b=(float32, 64), c=(float32, 64))
        DataCopy(u["a"], gm(x), 64)
        Abs(u["b"], u["a"], 64)
        Duplicate(u["c"], float("nan"), 64)
        DataCopy(gm(one), u["b"], 64)
        DataCopy(gm(two), u["a"], 64)
        DataCopy(gm(three), u["c"], 32)

    outputs = {"one": ((64,), "float32"), "two": ((64,), "float32"), "three": ((32,), "float32")}
    job = job_of(body, {"x": random_bits(float32, 64, 3)}, outputs)
    got = ran(job, "fused")
    assert got.mode == "fused"
    assert_same(got, ran(job, "step"))


def refused(body, inputs=None, outputs=None, **request):
    inputs = inputs or {"x": random_bits(float32, 128, 1)}
    job = job_of(body, inputs, outputs or {"out": ((128,), "float32")}, **request)
    got = ran(job, "fused")
    assert got.mode == "replay"
    assert_same(got, ran(job, "step"))
    return got.fallback


def test_reasons():
    def stale(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 64)
        DataCopy(gm(out), u["a"], 128)

    def twice(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 128)
        DataCopy(gm(out), u["a"], 128)
        Muls(u["a"], u["a"], 2.0, 128)
        DataCopy(gm(out), u["a"], 128)

    def again(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 128)
        DataCopy(gm(out), u["a"], 128)
        DataCopy(u["a"], gm(out), 128)
        DataCopy(gm(out), u["a"], 128)

    def masked(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 128)
        Muls(u["a"], u["a"], 2.0, [0x5555, 0], 2, UnaryRepeatParams(1, 1, 8, 8))
        DataCopy(gm(out), u["a"], 128)

    def reread(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 128)
        Muls(u["a"], u["a"], 2.0, 128)
        half_view = u["a"].ReinterpretCast(half)
        Muls(half_view, half_view, 2.0, 256)
        DataCopy(gm(out), u["a"], 128)

    assert "never wrote" in refused(stale)
    assert "out are stored more than once" in refused(twice)
    assert "out is both read and written" in refused(again)
    assert "Muls: its mask" in refused(masked)
    assert "elements of 16 bits but was written as elements of 32 bits" in refused(reread)


def test_stale_lanes_that_do_not_reach_gm_do_no_harm():
    def body(x, out):
        u = Ub(a=(float32, 64), b=(float32, 64), m=(uint8_t, 32))
        DataCopy(u["a"], gm(x), 40)
        Muls(u["b"], u["a"], 2.0, 64)
        CompareScalar(u["m"], u["b"], 1.0, CMPMODE.LT, 64)
        Select(u["b"], u["m"], u["b"], 0.5, SELMODE.VSEL_TENSOR_SCALAR_MODE, 64)
        Adds(u["b"], u["b"], 1.0, 33, 1, UnaryRepeatParams())  # a mask of the first lanes
        DataCopy(gm(out), u["b"], 40)

    outputs = {"out": ((40,), "float32")}
    job = job_of(body, {"x": random_bits(float32, 40, 2)}, outputs)
    got = ran(job, "fused")
    assert (got.mode, got.fallback) == ("fused", "")
    assert_same(got, ran(job, "step"))


def test_the_generated_file_is_python_beside_the_compiled_code():
    job = job_of(chained(("a", "b")), *ONE)
    ran(job, "fused")
    (loop,) = fused.fused_of(plan_of(job).plan, {}).loops
    assert generated.is_ready(loop.text)
    name = generated._name("run_program", loop.text)
    source = (generated.jitcache.directory() / f"{name}.py").read_text()
    assert "muls_float32(src0=v0" in source
    assert f"def {name}(" in source
    assert program.Loop  # what writes the text


WITHOUT = """
import numpy as np, ascendsim as asim
from ascendsim.numerics.formats import has_f16c
assert not has_f16c()
op = asim.load("hard_swish_grad")
x = np.arange(65536, dtype=np.uint16).view(np.float16)
til = op.tiling(x.shape, "float16")
runs = [asim.launch(op, {"grad": x[::-1], "x": x}, til, mode=m) for m in ("step", "fused")]
print([r.mode for r in runs], len({r.out.tobytes() for r in runs}), hash(runs[0].out.tobytes()))
"""


@pytest.mark.slow
def test_without_f16c():
    env = {**os.environ, "ASCENDSIM_NO_F16C": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['step', 'fused'] 1 ")
