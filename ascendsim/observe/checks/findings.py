"""Where findings are collected: the same code at the same lines is one finding with a count.

A kernel has few lines, so memory is bounded however often a fault happens.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from ascendsim.errors import AscendError, SanitizerError
from ascendsim.observe.checks.codes import CODES, ERROR, tool_of
from ascendsim.record import UB, Finding, Instr, Span

MAX_FINDINGS = 2000  # generated code may have any number of lines


class Findings:
    """The findings of a run, in the order in which they came.

    tools : the checks that run; raising : those that raise SanitizerError instead of reporting
    """

    def __init__(self, tools: Collection[str], raising: Collection[str] = ()) -> None:
        self.tools, self.raising = frozenset(tools), frozenset(raising)
        self._found: dict[tuple[Any, ...], Finding] = {}
        self._counts: dict[tuple[Any, ...], int] = {}
        self._last: dict[tuple[Any, ...], tuple[int, ...]] = {}  # the calls that counted last
        self._places: dict[tuple[int, int], tuple[Any, tuple[str, int]]] = {}
        self.limits: dict[str, str] = {}  # what the checks stopped looking at, as warnings

    def all(self) -> list[Finding]:
        """Return the findings with their counts."""
        return [
            found if self._counts[key] == found.count else replace(found, count=self._counts[key])
            for key, found in self._found.items()
        ]

    def add(
        self,
        code: str,
        instr: Instr,
        message: str,
        *,
        memory: str = "",
        span: tuple[int, int] | None = None,
        partner: Instr | None = None,
        way_out: str = "",
    ) -> None:
        """Report `code` at a call; `span` are bytes of `memory`, `partner` the other call.

        `way_out` takes the place of the general one of the code.

        Raises
        ------
        SanitizerError
            When the tool was asked to raise what is an error.
        """
        where = self.place(instr.where)
        other = None if partner is None else self.place(partner.where)
        key = (code, where, other)
        calls = (instr.block, instr.seq, *(() if partner is None else (partner.block, partner.seq)))
        if self._known(key, calls):
            return
        severity, general, otherwise = CODES[code]
        way_out = way_out or general or otherwise
        told = "" if partner is None or other is None else f"{named(partner)} at {at(other)}"
        found = Finding(
            code, severity, message, instr.block, instr.seq,
            None if partner is None else partner.seq,
            where, span, 1, instr.call.name, told, memory, way_out, _buffer_at(instr, memory, span),
        )  # fmt: skip
        if severity == ERROR and tool_of(code) in self.raising:
            raise SanitizerError(f"{message}; {way_out} [{code}]")
        self._keep(key, found, calls)

    def add_error(
        self, error: AscendError, call: tuple[int, int], partner: Instr | None, note: str = ""
    ) -> None:
        """Report an error that ended a block at `call` (block, number); `note` goes to its text."""
        other = None if partner is None else self.place(partner.where)
        key = (error.finding, error.where, other)
        if self._known(key, call):
            return
        told = "" if partner is None or other is None else f"{named(partner)} at {at(other)}"
        found = replace(
            _of_error(error, call, note),
            where=error.where,
            other_seq=None if partner is None else partner.seq,
            partner=told,
        )
        self._keep(key, found, call)

    def add_beyond(self, error: AscendError, instr: Instr) -> None:
        """Report an error that a call would have raised without out_of_bounds=report."""
        where = self.place(instr.where)
        key = (error.finding, where, error.message.partition(" ")[0], None)
        call = (instr.block, instr.seq)
        if not self._known(key, call):
            self._keep(key, replace(_of_error(error, call, ""), where=where), call)

    def place(self, where: Any) -> tuple[str, int]:
        """Return file (relative to the working directory when below it) and line of a call."""
        code = where[0]  # kept, so that its identity stays its own
        key = (id(code), where[1])
        found = self._places.get(key)
        if found is None:
            if len(self._places) >= 4 * MAX_FINDINGS:
                self._places.clear()
            found = self._places[key] = code, (_short(where.file), where.line)
        return found[1]

    def codes(self) -> set[str]:
        """Return the codes that were reported."""
        return {found.code for found in self._found.values()}

    def _known(self, key: tuple[Any, ...], calls: tuple[int, ...]) -> bool:
        """Count a finding that was reported before, or one too many.

        The same calls count once, however many of their operands the finding is about.
        """
        if key in self._counts:
            self._counts[key] += self._last[key] != calls
            self._last[key] = calls
            return True
        if len(self._counts) >= MAX_FINDINGS:
            self.limits["checks-limit"] = (
                f"more than {MAX_FINDINGS} different findings: the rest is not reported; mend "
                f"these first, or run fewer checks (--tools)"
            )
            return True
        return False

    def _keep(self, key: tuple[Any, ...], found: Finding, calls: tuple[int, ...]) -> None:
        self._found[key], self._last[key] = found, calls
        self._counts[key] = 1


def _of_error(error: AscendError, call: tuple[int, int], note: str) -> Finding:
    """Return what an error of a call says, without its place."""
    about: Any = error.about
    name, colon, _ = error.message.partition(":")
    severity, way_out, otherwise = CODES[error.finding]
    message, cut, advice = error.message.rpartition("; ")
    if way_out or not cut:
        message, advice = error.message, otherwise
    memory, span, buffer = "", None, ""
    if isinstance(about, Span):
        span, holder = (about.start, about.stop), about.holder.name
        memory, buffer = (UB, holder) if about.space == UB else (holder, "")
    elif hasattr(about, "nbytes"):  # a tensor or a buffer
        memory, span = UB, (about.start, about.start + about.nbytes)
        buffer = getattr(about, "buffer", about).name
    return Finding(
        error.finding, severity, message + note, *call,
        bytes=span, instruction=name if colon else "", memory=memory,
        way_out=way_out or advice, buffer=buffer,
    )  # fmt: skip


def _buffer_at(instr: Instr, memory: str, span: tuple[int, int] | None) -> str:
    """Return the name of the buffer of an operand in which `span` of UB begins."""
    if memory != UB or span is None:
        return ""
    for access in instr.call.accesses:
        holder = access.holder
        if access.space == UB and holder.start <= span[0] < holder.start + holder.nbytes:
            return str(holder.name)
    return ""


def named(instr: Instr) -> str:
    """Return an instruction with its pipe: `Muls on V`."""
    return f"{instr.call.name} on {instr.call.pipe.name.removeprefix('PIPE_')}"


def at(place: tuple[str, int]) -> str:
    """Return `file:line`."""
    return f"{place[0]}:{place[1]}"


def _short(file: str) -> str:
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file
