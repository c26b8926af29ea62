"""What blocks do to one another through GM: bytes that two of them touch, and no order between.

Blocks are ordered only by SyncAll, IBSet and IBWait. What a block does between two of those is one
section; `before[block, section]` says which sections of the others were over when it began. The
bytes of each line of the kernel in each section are kept as one set, and the sets are compared
when the launch ends. The data cache of the scalar unit writes back whole lines, so there writes to
different bytes of a line are compared too.
Source: asc-devkit docs, pages on cache coherence and DataCacheCleanAndInvalid (documented).
"""

from __future__ import annotations

from typing import Any

from ascendsim.observe.checks.findings import Findings, named
from ascendsim.observe.checks.ranges import meet, whole
from ascendsim.observe.checks.spans import Place, overlapping
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import GM, Instr

SYNCS = frozenset(("SyncAll", "IBSet", "IBWait"))
LINE_BYTES = 64  # of the data cache of the scalar unit
MAX_COMPARED = 1 << 21  # pairs of sets; only sections by the thousand come near


class Traffic:
    """Accesses of all blocks to GM, and the order between blocks."""

    MANAGED = SYNCS

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.places: dict[int, dict[tuple[Any, ...], Place]] = {}  # by tensor
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
            self.order += 1
            block, (code, at, *_) = instr.block, instr.where
            section = self.section.get(block, 0)
            key = (block, section, id(code), at, each.writes, each.atomic)
            places = self.places.setdefault(id(each.holder), {})
            place = places.get(key)
            if place is None:
                place = places[key] = Place(instr, each, section, self.order)
            place.add(each)

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
        compared = 0
        for places in self.places.values():
            if not any(place.touched.writes for place in places.values()):
                continue
            lines = any(place.cached for place in places.values())
            for pair in overlapping(list(places.values()), LINE_BYTES if lines else 1):
                compared += 1
                if compared > MAX_COMPARED:
                    self._stop()
                    return
                if pair[0].block != pair[1].block:
                    self._compare(*sorted(pair, key=lambda each: each.order))

    def _stop(self) -> None:
        self.findings.limits["checks-limit-blocks"] = (
            f"more than {MAX_COMPARED} pairs of accesses of different blocks to the "
            f"same bytes: the rest is not compared; take fewer elements or blocks"
        )

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

    def _compare(self, old: Place, new: Place) -> None:
        """Report what two blocks do to the same bytes, or to the same line of the data cache."""
        writes = old.touched.writes, new.touched.writes
        if not any(writes) or self._ordered(old, new):
            return
        span = meet(old.ranges(), new.ranges())
        if span is not None:
            self._report(old, new, span)
        elif all(writes) and (old.cached or new.cached) and "memcheck" in self.findings.tools:
            line = meet(*(whole(each.ranges(), LINE_BYTES) for each in (old, new)))
            if line is not None:
                self._report_line(old, new, line[0])

    def _ordered(self, one: Place, other: Place) -> bool:
        if one.touched.atomic == other.touched.atomic != "":
            return True
        return self._over(one, other) or self._over(other, one)

    def _over(self, one: Place, other: Place) -> bool:
        """Tell whether the section of `one` was over when that of `other` began."""
        known = self.before.get((other.block, other.section), {})
        return known.get(one.block, -1) >= one.section

    def _report(self, old: Place, new: Place, span: tuple[int, int]) -> None:
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
            f"{named(new.instr)} of block {new.block} {verbs[0]} bytes of "
            f"{new.touched.memory} that {named(old.instr)} (line {line}) of block {old.block} "
            f"{verbs[1]}: nothing orders the blocks",
            memory=new.touched.memory,
            span=span,
            partner=old.instr,
        )

    def _report_line(self, old: Place, new: Place, start: int) -> None:
        holder = new.touched.holder
        self.findings.add(
            "memcheck:cache-line",
            new.instr,
            f"{named(new.instr)} of block {new.block} and {named(old.instr)} of block "
            f"{old.block} write the same {LINE_BYTES} bytes of {holder.name}: the data cache "
            f"of the scalar unit writes back whole lines, so one of the two may be lost",
            memory=holder.name,
            span=(start, min(start + LINE_BYTES, holder.nbytes)),
            partner=old.instr,
        )


def _join(known: dict[int, int], other: dict[int, int]) -> None:
    for block, section in other.items():
        if known.get(block, -1) < section:
            known[block] = section
