"""Answers about order between instructions as text: other schedules, syncs that carry weight."""

from __future__ import annotations

from typing import Any

from ascendsim.view import text


def schedules(found: Any) -> str:
    """Return what `Schedules` found."""
    values = {
        "orders tried": f"{found.n} per block, blocks {', '.join(map(str, found.blocks))}",
        "leave other bytes": found.differing,
        "pairs without order": found.races,
    }
    if found.hazard is not None:
        values |= {"two instructions": str(found.hazard), "first wrong": str(found.witness)}
    return text.facts("schedules", values)


def minimized(found: Any) -> str:
    """Return what `Minimized` found."""
    rows = [
        (
            each.point.what,
            _lines(each.point),
            each.off.verdict,
            each.on.verdict,
            _reason(each.off, each.point.what.startswith("SetFlag")),
        )
        for each in found.sync
    ]
    places = sorted(found.added, key=lambda place: place.line)
    added = [(place.name, place.line, place.text) for place in places]
    notes = dict.fromkeys(each.off.note for each in found.sync if each.off.note)
    title = f"synchronisation of {found.op} on {found.soc}, block {found.block}"
    missing = text.table("barriers that auto_sync=off needs besides", _ADDED, added)
    return text.joined(
        text.table(
            f"{title}, each removed alone",
            ("what", "line", "auto_sync=off", "auto_sync=on", "why (auto_sync=off)"),
            rows,
        ),
        missing if added else "",
        "".join(f"without order as it is: {hazard}\n" for hazard in found.racing),
        f"no buffer of {', '.join(found.once)} is used a second time in this block: take more "
        "elements or fewer cores to judge its FreeTensor\n"
        if found.once
        else "",
        "".join(f"[note] {note}\n" for note in notes),
    )


NOTHING = "orders no two instructions that share bytes"
FLAGS = "; what is set must still be waited for, once each"
_ADDED = ("before", "line", "source")


def _lines(point: Any) -> str:
    other = point.other
    return str(point.where.line) if other is None else f"{point.where.line} to {other.line}"


def _reason(verdict: Any, of_flag: bool) -> str:
    if verdict.verdict == "load-bearing":
        shown = verdict.witness or "equal bytes on every input, in every order tried"
        return f"{verdict.hazard}; {shown}" + (" [note]" if verdict.note else "")
    if verdict.hazard is None:
        return NOTHING + (FLAGS if of_flag else "")
    steps = [
        f"{'added ' if place.seq < 0 else ''}{place.name} line {place.line}, {kind}"
        for place, kind in verdict.path[1:]
    ]
    order = f"{verdict.hazard}: still ordered by {'; '.join(steps) or 'the pipe itself'}"
    return order + (" [note]" if verdict.note else "")
