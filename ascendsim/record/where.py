"""Where in a kernel a call stands: file, line and phase, resolved only when they are asked for."""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import CodeType
from typing import NamedTuple


class Where(NamedTuple):
    """A place in the kernel, resolved to file and line only when printed; `caller` called it."""

    code: CodeType
    instruction: int
    caller: CodeType | None = None

    @property
    def phase(self) -> str:
        """CopyIn, Compute or CopyOut, by the name of the kernel's method; "" elsewhere."""
        for code in (self.code, self.caller):
            for phase in ("CopyIn", "Compute", "CopyOut"):
                if code is not None and code.co_name.startswith(phase):
                    return phase
        return ""

    @property
    def file(self) -> str:
        """Source file of the kernel."""
        return self.code.co_filename

    @property
    def line(self) -> int:
        """Source line of the call."""
        return _line(self.code, self.instruction)

    @property
    def source(self) -> list[str]:
        """All lines of that file; none where it cannot be read."""
        return linecache.getlines(self.file)

    @property
    def text(self) -> str:
        """The line itself, without the space around it."""
        return line_of(self.source, self.line)


@lru_cache(maxsize=4096)
def _line(code: CodeType, instruction: int) -> int:
    for start, stop, line in code.co_lines():
        if start <= instruction < stop and line is not None:
            return line
    return code.co_firstlineno


class Line(NamedTuple):
    """A place in a kernel that is not here: what a `Where` came to when its run was saved."""

    file: str
    line: int
    phase: str
    source: list[str]

    @property
    def text(self) -> str:
        """The line itself, without the space around it."""
        return line_of(self.source, self.line)


def line_of(source: list[str], line: int) -> str:
    """Return line `line` (from 1) of a file, without the space around it; "" when it has none."""
    return source[line - 1].strip() if 1 <= line <= len(source) else ""
