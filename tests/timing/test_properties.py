"""What must hold of any timeline: more of something good is never slower; shortcuts are exact."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim import soc as socs
from ascendsim.explore.study import alone
from ascendsim.host.job import timing_job
from ascendsim.launch import recorded, scheduled
from ascendsim.observe.timeline import Timeline
from ascendsim.observe.timeline.schedule import walk
from ascendsim.options import Options
from ascendsim.soc import Soc

PORTS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
KERNELS = (*PORTS, "add")
TYPES = ("float32", "float16")
ROUNDING = 1e-9
MOST = 400_000  # elements: a few tiles on every core

kernels, types = st.sampled_from(KERNELS), st.sampled_from(TYPES)
sizes = st.integers(1, MOST)
quick = settings(max_examples=12, deadline=None, derandomize=True)
_names = itertools.count()


def faster(chip: Soc, **factors: float) -> Soc:
    """Return a chip whose facts are multiplied; its name is new, for cores are kept by name."""
    facts = dict(chip.all_facts)
    for name, factor in factors.items():
        facts[name] = replace(facts[name], value=facts[name].value * factor)
    return replace(chip, name=f"{chip.name}-{next(_names)}", all_facts=MappingProxyType(facts))


def timed(
    name: str, n: int, dtype: str, chip: Soc | None = None, buffers: int | None = None, **how: Any
) -> Timeline:
    op = asim.load(name)
    if buffers is not None:
        op = op.variant(constants={"BUFFER_NUM": buffers})
    tiling = op.tiling((n,), dtype, **how)
    job = timing_job(op, tiling, Options(), chip)
    return alone(scheduled(job, recorded(job), how.get("cores")), job.ub_bytes)


def at_most(time: float, other: float) -> bool:
    return time <= other * (1 + ROUNDING)


@pytest.mark.parametrize("tile", [512, 1024, 2048])
@given(name=kernels, dtype=types, n=sizes)
@quick
def test_two_buffers_are_never_slower_than_one(tile, name, dtype, n):
    fixed = {{"swish_grad": "tileDataNum", "add": "tileLength"}.get(name, "ubFactor"): tile}
    one, two = (timed(name, n, dtype, buffers=b, fixed=fixed) for b in (1, 2))
    # where the buffers lie decides bank conflicts, which are another matter
    spared = one.conflict_cycles - two.conflict_cycles
    assert at_most(two.cycles, one.cycles + max(-spared, 0.0))


@pytest.mark.parametrize(
    "fact", ["hbm_read", "hbm_write", "mte2_bytes_per_cycle", "mte3_bytes_per_cycle"]
)
@given(name=kernels, dtype=types, n=sizes, factor=st.floats(1.01, 8))
@example(name="swish_grad", dtype="float16", n=3_000_000, factor=2.0)
@quick
def test_more_bandwidth_is_never_slower(fact, name, dtype, n, factor):
    chip = socs.load(asim.load(name).definition.socs[0])
    before = timed(name, n, dtype)
    after = timed(name, n, dtype, faster(chip, **{fact: factor}))
    assert at_most(after.cycles, before.cycles)


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
@given(dtype=types, n=sizes)
@quick
def test_removing_a_conflict_is_never_slower(soc, dtype, n):
    conflict, clean = (
        timed("add", n, dtype, soc=soc, tile=4096, placement=placement)
        for placement in ("conflict", "clean")
    )
    spare = socs.load(soc).scalar_issue_cycles  # the clean kernel has one InitBuffer more
    assert clean.conflict_cycles <= conflict.conflict_cycles
    assert at_most(clean.cycles, conflict.cycles + spare)


def test_there_is_a_conflict_to_remove():
    conflict, clean = (
        timed("add", MOST, "float16", tile=4096, placement=placement)
        for placement in ("conflict", "clean")
    )
    assert clean.conflict_cycles == 0 < conflict.conflict_cycles
    assert clean.cycles < conflict.cycles


@given(
    name=st.sampled_from(("swish_grad", "add")),  # whose shares stay aligned
    dtype=types,
    n=sizes,
    cores=st.lists(st.integers(1, 48), min_size=2, max_size=2, unique=True),
)
@settings(quick, max_examples=40)
def test_more_cores_are_never_slower_beyond_launch_cost(name, dtype, n, cores):
    few, many = (timed(name, n, dtype, cores=count) for count in sorted(cores))
    assert many.aiv_us <= few.aiv_us * (1 + ROUNDING) + (many.launch_us - few.launch_us)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 5_003, 65_536, 1_500_007])
def test_the_shortcut_is_the_full_simulation(name, dtype, n):
    op = asim.load(name)
    tiling = op.tiling((n,), dtype)
    shared, every = (asim.time(op, tiling, share=share) for share in (True, False))
    assert shared.to_json() == every.to_json()
    job = timing_job(op, tiling, Options())
    swept = alone(scheduled(job, recorded(job)), job.ub_bytes)  # as sweeps make it
    assert (swept.cycles, swept.bound, swept.ub_used, swept.low_share) == (
        every.cycles,
        every.bound,
        every.ub_used,
        every.low_share,
    )
    launched = shared.launch
    assert sum(len(block.stream.blocks) for block in launched.blocks) == tiling.block_dim
    for block in launched.blocks:
        for stretch in (1.0, shared.stretch, 3.7):
            skipped = walk(block.program(stretch))[0]
            full = walk(block.program(stretch, skip=False))[0]
            assert skipped == full


@pytest.mark.parametrize("name", PORTS)
def test_the_shortcut_skips(name):
    tiling = asim.load(name).tiling((20_000_000,), "float16")
    launched = asim.time(name, tiling).launch
    assert len(launched.blocks) < tiling.block_dim / 2  # classes differ in alignment too
    assert all(block.periods for block in launched.blocks)
