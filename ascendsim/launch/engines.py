"""Choose how a launch runs: step by step, by replay of its plan, or by code generated from it.

What steps needs no plan, and does not import what makes and runs plans (plans.py).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from ascendsim.launch.blocks import launch
from ascendsim.launch.job import Job, Ran, Readers, key_of, sizes_of

MAX_SEEN = 1024
#: bytes of inputs and outputs from which a first launch is worth a plan at once
LARGE_BYTES = 32 << 20

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
    from ascendsim.launch.plans import plan_of, run_plan

    found = plan_of(job)
    if found.plan is None:
        return Ran(launch(job, readers), "step", f"{found.refusal}; ran as step")
    ran = run_plan(job, found, found.plan, mode)
    if ran is None:  # step mode says at which line
        why = f"an instruction of {job.name} refused its data in replay; ran as step"
        return Ran(launch(job, readers), "step", why)
    if readers.progress is not None:
        readers.progress(job.block_dim, job.block_dim)
    return ran


def forget_launches() -> None:
    """Forget which launches were seen, as if nothing had been launched yet."""
    _seen.clear()


def _worth_planning(job: Job) -> bool:
    return note_launch(key_of(job)) or sum(sizes_of(job).values()) >= LARGE_BYTES


def note_launch(key: Hashable) -> bool:
    """Note that such a launch was asked for; return whether one was before."""
    if key in _seen:
        return True
    _seen[key] = None
    while len(_seen) > MAX_SEEN:
        _seen.popitem(last=False)
    return False
