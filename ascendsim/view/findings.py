"""The findings of a run as text."""

from __future__ import annotations

from typing import Any

from ascendsim.record import Finding


def findings_text(run: Any, shape: tuple[int, ...] | None = None, stopped: bool = False) -> str:
    """Return what the checks of a run found, each with its place, partner, bytes and way out.

    shape : of the first input (by default the elements of the output are told); stopped : the run
    ended at a finding
    """
    size = f"n={run.n if shape is None else shape[0]}"
    if shape is not None and len(shape) != 1:
        size = f"shape ({','.join(map(str, shape))})"
    what = f"{run.op} {run.dtype} {size} on {run.soc}, {run.block_dim} blocks"
    errors = sum(each.severity == "error" for each in run.findings)
    warnings = len(run.findings) - errors
    counts = (
        f"{_many(errors, 'error')}, {_many(warnings, 'warning')}"
        if run.findings
        else "nothing found"
    )
    lines = [f"{', '.join(run.checks)} of {what}: {counts}"]
    for each in run.findings:
        lines += ["", *_lines(each)]
    if stopped:
        lines += [
            "",
            "The run ended at an error: what comes behind it was neither run nor checked.",
        ]
    return "\n".join(lines)


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def finding_line(finding: Finding) -> str:
    """Return a finding on one line."""
    place = "" if finding.where is None else f"{finding.where[0]}:{finding.where[1]}: "
    times = f", {finding.count} times" if finding.count > 1 else ""
    return f"{finding.severity}: {place}{finding.message} [{finding.code}{times}]"


def _lines(finding: Finding) -> list[str]:
    place = "" if finding.where is None else f"{finding.where[0]}:{finding.where[1]}: "
    times = f", {finding.count} times" if finding.count > 1 else ""
    lines = [
        f"{place}{finding.severity}: {finding.message}",
        f"  {finding.code} in block {finding.core}, call {finding.seq}{times}",
    ]
    if finding.bytes is not None:
        buffer = f" of {finding.buffer}" if finding.buffer else ""
        lines.append(f"  {finding.memory}[{finding.bytes[0]:#x}, {finding.bytes[1]:#x}){buffer}")
    if finding.partner:
        lines.append(f"  with {finding.partner}")
    if finding.way_out:
        lines.append(f"  way out: {finding.way_out}")
    return lines
