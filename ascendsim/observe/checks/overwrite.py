"""memcheck, strict: bytes of UB that are stored twice with no read between (npuchk: ErrorWrite3).

Suspicious and no fault: a fill of whole repeats whose first lanes are computed next looks the same,
so it is only told on request. Contents that AllocTensor or InitBuffer ends count as read, and
so do padding of DataCopyPad and scratch of reductions, which nobody means to read.
Source: npuchk log codes (documented).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.observe.checks.findings import Findings, named
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import UB, Instr


class Overwritten:
    """Of each byte of the UB of one block: who stored it, as long as nobody has read it."""

    MANAGED = ("AllocTensor", "InitBuffer")

    def __init__(self, findings: Findings, core: Any) -> None:
        self.findings = findings
        self.writer = np.zeros(core.ub.nbytes, np.int32)  # number of a line in `lines`, 0: read
        self.seq = np.zeros(core.ub.nbytes, np.int64)
        self.lines: list[Instr] = []
        self.numbers: dict[tuple[int, int, str], int] = {}

    def manage(self, instr: Instr) -> None:
        """Forget the contents of buffers that are given anew."""
        call = instr.call
        if call.name == "AllocTensor":
            buffer = call.accesses[0].holder
            self.writer[buffer.start : buffer.start + buffer.nbytes] = 0
        else:
            start = call.fields["ub"]
            self.writer[start : start + call.fields["num"] * call.fields["len32"]] = 0

    def access(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Follow a call: its reads, then its writes."""
        local = [each for each in touched if each.holder is None]
        for each in local:
            if not each.writes:
                self.writer[each.start : each.stop][each.index] = 0
        for each in local:
            if each.writes:
                self._store(instr, each)

    def _store(self, instr: Instr, touched: Touched) -> None:
        writer = self.writer[touched.start : touched.stop]
        lost = writer if touched.mask is None else np.where(touched.mask, writer, 0)
        if lost.any():
            self._report(instr, touched, np.flatnonzero(lost) + touched.start)
        if touched.access.role == "tmp":
            writer[touched.index] = 0
            return
        writer[touched.index] = self._number(instr)
        self.seq[touched.start : touched.stop][touched.index] = instr.seq
        pad = getattr(instr.call.row, "pad", None)
        if pad is not None:
            self._padding(instr, pad.left)

    def _padding(self, instr: Instr, left: int) -> None:
        """Count what stands around the blocks of a copy as read."""
        into, out_of = instr.call.accesses
        blocks = instr.call.geometry.blocks  # type: ignore[union-attr]
        around = np.r_[0:left, left + out_of.element : into.element]
        starts = into.start + np.arange(blocks) * into.block_stride
        self.writer[starts[:, None] + around] = 0

    def _number(self, instr: Instr) -> int:
        """Return the number of a call's line, from 1; the last call of each line is kept."""
        key = (id(instr.where[0]), instr.where[1], instr.call.name)  # type: ignore[assignment]
        found = self.numbers.get(key)
        if found is None:
            self.lines.append(instr)
            found = self.numbers[key] = len(self.lines)
        self.lines[found - 1] = instr
        return found

    def _report(self, instr: Instr, touched: Touched, lost: np.ndarray) -> None:
        first = int(lost[0])
        old = self.lines[self.writer[first] - 1]._replace(seq=int(self.seq[first]))
        line = self.findings.place(old.where)[1]
        self.findings.add(
            "memcheck:double-write",
            instr,
            f"{named(instr)} overwrites {lost.size} bytes of {touched.access.holder.name} that "
            f"{named(old)} (line {line}) stored and nobody read",
            memory=UB,
            span=(first, int(lost[-1]) + 1),
            partner=old,
        )
