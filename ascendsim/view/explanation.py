"""The answer to why an element of an output is not what the definition gives."""

from __future__ import annotations

import linecache
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an element is not what the definition gives.

    kind : literal, rounding, flush, overflow, nan, branch; exact when it is what the definition
    gives, formula when no single call is to blame; position, name, line, file, bits, source : of
    the call and its lane, position -1 when there is none; text : the sentence.
    """

    kind: str
    block: int
    position: int
    name: str
    file: str
    line: int
    bits: int
    actual: int
    expected: int
    text: str

    @property
    def source(self) -> str:
        """The kernel's line."""
        return linecache.getline(self.file, self.line).strip()

    def _repr_html_(self) -> str:
        from ascendsim.view.html.answers import explanation_html

        return explanation_html(self)

    def __str__(self) -> str:
        return self.text
