"""Choose how a launch runs: step by step, by replay of its plan, or by code generated from it.

A plan holds everything that a launch executes, for any data of the same shape. It is made by
running the kernel without data, one block of each kind (classes.py), and kept. What cannot be
planned (a kernel that reads data as scalars) runs step by step, and says why.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from ascendsim.engine.plan import Plan
from ascendsim.engine.replay import first_content, run_replay
from ascendsim.engine.stream import NoPlanError
from ascendsim.launch.blocks import launch
from ascendsim.launch.bound import Bound, bound
from ascendsim.launch.job import Job, Readers, Result
from ascendsim.launch.planning import Planned, planned
from ascendsim.launch.watch import Watch, watched

MAX_PLANS = 32
MAX_SEEN = 1024
#: bytes of inputs and outputs from which a first launch is worth a plan at once
LARGE_BYTES = 32 << 20


class Ran(NamedTuple):
    """A result, how it was made, and why not as asked ("" when as asked)."""

    result: Result
    mode: str
    fallback: str


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    watch: Watch
    planned: Planned


_plans: OrderedDict[Hashable, _Kept] = OrderedDict()
_seen: OrderedDict[Hashable, None] = OrderedDict()


def run(job: Job, readers: Readers, mode: str) -> Ran:
    """Run `job` in `mode` (auto, step, replay or fused), or in the next slower one that can.

    auto steps through the first launch of a kernel and shape, and plans from the second one on,
    or at once when the arrays are large.

    Raises
    ------
    AscendError
        At the first rule that the kernel breaks; `where` is the kernel's own line.
    """
    if mode == "step":
        return Ran(launch(job, readers), "step", "")
    if not readers.quiet:
        why = "" if mode == "auto" else f"{mode}: records and UB images are made step by step"
        return Ran(launch(job, readers), "step", why)
    if mode == "auto" and not _worth_planning(job):
        why = "the first launch of a kernel and shape runs step by step; later ones replay it"
        return Ran(launch(job, readers), "step", why)
    found = plan_of(job)
    if found.plan is None:
        return Ran(launch(job, readers), "step", f"{found.refusal}; ran as step")
    ran = _run_plan(job, found, found.plan)
    if readers.progress is not None:
        readers.progress(job.block_dim, job.block_dim)
    return ran


def plan_of(job: Job) -> Planned:
    """Return the plan of a job, kept from an earlier launch or made now."""
    key = _key(job)
    kept = _plans.get(key)
    if kept is not None and kept.watch.unchanged():
        _plans.move_to_end(key)
        return kept.planned
    watch = watched(job.kernel)  # before the kernel runs: it may change what it reads
    made = planned(job)
    _plans[key] = _Kept(watch, made)
    _plans.move_to_end(key)
    while len(_plans) > MAX_PLANS:
        _plans.popitem(last=False)
    return made


def forget_plans() -> None:
    """Forget all plans, as if nothing had been launched yet."""
    _plans.clear()
    _seen.clear()


def _run_plan(job: Job, found: Planned, plan: Plan) -> Ran:
    memory = bound(job, plan, found.covered)
    template = first_content(job.options.ub_fill, job.ub_bytes, _fill_seed(job))
    start = time.perf_counter()
    run_replay(plan, memory.addresses, template)
    seconds = time.perf_counter() - start
    return Ran(_result(found, memory, seconds), "replay", "")


def _result(found: Planned, memory: Bound, seconds: float) -> Result:
    return Result(memory.outputs(), list(found.warnings), found.evidence, seconds)


def _fill_seed(job: Job) -> int:
    return job.seed if job.options.ub_fill == "random" else 0


def _worth_planning(job: Job) -> bool:
    key = _key(job)
    if key in _seen or key in _plans:
        return True
    _seen[key] = None
    while len(_seen) > MAX_SEEN:
        _seen.popitem(last=False)
    outputs = sum(job.outputs[name][1].nbytes * _size(job.outputs[name][0]) for name in job.outputs)
    return sum(array.nbytes for array in job.inputs.values()) + outputs >= LARGE_BYTES


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _key(job: Job) -> Hashable:
    """Return all that steers a launch but its data and what the kernel reads from its module."""
    inputs = tuple((n, a.shape, job.input_types[n]) for n, a in job.inputs.items())
    outputs = tuple(job.outputs.items())
    where = (job.soc, job.ub_bytes, job.options, job.block_dim, job.workspace)
    return job.identity, inputs, outputs, where


__all__ = ["NoPlanError", "Ran", "forget_plans", "plan_of", "run"]
