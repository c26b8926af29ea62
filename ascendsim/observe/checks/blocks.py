"""What blocks do to one another through GM: bytes that two of them touch, and no order between.

Blocks are ordered only by SyncAll, IBSet and IBWait. What a block does between two of those is one
section; `before[block, section]` says which sections of the others were over when it began. All
accesses are kept as byte ranges (neighbours of one line as one) and compared when the launch ends.
"""

from __future__ import annotations

from typing import Any

from ascendsim.observe.checks.findings import Findings, named
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import GM, Instr

SYNCS = ("SyncAll", "IBSet", "IBWait")
MAX_COMPARED = 1 << 21  # pairs, for kernels in which everything collides


class Traffic:
    """Accesses of all blocks to GM, and the order between blocks."""

    MANAGED = SYNCS

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.pieces: dict[int, list[Piece]] = {}
        self.section: dict[int, int] = {}
        self.over: dict[int, dict[int, int]] = {}  # block -> what it knows to be over, per block
        self.before: dict[tuple[int, int], dict[int, int]] = {}
        self.meetings: dict[Any, dict[int, int]] = {}
        self.met: dict[Any, int] = {}
        self.order = 0

    def access(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Keep what a call touches in GM."""
        for each in touched:
            if each.holder is None:
                continue
            pieces = self.pieces.setdefault(id(each.holder), [])
            section = self.section.get(instr.block, 0)
            self.order += 1
            for start, stop in each.spans():
                last = pieces[-1] if pieces else None
                if last is None or not last.grows(start, stop, each, instr, section):
                    pieces.append(Piece(start, stop, each, instr, section, self.order))

    def manage(self, instr: Instr) -> None:
        """Take an order between blocks into account."""
        call, block = instr.call, instr.block
        gm = next((a for a in call.accesses if a.space == GM), None)
        if call.name != "SyncAll":
            meeting: Any = (id(gm.holder), gm.start) if gm is not None else call.name
            self._leave(block, meeting)
            self._arrive(block, meeting)
        elif call.fields["phase"] == "arrive":
            times = self.met[block] = self.met.get(block, 0) + 1
            self._arrive(block, times)
        else:
            self._leave(block, self.met.get(block, 0))

    def end(self) -> None:
        """Report the bytes that two blocks touch without order."""
        budget = MAX_COMPARED
        for pieces in self.pieces.values():
            if any(piece.touched.writes for piece in pieces):
                budget = self._sweep(pieces, budget)

    def _arrive(self, block: int, meeting: Any) -> None:
        """End the section of a block, and let those know who leave the meeting later."""
        section = self.section.get(block, 0)
        known = self.meetings.setdefault(meeting, {})
        _join(known, {**self.over.get(block, {}), block: section})
        self.section[block] = section + 1
        self.before[block, section + 1] = dict(self.over.get(block, {}))

    def _leave(self, block: int, meeting: Any) -> None:
        over = self.over.setdefault(block, {})
        _join(over, self.meetings.get(meeting, {}))
        section = self.section.get(block, 0)
        self.section[block] = section + 1
        self.before[block, section + 1] = dict(over)

    def _sweep(self, pieces: list[Piece], budget: int) -> int:
        """Compare the pieces of one tensor that overlap; return what is left of the budget."""
        readers: list[Piece] = []
        writers: list[Piece] = []
        for piece in sorted(pieces, key=lambda each: each.start):
            writers = [each for each in writers if each.stop > piece.start]
            against = writers
            if piece.touched.writes:
                readers = [each for each in readers if each.stop > piece.start]
                against = writers + readers
            for other in against:
                budget -= 1
                if budget < 0:
                    return budget
                if other.instr.block != piece.instr.block and not self._ordered(other, piece):
                    self._report(*sorted((other, piece), key=lambda each: each.order))
            (writers if piece.touched.writes else readers).append(piece)
        return budget

    def _ordered(self, one: Piece, other: Piece) -> bool:
        if one.touched.atomic == other.touched.atomic != "":
            return True
        return self._over(one, other) or self._over(other, one)

    def _over(self, one: Piece, other: Piece) -> bool:
        """Tell whether the section of `one` was over when that of `other` began."""
        known = self.before.get((other.instr.block, other.section), {})
        return known.get(one.instr.block, -1) >= one.section

    def _report(self, old: Piece, new: Piece) -> None:
        kind = "waw"
        if not (old.touched.writes and new.touched.writes):
            kind = "raw" if old.touched.writes else "war"
        tools = self.findings.tools
        code = f"racecheck:{kind}-inter-core"
        if kind == "waw" and "memcheck" in tools:
            code = "memcheck:gm-trample"
        elif "racecheck" not in tools:
            return
        verbs = [("writes" if each.touched.writes else "reads") for each in (new, old)]
        line = self.findings.place(old.instr.where)[1]
        self.findings.add(
            code,
            new.instr,
            f"{named(new.instr)} of block {new.instr.block} {verbs[0]} bytes of "
            f"{new.touched.memory} that {named(old.instr)} (line {line}) of block "
            f"{old.instr.block} "
            f"{verbs[1]}: nothing orders the blocks",
            memory=new.touched.memory,
            span=(max(old.start, new.start), min(old.stop, new.stop)),
            partner=old.instr,
        )


class Piece:
    """A contiguous range of bytes that calls of one line of one section touch alike."""

    __slots__ = ("instr", "order", "section", "start", "stop", "touched")

    def __init__(
        self, start: int, stop: int, touched: Touched, instr: Instr, section: int, order: int
    ) -> None:
        self.start, self.stop, self.touched = start, stop, touched
        self.instr, self.section, self.order = instr, section, order

    def grows(self, start: int, stop: int, touched: Touched, instr: Instr, section: int) -> bool:
        """Take the next range in when it continues this one."""
        mine, where = self.instr, instr.where
        if (
            start != self.stop
            or instr.block != mine.block
            or section != self.section
            or where[:2] != mine.where[:2]
            or touched.writes != self.touched.writes
            or touched.atomic != self.touched.atomic
        ):
            return False
        self.stop = stop
        return True


def _join(known: dict[int, int], other: dict[int, int]) -> None:
    for block, section in other.items():
        if known.get(block, -1) < section:
            known[block] = section
