"""Plans of launches: made, kept, and run by replay or as loops.

A plan holds everything that a launch executes, for any data of the same shape. It is made by
running the kernel without data, one block of each kind (classes.py), and kept. What cannot be
planned (a kernel that reads data as scalars) runs step by step, and says why.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from ascendsim.engine.fused import Fused, compiled_loops, difference, fused_of, run_fused
from ascendsim.engine.plan import Plan
from ascendsim.engine.replay import first_content, run_replay
from ascendsim.engine.stream import NoPlanError
from ascendsim.engine.sweep import SweepLoop
from ascendsim.errors import UnsupportedError
from ascendsim.launch.bound import Bound, bound
from ascendsim.launch.engines import LARGE_BYTES, forget_launches, note_launch
from ascendsim.launch.job import Job, Ran, Result, key_of, sizes_of
from ascendsim.launch.planning import Planned, planned
from ascendsim.launch.watch import Watch, watched

MAX_PLANS = 32


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    watch: Watch
    planned: Planned


_plans: OrderedDict[Hashable, _Kept] = OrderedDict()


def plan_of(job: Job) -> Planned:
    """Return the plan of a job, kept from an earlier launch or made now."""
    key = key_of(job)
    kept = _plans.get(key)
    if kept is not None and kept.watch.unchanged():
        _plans.move_to_end(key)
        return kept.planned
    note_launch(key)
    watch = watched(job.kernel)  # before the kernel runs: it may change what it reads
    made = planned(job)
    _plans[key] = _Kept(watch, made)
    _plans.move_to_end(key)
    while len(_plans) > MAX_PLANS:
        _plans.popitem(last=False)
    return made


def sweep_loop(job: Job, swept: Mapping[str, int]) -> SweepLoop:
    """Return the loop that gives an elementwise kernel's first output on every pattern.

    See engine/sweep.py.

    job : any launch of the kernel, of a few elements for instance; its data does not matter

    Raises
    ------
    UnsupportedError
        When the kernel is not elementwise; the text says why.
    """
    found = plan_of(job)
    if found.plan is None:
        raise UnsupportedError(f"{job.name} cannot be swept: {found.refusal}")
    types = dict(job.input_types) | {name: dtype for name, (_, dtype) in job.outputs.items()}
    try:
        return SweepLoop(found.plan, sizes_of(job), swept, types)
    except NoPlanError as reason:
        raise UnsupportedError(f"{job.name} cannot be swept: {reason}") from None


def forget_plans() -> None:
    """Forget all plans, as if nothing had been launched yet."""
    _plans.clear()
    forget_launches()


def run_plan(job: Job, found: Planned, plan: Plan, mode: str) -> Ran | None:
    """Run a plan, as loops when `mode` asks for that or it is worth it, else by replay.

    None when an instruction refused its data.
    """
    why, fused = "", "" if mode == "replay" else fused_of(plan, sizes_of(job))
    if isinstance(fused, Fused) and _loops_wanted(mode, plan, fused):
        fused = compiled_loops(plan, fused)
        if isinstance(fused, Fused):
            ran = _run_fused(job, found, plan, fused)
            if not ran.fallback:
                return ran
            fused = ran.fallback
    if fused and isinstance(fused, str):
        why = f"{fused}; ran as replay"
    memory = bound(job, plan, found.covered, {})
    start = time.perf_counter()
    if not run_replay(plan, memory.addresses, _template(job)):
        return None
    seconds = time.perf_counter() - start
    return Ran(_result(found, memory, seconds), "replay", why)


def _loops_wanted(mode: str, plan: Plan, fused: Fused) -> bool:
    """Compiling takes about half a second: auto does so for large launches only."""
    return mode == "fused" or (mode == "auto" and (plan.traffic >= LARGE_BYTES or fused.ready))


def _run_fused(job: Job, found: Planned, plan: Plan, fused: Fused) -> Ran:
    check = not fused.checked or job.options.fused_check == "always"
    # outputs that are checked are filled first: what lies there must not pass for a result
    wanted = ((), {}) if check else (found.covered, fused.reach)
    memory = bound(job, plan, *wanted)
    start = time.perf_counter()
    run_fused(plan, fused, memory.addresses)
    seconds = time.perf_counter() - start
    why = ""
    if check:
        made = {name: memory.memory.allocations[name] for name in job.outputs}
        outputs = {name: each.memory[: each.nbytes] for name, each in made.items()}
        why = difference(plan, memory.addresses, _template(job), outputs)
        fused.checked = not why
        why = why and f"the loops are wrong, a fault of the simulator: {why}"
    return Ran(_result(found, memory, seconds), "fused", why)


def _template(job: Job) -> np.ndarray:
    return first_content(job.options.ub_fill, job.ub_bytes, _fill_seed(job))


def _result(found: Planned, memory: Bound, seconds: float) -> Result:
    return Result(memory.outputs(), list(found.warnings), found.evidence, seconds)


def _fill_seed(job: Job) -> int:
    return job.seed if job.options.ub_fill == "random" else 0
