"""What the user of a run must be told: warnings, coverage of the outputs, evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ascendsim.core import AivCore
from ascendsim.isa.rules import RULES, weakest
from ascendsim.launch.job import Job
from ascendsim.memory import Allocation


def evidence(core: AivCore, slack: bool = False) -> dict[str, Any]:
    """Return the rules that the core's calls relied on, weakest first; `slack`: on GM slack too."""
    arch = core.soc.arch
    rows: list[dict[str, Any]] = []
    if slack:
        core.relied_on(("gm-slack",), "launch")
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
    job: Job,
    known: Mapping[str, str],
    allocations: Mapping[str, Allocation],
    stored: Mapping[str, np.ndarray],
    told: Collection[str] = (),
) -> list[str]:
    """Return `code: text` for everything that a run has to tell.

    `known` are the warnings of its calls; `stored` the byte ranges stored of each output, empty
    when nothing was executed; `coverage NAME` in `told` that a finding tells of this output's gaps.
    """
    found = dict(known)
    cores = job.soc.aiv_cores
    if job.block_dim > cores:
        found["blocks"] = f"{job.block_dim} blocks on {cores} cores of {job.soc.name}: in rounds"
    if job.ub_bytes > job.soc.ub_physical_bytes:
        found["ub"] = (
            f"a UB of {job.ub_bytes} bytes; {job.soc.name} has {job.soc.ub_physical_bytes}"
        )
    touched = [a for a in allocations.values() if touches_slack(a)]
    if touched:
        parts = (
            f"{a.name} ({a.slack_read} bytes read, {a.slack_written} written)" for a in touched
        )
        found["gm-slack"] = f"touched past the end of {', '.join(parts)}; inside the slack"
    gaps = [
        coverage_text(
            name, allocations[name].nbytes, spans, _spans(allocations[name].shared_writes)
        )
        for name, spans in stored.items()
        if f"coverage {name}" not in told
    ]
    if any(gaps):
        found["coverage"] = "; ".join(filter(None, gaps))
    return [f"{code}: {text}" for code, text in found.items()]


def touches_slack(allocation: Allocation) -> bool:
    """Tell whether a run touched what lies behind a tensor."""
    return bool(allocation.slack_read or allocation.slack_written)


def stored_spans(allocation: Allocation) -> np.ndarray:
    """Return the byte ranges (start, stop) that were stored, int64 (ranges, 2)."""
    return _spans(allocation.writes)


def _spans(writes: list[tuple[int, int]]) -> np.ndarray:
    return np.array(writes or np.empty((0, 2)), np.int64)


def coverage_text(
    name: str, nbytes: int, spans: np.ndarray, shared: np.ndarray | None = None
) -> str:
    """Say how many of `nbytes` the spans (start, stop) miss or write again; "" when none.

    `shared` are spans that may be written again, as atomic copies do. What lies behind the tensor
    is slack and does not count.
    """
    if shared is not None and shared.size:
        missed, again = coverage(nbytes, np.concatenate([spans, shared]))[0], 0
    else:
        missed, again = coverage(nbytes, spans)
    if missed == nbytes:
        return f"{name} is never written" if nbytes else ""
    if not missed and not again:
        return ""
    return f"{name}: {missed} of {nbytes} bytes never written, {again} written more than once"


def coverage(nbytes: int, spans: np.ndarray) -> tuple[int, int]:
    """Return how many of `nbytes` the spans (start, stop) miss, and how many they write again."""
    spans = np.minimum(spans[np.argsort(spans[:, 0], kind="stable")], nbytes)
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not spans.size:
        return nbytes, 0
    reach = np.maximum.accumulate(spans[:, 1])
    before = np.append(0, reach[:-1])
    missed = int(np.maximum(spans[:, 0] - before, 0).sum()) + nbytes - int(reach[-1])
    again = int(np.maximum(np.minimum(before, spans[:, 1]) - spans[:, 0], 0).sum())
    return missed, again
