"""What `until` and `goto` are asked for: `name=Adds tile=1`, checked against the block."""

from __future__ import annotations

from typing import Any

from ascendsim.cli.words import buffer_and_slot, number
from ascendsim.errors import RequestError
from ascendsim.view.stepper import Stepper
from ascendsim.view.until import written

_NUMBERS = {"tile": "a tile", "lane": "a lane"}


def asked(words: list[str], usage: str) -> dict[str, Any]:
    """Return `KEY=VALUE` words as the keywords of `Stepper.until`."""
    wanted: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (equals and value):
            raise RequestError(f"until or goto {word!r}: write it as {usage}")
        if key in wanted:
            raise RequestError(f"until or goto {word!r}: {key} is given twice")
        wanted[key] = number(value, _NUMBERS[key]) if key in _NUMBERS else value
    if "@" in wanted.get("buffer", ""):
        wanted["buffer"], wanted["slot"] = buffer_and_slot(wanted["buffer"])
    return wanted


def check_known(at: Stepper, wanted: dict[str, Any]) -> None:
    """Refuse the name of a call, pipe, phase or buffer that the block never has: a mistake."""
    calls = [entry.instr for entry in at.entries]
    stored = {a.holder.name for i in calls for a in i.call.accesses if a.writes and i.call.execute}
    known = {
        "name": {instr.call.name for instr in calls},
        "pipe": {instr.call.pipe.name.removeprefix("PIPE_") for instr in calls},
        "phase": {instr.where.phase for instr in calls} - {""},
        "writes": set().union(*(written(instr) for instr in calls)),
        "buffer": stored,
    }
    for key, values in known.items():
        if key in wanted and wanted[key] not in values:
            listed = ", ".join(sorted(values))
            raise RequestError(f"until {key}={wanted[key]}: the block has {listed or 'none'}")
