"""The commands of a stepping session: a line of words in, what it shows out.

Each verb takes the stepper and the words behind it. Its answer is a document (for `--json`) and
the text of the same. A wrong line raises RequestError and leaves the stepper where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ascendsim.cli import memory
from ascendsim.cli.wanted import asked, check_known
from ascendsim.cli.words import Answer, buffer_and_slot, lane_range, lanes_and_kind, number, times
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import RequestError
from ascendsim.record import Instr
from ascendsim.view import text
from ascendsim.view.stepper import Stepper

_LINE = 70  # columns of values
_AROUND = 3  # lines of source before and after


class Verb(NamedTuple):
    """A command: the words it takes (least and most), how to write it, what it does."""

    least: int
    most: int
    usage: str
    run: Callable[[Stepper, list[str]], Answer]


def do(at: Stepper, line: str) -> Answer:
    """Do one command.

    Raises
    ------
    RequestError
        When there is no such command, or its words make no sense.
    """
    name, *words = line.split()
    verb = VERBS.get(SHORT.get(name, name))
    if verb is None:
        raise RequestError(f"{name!r} is no command; there are {', '.join(VERBS)}, block, quit")
    if not verb.least <= len(words) <= verb.most:
        raise RequestError(f"{line.strip()!r}: write it as {verb.usage}")
    return verb.run(at, words)


def where(at: Stepper) -> Answer:
    """Return where the stepper stands: the next call and its line in the kernel."""
    document: dict[str, Any] = {"position": at.position, "length": len(at), "next": None}
    head = f"{at.position} of {len(at)}: "
    if at.instr is None:
        return Answer(document, head + "end of the block")
    document["next"], told = _call(at, at.instr)
    return Answer(document, head + told)


def _call(at: Stepper, instr: Instr) -> tuple[dict[str, Any], str]:
    """Return the next call as JSON and as text."""
    file, line, code = at.source()
    pipe = instr.call.pipe.name.removeprefix("PIPE_")
    phase = instr.where.phase or None
    document = {
        "call": instr.call.name,
        "pipe": pipe,
        "phase": phase,
        "tile": at.tile,
        "file": file,
        "line": line,
        "source": code,
    }
    place = f"{phase or 'outside the phases'}, tile {at.tile}" if at.tile >= 0 else "before tile 0"
    return document, f"{instr.call.name} on {pipe}, {place}, {_short(file)}:{line}: {code}"


def _next(at: Stepper, words: list[str]) -> Answer:
    return where(at.next(times(words)))


def _back(at: Stepper, words: list[str]) -> Answer:
    return where(at.back(times(words)))


def _goto(at: Stepper, words: list[str]) -> Answer:
    if "=" in words[0]:
        wanted = asked(words, VERBS["goto"].usage)
        check_known(at, wanted)
        return where(at.goto(**wanted))
    if len(words) > 1:
        raise RequestError(f"goto {' '.join(words)!r}: write it as {VERBS['goto'].usage}")
    return where(at.goto(len(at) if words[0] == "end" else number(words[0], "a position")))


def _until(at: Stepper, words: list[str]) -> Answer:
    backwards = words[-1] == "back"
    wanted = asked(words[:-1] if backwards else words, VERBS["until"].usage)
    check_known(at, wanted)
    found = at.until(backwards=backwards, **wanted)
    stands = where(at)
    reason = "" if found else f"nothing {'before' if backwards else 'behind'} here fits\n"
    document: dict[str, Any] = stands.document | {"found": found}
    if at.hit is not None and at.done is not None:
        hit, position = at.hit, at.position - 1
        document["hit"] = hit._asdict() | {"dtype": hit.dtype.name, "position": position}
        reason = f"{hit} since [{position}] {at.done.call.name}\n"
    return Answer(document, reason + stands.text)


def _view(at: Stepper, words: list[str]) -> Answer:
    return _lanes(at, words, as_bits=False)


def _bits(at: Stepper, words: list[str]) -> Answer:
    return _lanes(at, words, as_bits=True)


def _lanes(at: Stepper, words: list[str], as_bits: bool) -> Answer:
    buffer, slot = buffer_and_slot(words[0])
    lanes, kind = lanes_and_kind(words[1:])
    values, raw = at.view(buffer, kind, slot), at.bits(buffer, kind, slot)
    start, stop = lane_range(lanes, len(values), buffer)
    document = {
        "buffer": buffer,
        "slot": slot,
        "dtype": as_dtype(values.dtype.name).name,
        "lanes": [start, stop],
        "values": values[start:stop].tolist(),
        "bits": raw[start:stop].tolist(),
    }
    digits = 2 * raw.itemsize
    shown = [f"{word:#0{digits + 2}x}" for word in raw[start:stop].tolist()]
    if not as_bits:
        shown = [str(value) for value in values[start:stop]]
    if stop - start == 1:
        both = f"{values[start]!s}  bits {int(raw[start]):#0{digits + 2}x}"
        return Answer(document, f"{_named(at, buffer, slot)}[{start}] = {both}")
    head = f"{_named(at, buffer, slot)}[{start}:{stop}] of {len(values)} {document['dtype']}"
    width = max(map(len, shown))
    count = 8 if 8 * (width + 2) <= _LINE else 4
    rows = [
        f"  {start + k:>6}  " + "  ".join(f"{word:>{width}}" for word in shown[k : k + count])
        for k in range(0, len(shown), count)
    ]
    return Answer(document, "\n".join([head, *rows]))


def _who(at: Stepper, words: list[str]) -> Answer:
    name, plus, offset = words[0].partition("+")
    if name[:1].isdigit():
        address = number(words[0], "an address")
    else:
        buffer, slot = buffer_and_slot(name)
        address = at.address(buffer, number(offset, "a byte of the buffer") if plus else 0, slot)
    if not 0 <= address < at.ub.size:
        raise RequestError(f"UB has bytes 0..{at.ub.size - 1:#x}, not {address:#x}")
    position = at.who_wrote(address)
    document: dict[str, Any] = {"address": address, "position": position, "call": None}
    if position is None:
        return Answer(document, f"UB[{address:#x}]: no call before this moment stored it")
    writer, here = at.entries[position].instr, at.position
    document["call"], told = _call(at.goto(position), writer)
    at.goto(here)
    return Answer(document, f"UB[{address:#x}]: [{position}] {told}")


def _why(at: Stepper, words: list[str]) -> Answer:
    buffer, slot, lane, kind = _one_lane(at, words)
    cause = at.why(buffer, lane, kind, slot)
    document = {"buffer": buffer, "slot": slot, "lane": lane, "bits": cause.bits}
    return Answer(document | {"causes": cause.lines()}, str(cause))


def _watch(at: Stepper, words: list[str]) -> Answer:
    buffer, slot, lane, kind = _one_lane(at, words)
    changes = at.watch(buffer, lane, kind, slot)
    document = {"buffer": buffer, "slot": slot, "lane": lane}
    rows = [(c.position, c.name, f"{c.before:#x}", f"{c.after:#x}") for c in changes]
    title = f"stores to {_named(at, buffer, slot)}[{lane}]"
    return Answer(
        document | {"changes": [c._asdict() for c in changes]},
        text.table(title, ("position", "call", "before", "after"), rows),
    )


def _source(at: Stepper, _: list[str]) -> Answer:
    file, line, code = at.source()
    lines = [] if at.instr is None else at.instr.where.source
    first, last = max(line - _AROUND, 1), min(line + _AROUND, len(lines))
    shown = [
        f"{'>' if k == line else ' '} {k:>4}  {lines[k - 1].rstrip()}"
        for k in range(first, last + 1)
    ]
    document = {"file": file, "line": line, "source": code}
    return Answer(document, "\n".join([_short(file) or "end of the block", *shown]))


def _help(_at: Stepper, _words: list[str]) -> Answer:
    lines = ["an empty line repeats the last command", *(verb.usage for verb in VERBS.values())]
    commands = [*VERBS, "block"]
    return Answer({"commands": commands}, "\n".join([*lines, "block K", "q(uit)"]))


VERBS = {
    "next": Verb(0, 1, "n(ext) [COUNT]", _next),
    "back": Verb(0, 1, "b(ack) [COUNT]", _back),
    "goto": Verb(1, 5, "g(oto) POSITION|end|name=|pipe=|phase=|tile=|writes=VALUE ...", _goto),
    "until": Verb(
        1,
        10,
        "u(ntil) name=|pipe=|phase=|tile=|writes=|holds=VALUE ... [back]; "
        "holds= with buffer=BUFFER[@SLOT], lane=, dtype= stops behind the call",
        _until,
    ),
    "view": Verb(1, 3, "v(iew) BUFFER[@SLOT] [LANE|FROM:TO] [DTYPE]", _view),
    "bits": Verb(1, 3, "bits BUFFER[@SLOT] [LANE|FROM:TO] [DTYPE]", _bits),
    "who": Verb(1, 1, "w(ho) ADDRESS|BUFFER[@SLOT][+BYTE]", _who),
    "why": Verb(2, 3, "why BUFFER[@SLOT] LANE [DTYPE]", _why),
    "watch": Verb(2, 3, "watch BUFFER[@SLOT] LANE [DTYPE]", _watch),
    "map": Verb(0, 0, "m(ap)", memory.ub_map),
    "mask": Verb(1, 2, "mask BUFFER[@SLOT] [LANE|FROM:TO]", memory.mask),
    "queues": Verb(0, 0, "queues", memory.queues),
    "buffers": Verb(0, 0, "buffers", memory.buffers),
    "registers": Verb(0, 0, "r(egisters)", memory.registers),
    "source": Verb(0, 0, "s(ource)", _source),
    "help": Verb(0, 0, "h(elp)", _help),
}
SHORT = {"n": "next", "b": "back", "g": "goto", "u": "until", "v": "view", "w": "who"} | {
    "m": "map",
    "r": "registers",
    "s": "source",
    "h": "help",
    "?": "help",
}


def _one_lane(at: Stepper, words: list[str]) -> tuple[str, int, int, str | None]:
    buffer, slot = buffer_and_slot(words[0])
    kind = words[2] if len(words) > 2 else None
    lane = number(words[1], "a lane")
    lane_range(str(lane), len(at.view(buffer, kind, slot)), buffer)
    return buffer, slot, lane, kind


def _named(at: Stepper, buffer: str, slot: int) -> str:
    return f"{buffer}@{slot}" if at.buffers()[buffer].num > 1 else buffer


def _short(file: str) -> str:
    """Return a kernel's file with its folder only."""
    return "/".join(file.replace(os.sep, "/").split("/")[-2:])
