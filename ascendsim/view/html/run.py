"""A run in a notebook: what ran where, what came out, and how well its rules are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from ascendsim.observe.outputs import Output, Shown, shown_of
from ascendsim.record import Finding
from ascendsim.view.findings import finding_line
from ascendsim.view.html.style import face, facts, head, mono, pill, table, text

GRADES = ("documented", "code", "report", "assumed")
GRADE_PILLS = {"documented": "o", "code": "on", "assumed": "q"}


class RunLike(Protocol):
    """What the face needs of a run."""

    op: str
    dtype: str
    n: int
    soc: str
    block_dim: int
    tiling: dict[str, Any]
    mode: str
    fallback: str
    outputs: dict[str, Any]
    warnings: list[str]
    evidence: dict[str, Any]
    findings: list[Finding]
    recordings: dict[int, Any]


def run_html(run: RunLike) -> str:
    """Return the whole face of a run."""
    size = f"{run.dtype}, {run.n} elements"
    blocks = f"{run.block_dim} block{'s' if run.block_dim > 1 else ''}"
    return face(
        head(run.op, size, f"on {run.soc}", blocks, run.fallback),
        _outputs(run.outputs),
        facts(
            {
                "tiling": mono(
                    ", ".join(f"{k} {_short(v)}" for k, v in run.tiling.items() if k != "status")
                ),
                "warnings": "<br>".join(_warning(each) for each in run.warnings),
                "findings": "<br>".join(text(finding_line(each)) for each in run.findings),
                "recorded": _recorded(run.recordings),
            }
        ),
        _evidence(run.evidence),
    )


def _outputs(outputs: Mapping[str, Output]) -> str:
    rows = [
        (
            f"<b>{text(name)}</b>",
            text(array.dtype),
            text(" × ".join(map(str, array.shape)) or "scalar"),
            mono(_first(shown, array.size)),
            "" if array.size == 0 else f"{shown.nonzero} not 0{_nans(shown)}",
        )
        for name, array in outputs.items()
        for shown in (shown_of(array),)
    ]
    return table(("output", "type", "shape", "first values", "values"), rows)


def _first(shown: Shown, size: int) -> str:
    return " ".join(map(str, shown.first)) + (" …" if size > len(shown.first) else "")


def _nans(shown: Shown) -> str:
    return f', <span class="asim-bad">{shown.nans} NaN</span>' if shown.nans else ""


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} {_short(v)}" for k, v in value.items()) + "}"
    return str(value)


def _warning(warning: str) -> str:
    code, colon, rest = warning.partition(": ")
    return f'<span class="asim-wr">{text(code)}</span>{text(colon + rest)}'


def _recorded(recordings: Mapping[int, Any]) -> str:
    if not recordings:
        return ""
    calls = sum(len(recording.entries) for recording in recordings.values())
    blocks = len(recordings)
    return text(f"{calls} calls of {blocks} block{'s' if blocks > 1 else ''}: run.stepper(block)")


def _evidence(evidence: Mapping[str, Any]) -> str:
    """Return the rules by grade, weakest first, folded away behind their number."""
    rules = sorted(evidence.get("rules", ()), key=lambda rule: -_grade(rule["grade"]))
    if not rules:
        return ""
    rows = [
        (
            pill(rule["grade"], GRADE_PILLS.get(rule["grade"], "")),
            text(rule["rule"]),
            f'<div style="white-space:normal">{text(rule["text"])}</div>',
        )
        for rule in rules
    ]
    weakest = pill(evidence["weakest"], GRADE_PILLS.get(evidence["weakest"], ""))
    return (
        f'<details class="asim-b"><summary>rests on {len(rules)} rules of the model '
        f"({', '.join(_counts(rules))}), the weakest {weakest}</summary>"
        f"{table(('grade', 'rule', 'says'), rows)}</details>"
    )


def _counts(rules: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    grades = [rule["grade"] for rule in rules]
    for grade in GRADES:
        if grade in grades:
            yield f"{grades.count(grade)} {grade}"


def _grade(grade: str) -> int:
    return GRADES.index(grade) if grade in GRADES else len(GRADES)
