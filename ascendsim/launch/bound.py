"""Global memory of a planned launch: the caller's own arrays where that cannot be noticed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ascendsim.dtypes import uint8
from ascendsim.engine.plan import Plan
from ascendsim.launch.job import Job
from ascendsim.memory import Allocation, GlobalMemory, SpareMemory


class Bound(NamedTuple):
    """Where each GM tensor stands (`addresses`), and what keeps the bytes alive."""

    addresses: Mapping[str, int]
    names: tuple[str, ...]
    memory: GlobalMemory
    borrowed: tuple[np.ndarray, ...]

    def outputs(self) -> dict[str, np.ndarray]:
        """Return the outputs by name; the memory of copied inputs may serve again."""
        found = {name: self.memory.allocations[name].array for name in self.names}
        self.memory.release()
        return found


def bound(job: Job, plan: Plan, covered: Collection[str], reach: Mapping[str, int]) -> Bound:
    """Return the memory of a launch.

    An input is used where it lies when it is contiguous, never written, and not read beyond its
    end; else it is copied as step mode does. An output that is `covered` needs no fill first.
    `reach` says how many bytes of each tensor will be touched (a missing one: as the plan says).
    """
    memory = GlobalMemory(job.options.gm_slack_fill, _SPARE)
    addresses: dict[str, int] = {}
    borrowed = []
    for name, array in job.inputs.items():
        touched = plan.touched[name]
        fits = reach.get(name, touched.reach) <= array.nbytes and not touched.writes.size
        if fits and array.flags.c_contiguous:
            addresses[name] = array.__array_interface__["data"][0]
            borrowed.append(array)
        else:
            addresses[name] = memory.upload(name, job.input_types[name], array).address
    for name, (shape, dtype) in job.outputs.items():
        if name in covered:
            made = Allocation(name, dtype, shape, memory.fill, memory.spare)
            memory.allocations[name] = made
        else:
            made = memory.reserve(name, dtype, shape)
        addresses[name] = made.address
    addresses["workspace"] = 0
    if plan.touched["workspace"].reach:
        addresses["workspace"] = memory.reserve("workspace", uint8, (job.workspace,)).address
    return Bound(addresses, tuple(job.outputs), memory, tuple(borrowed))


_SPARE = SpareMemory()
