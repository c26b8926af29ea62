"""Read the text of a program (program.py writes it), and what holds for the loop made from it.

Nothing here needs the compiler: a loop that is kept as machine code runs without it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: lanes of a value: wider truth values make LLVM move them between vectors of other widths
WIDTH = 16
#: values side by side in one round of the loop, so that the latency of one hides another's
SIDE_BY_SIDE = 2
CHUNK = WIDTH * SIDE_BY_SIDE
_LINE = re.compile(r"(?:v(\d+) = )?(\w+)\((.*)\)")


class NotFusableError(Exception):
    """The emitter of an instruction needs more than one lane of each operand."""


class Line(NamedTuple):
    """One line of a program: `fields` are its arguments, values as plain numbers."""

    name: str
    fields: dict[str, int]


def parse(text: str) -> list[Line]:
    """Return the lines of a program."""
    lines = []
    for line in text.strip().splitlines():
        match = _LINE.fullmatch(line.strip())
        assert match is not None, line
        pairs = (pair.split("=") for pair in match[3].split(", "))
        lines.append(Line(match[2], {name: int(value.lstrip("v")) for name, value in pairs}))
    return lines
