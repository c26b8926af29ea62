"""Answers in a notebook: the difference of two runs, why a lane holds its bits, why it is off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ascendsim.view.html.call import source_html
from ascendsim.view.html.style import face, facts, head, mono, pill, table, text

if TYPE_CHECKING:
    from ascendsim.view.diff import Diff, Step
    from ascendsim.view.explain_lane import Explanation
    from ascendsim.view.why import Cause

MOST_ROWS = 60


def diff_html(diff: Diff) -> str:
    """Return the face of a difference: the first call that parts two runs, then its chain."""
    parted = f'<div class="asim-bad">{text(diff.parted)}</div>' if diff.parted else ""
    if diff.first is None:
        return face(head("diff", "" if diff.parted else "the runs are the same"), parted)
    steps = (diff.first, *diff.chain)
    first = diff.first
    rows = [_step_row(step) for step in steps[:MOST_ROWS]]
    columns = ("call", "", "line", "where", "first run", "second run", "ULP", "the call itself")
    return face(
        head("diff", f"block {first.block}", f"call {first.position}, {first.name}, differs first"),
        source_html(first.where),
        table(columns, rows, now=0, right=(0, 2, 6)),
        _more(len(steps) - MOST_ROWS),
        parted,
    )


def _step_row(step: Step) -> tuple[str, ...]:
    call = ", ".join(f"{key} {one} against {two}" for key, (one, two) in step.call.items())
    digits = 2 + (2 * step.dtype.nbytes if step.ulp is not None else 0)
    one, two = (mono(f"{bits:#0{digits}x}") for bits in step.bits)
    ulp = "" if step.ulp is None else str(step.ulp)
    name = f"<b>{text(step.name)}</b>"
    return str(step.position), name, str(step.line), mono(step.place), one, two, ulp, mono(call)


def _more(count: int) -> str:
    return f'<div class="asim-d">and {count} more</div>' if count > 0 else ""


def explanation_html(found: Explanation) -> str:
    """Return the face of an explanation: its class, the sentence, the kernel's line."""
    good = found.kind == "exact"
    where = f"block {found.block}" + (f", call {found.position}" if found.position >= 0 else "")
    return face(
        head("why this element", where),
        f'<div class="asim-b">{pill(found.kind, "o" if good else "q")} {text(found.text)}</div>',
        source_html(found.where),
        facts({"actual": mono(f"{found.actual:#x}"), "definition": mono(f"{found.expected:#x}")}),
    )


def cause_html(cause: Cause) -> str:
    """Return the face of a slice: the calls behind a lane, each below the one that used it."""
    rows = list(islice(_causes(cause, 0), MOST_ROWS + 1))
    shown = [
        (
            "" if each.position is None else str(each.position),
            f'<span style="padding-left:{18 * depth}px">{"└ " if depth else ""}'
            f"<b>{text(each.name)}</b></span>",
            mono(each.place),
            mono("" if each.bits is None else f"{each.bits:#x}"),
            mono("" if each.scalar is None else each.scalar),
        )
        for depth, each in rows[:MOST_ROWS]
    ]
    return face(
        head("why", cause.place, "" if cause.bits is None else f"{cause.bits:#x}"),
        table(("call", "", "stored to", "bits", "scalar"), shown, right=(0,)),
        '<div class="asim-d">and more: print it</div>' if len(rows) > MOST_ROWS else "",
    )


def _causes(cause: Cause, depth: int) -> Iterator[tuple[int, Cause]]:
    yield depth, cause
    for each in cause.causes:
        yield from _causes(each, depth + 1)
