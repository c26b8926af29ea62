"""The commands of a stepping session that show the core: UB, masks, queues, registers."""

from __future__ import annotations

from typing import Any

from ascendsim.cli.words import Answer, buffer_and_slot, lane_range
from ascendsim.view import text
from ascendsim.view.mask import PER_ROW, Mask
from ascendsim.view.registers import words_of
from ascendsim.view.stepper import Stepper

_CELLS = 64
_MASK_LANES = 16 * PER_ROW  # that mask shows without being asked for more


def ub_map(at: Stepper, _: list[str]) -> Answer:
    """Draw UB as one bar, with what the next call reads and writes."""
    drawn = at.map()
    document = {
        "ub": drawn.nbytes,
        "used": drawn.used,
        "buffers": [place._asdict() for place in drawn.places],
        "queues": dict(drawn.states),
        "reads": [list(span) for span in drawn.reads],
        "writes": [list(span) for span in drawn.writes],
    }
    return Answer(document, str(drawn))


def mask(at: Stepper, words: list[str]) -> Answer:
    """Draw the bits of a buffer as the lanes of a mask, 64 a row."""
    buffer, slot = buffer_and_slot(words[0])
    whole = at.mask(buffer, slot=slot)
    count = whole.bits.size
    start, stop = 0, min(count, _MASK_LANES)
    if len(words) > 1:
        start, stop = lane_range(words[1], count, buffer)
    shown = Mask(whole.buffer, whole.bits[start:stop], start)
    document: dict[str, Any] = {
        "buffer": buffer,
        "slot": slot,
        "lanes": [start, stop],
        "on": int(shown.bits.sum()),
        "bits": shown.bits.astype(int).tolist(),
    }
    return Answer(document, str(shown))


def queues(at: Stepper, _: list[str]) -> Answer:
    """List the states of all slots."""
    states = at.queues()
    rows = [(name, ", ".join(slots)) for name, slots in states.items()]
    return Answer({"queues": states}, text.table("queues", ("queue", "slots"), rows))


def registers(at: Stepper, _: list[str]) -> Answer:
    """List what the registers hold that calls set and later calls obey."""
    held = at.registers()
    rows = list(words_of(held).items())
    return Answer({"registers": held.to_json()}, text.table("registers", ("", "holds"), rows))


def buffers(at: Stepper, _: list[str]) -> Answer:
    """List the buffers, each with its place in UB."""
    places = list(at.buffers().values())
    rows = [
        (
            p.name,
            p.kind,
            f"{p.num} x {p.nbytes}",
            f"UB[{p.start:#x}, {p.start + p.num * p.nbytes:#x})",
            _bar(p.start, p.start + p.num * p.nbytes, at.ub.size),
        )
        for p in places
    ]
    columns = ("buffer", "kind", "bytes", "where", f"UB, {at.ub.size} bytes")
    document = {"buffers": [p._asdict() for p in places], "ub": at.ub.size}
    return Answer(document, text.table("buffers", columns, rows))


def _bar(start: int, stop: int, size: int) -> str:
    first = start * _CELLS // size
    last = max(-(-stop * _CELLS // size), first + 1)
    return "." * first + "#" * (last - first) + "." * (_CELLS - last)
