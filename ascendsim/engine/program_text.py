"""Read the text of a program (program.py writes it)."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r"(?:v(\d+) = )?(\w+)\((.*)\)")


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
