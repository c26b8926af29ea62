"""What the user of a run must be told: warnings, coverage of the outputs, evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ascendsim.core import AivCore
from ascendsim.isa.rules import RULES, weakest
from ascendsim.launch.job import Job
from ascendsim.memory import Allocation


def evidence(core: AivCore) -> dict[str, Any]:
    """Return the rules that the core's calls relied on, weakest first."""
    arch = core.soc.arch
    rows: list[dict[str, Any]] = []
    for rule_id, instructions in core.rules.items():
        rule = RULES[rule_id]
        rows.append(
            {
                "rule": rule.id,
                "grade": rule.grade(arch),
                "text": rule.text,
                "source": rule.source,
                "instructions": sorted(instructions),
            }
        )
    grades = [row["grade"] for row in rows]
    order = ("assumed", "report", "code", "documented")
    rows.sort(key=lambda row: (order.index(row["grade"]), row["rule"]))
    return {"weakest": weakest(grades), "rules": rows}


def warnings_of(
    job: Job, core: AivCore, outputs: Mapping[str, Allocation], executing: bool
) -> list[str]:
    """Return `code: text` for everything that a run has to tell."""
    found = dict(core.warnings)
    cores = job.soc.aiv_cores
    if job.block_dim > cores:
        found["blocks"] = f"{job.block_dim} blocks on {cores} cores of {job.soc.name}: in rounds"
    if job.ub_bytes > job.soc.ub_physical_bytes:
        found["ub"] = (
            f"a UB of {job.ub_bytes} bytes; {job.soc.name} has {job.soc.ub_physical_bytes}"
        )
    touched = [a for a in core.gm.allocations.values() if a.slack_read or a.slack_written]
    if touched:
        core.relied_on(("gm-slack",), "launch")
        parts = (
            f"{a.name} ({a.slack_read} bytes read, {a.slack_written} written)" for a in touched
        )
        found["gm-slack"] = f"touched past the end of {', '.join(parts)}; inside the slack"
    gaps = [text for a in outputs.values() if (text := _coverage(a))]
    if gaps and executing:
        found["coverage"] = "; ".join(gaps)
    return [f"{code}: {text}" for code, text in found.items()]


def _coverage(allocation: Allocation) -> str:
    written, shared = (
        np.array(each or np.empty((0, 2)), np.int64)
        for each in (allocation.writes, allocation.shared_writes)
    )
    return coverage_text(allocation.name, allocation.nbytes, written, shared)


def coverage_text(
    name: str, nbytes: int, spans: np.ndarray, shared: np.ndarray | None = None
) -> str:
    """Say how many of `nbytes` the spans (start, stop) miss or write again; "" when none.

    `shared` are spans that may be written again, as atomic copies do. What lies behind the tensor
    is slack and does not count.
    """
    if shared is not None and shared.size:
        return _shared_text(name, nbytes, spans, shared)
    spans = np.minimum(spans[np.argsort(spans[:, 0], kind="stable")], nbytes)
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not spans.size:
        return f"{name} is never written" if nbytes else ""
    reach = np.maximum.accumulate(spans[:, 1])
    before = np.append(0, reach[:-1])
    missed = int(np.maximum(spans[:, 0] - before, 0).sum()) + nbytes - int(reach[-1])
    again = int(np.maximum(np.minimum(before, spans[:, 1]) - spans[:, 0], 0).sum())
    if not missed and not again:
        return ""
    return f"{name}: {missed} of {nbytes} bytes never written, {again} written more than once"


def _shared_text(name: str, nbytes: int, spans: np.ndarray, shared: np.ndarray) -> str:
    """Say how many bytes neither `spans` nor `shared` write."""
    both = np.concatenate([spans, shared])
    both = np.minimum(both[np.argsort(both[:, 0], kind="stable")], nbytes)
    before = np.append(0, np.maximum.accumulate(both[:, 1])[:-1])
    missed = int(np.maximum(both[:, 0] - before, 0).sum()) + nbytes - int(both[:, 1].max())
    return f"{name}: {missed} of {nbytes} bytes never written" if missed else ""
