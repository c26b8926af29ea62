"""synccheck: who waits for whom when a WaitFlag finds no flag.

On hardware the waiting pipe stops and the others go on, so the kernel is run to its end: what a
stopped pipe would have signalled never comes, and pipes that wait for that stop as well. Either the
flag is set later by a pipe that still runs, or this is the chain of the deadlock.
Source: asc-devkit docs, intra-core synchronisation (documented).
"""

from __future__ import annotations

from typing import Any

from ascendsim.enums import PIPE
from ascendsim.errors import AscendError
from ascendsim.observe.checks.findings import Findings, at
from ascendsim.record import UB, Instr


class Hang:
    """A wait without flag in one block, and what follows from it.

    first : the WaitFlag; error : what it would have raised; flags : those that are set
    """

    def __init__(
        self,
        findings: Findings,
        first: Instr,
        error: AscendError,
        flags: dict[tuple[str, int], Instr],
    ) -> None:
        self.findings, self.first, self.error = findings, first, error
        self.flags = dict(flags)
        self.wanted = (first.call.fields["mode"], first.call.fields["event"])
        event: Any = error.about
        self.source = event[0].pipes[0]
        self.stopped: dict[PIPE, str] = {first.call.pipe: f"{_name(first.call.pipe)} waits here"}
        self.lost: set[int] = set()
        self.setter: Instr | None = None
        self.reached = False

    def see(self, instr: Instr) -> None:
        """Follow a call behind the wait; once the scalar unit stops nothing more is issued."""
        if self.reached or PIPE.PIPE_S in self.stopped:
            return
        call = instr.call
        for token in instr.waits:
            if token.serial in self.lost:
                self._stop(token.destination, token.source, instr)
        if call.pipe is PIPE.PIPE_ALL:
            self._stop(PIPE.PIPE_S, next(iter(self.stopped)), instr)
        self.lost.update(t.serial for t in instr.signals if t.source in self.stopped)
        key = (call.fields.get("mode"), call.fields.get("event"))
        if call.name == "SetFlag":
            self.flags[key] = instr  # type: ignore[index]
            if key == self.wanted and self.setter is None:
                self.setter, self.reached = instr, call.pipe not in self.stopped
        elif call.name == "WaitFlag":
            self.flags.pop(key, None)  # type: ignore[arg-type]

    def _stop(self, pipe: PIPE, other: PIPE, instr: Instr) -> None:
        place = at(self.findings.place(instr.where))
        what = instr.call.name
        held = [a.holder.name for a in instr.call.accesses if a.space == UB]
        what += f" of {held[0]}" if held else ""
        self.stopped.setdefault(pipe, f"{_name(pipe)} waits for {_name(other)} at {what}, {place}")

    def report(self) -> AscendError:
        """Report the wait, and return the error with its place; it ends the launch."""
        error, first = self.error, self.first
        error.where, error.block = self.findings.place(first.where), first.block
        call = (first.block, first.seq)
        self.findings.add_error(error, call, self.setter, f" ({self._chain()})")
        error.taken = True
        return error

    def _chain(self) -> str:
        if self.reached:
            assert self.setter is not None
            return (
                f"{_name(self.source)} gets to the SetFlag at "
                f"{at(self.findings.place(self.setter.where))} by itself: there it does come"
            )
        parts = list(self.stopped.values())
        parts[0] += f" for {_name(self.source)}"
        if self.setter is None:
            parts[0] += ", which never sets the flag: it hangs"
        elif self.source is not self.first.call.pipe:
            place = at(self.findings.place(self.setter.where))
            parts[0] += f", which would set the flag at {place}: it hangs"
        left = ", ".join(
            f"{event}({number}) at {at(self.findings.place(instr.where))}"
            for (event, number), instr in self.flags.items()
            if (event, number) != self.wanted
        )
        return "; ".join(parts) + (f"; set and waited for by nobody: {left}" if left else "")


def _name(pipe: PIPE) -> str:
    return pipe.name.removeprefix("PIPE_")
