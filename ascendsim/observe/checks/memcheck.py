"""memcheck: accesses that no call refuses by itself.

Bounds, alignment, freed buffers and the like are errors of the call, which the checks turn into
findings. What is left: tensors of memory that was given to others, tensors in a queue, GM past a
tensor (in its slack) or past what SetGlobalBuffer named.
Source: npuchk and mssanitizer, their documented classes; cpudebug checks (code).
"""

from __future__ import annotations

from typing import Any

from ascendsim.observe.checks.findings import Findings
from ascendsim.observe.checks.synccheck import ENQUEUED
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import Instr

_SLACK = {
    "DataCopyPad": "mend its offset or length (in bytes): together they end past the tensor",
    "GetValue": "mend the index: it lies past the tensor",
    "SetValue": "mend the index: it lies past the tensor",
}


class Memory:
    """The buffers that are live in one block, and the windows that it set on GM."""

    MANAGED = ("InitBuffer", "Reset", "Destroy", "SetGlobalBuffer")

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.live: dict[int, Any] = {}
        self.windows: dict[int, list[tuple[int, int]]] = {}

    def manage(self, instr: Instr) -> None:
        """Take note of memory that is given or taken back."""
        name = instr.call.name
        if name == "InitBuffer":
            self._given(instr.call.core.holders[-1])
        elif name in ("Reset", "Destroy"):
            self._taken_back(instr.call.fields)
        elif name == "SetGlobalBuffer":
            self._window(instr)

    def access(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Check what a call touches."""
        for each in touched:
            if each.holder is None:
                self._local(instr, each)
            elif each.stop > each.holder.nbytes:
                self._slack(instr, each)
            else:
                self._in_window(instr, each)

    def _given(self, holder: Any) -> None:
        """Take note of the buffers of a queue or TBuf; those that it had before are gone."""
        self.live = {key: b for key, b in self.live.items() if b.holder is not holder}
        self.live |= {id(buffer): buffer for buffer in holder.buffers}

    def _taken_back(self, fields: dict[str, Any]) -> None:
        """Forget all buffers, or those in the memory of a TBufPool."""
        if not fields:
            self.live.clear()
            return
        start, stop = fields["ub"], fields["ub"] + fields["nbytes"]
        self.live = {key: b for key, b in self.live.items() if not start <= b.start < stop}

    def _local(self, instr: Instr, touched: Touched) -> None:
        buffer, verb = touched.access.holder, "writes" if touched.writes else "reads"
        name, span = instr.call.name, (touched.start, touched.stop)
        if id(buffer) not in self.live:
            text = f"{name} {verb} a tensor of {buffer.name} that InitBuffer does not stand behind"
            self.findings.add("memcheck:unallocated", instr, text, memory="UB", span=span)
        elif buffer.state == ENQUEUED:
            text = f"{name} {verb} {buffer.name} slot {buffer.slot} between its EnQue and DeQue"
            self.findings.add("memcheck:queued-access", instr, text, memory="UB", span=span)

    def _slack(self, instr: Instr, touched: Touched) -> None:
        holder, verb = touched.holder, "writes" if touched.writes else "reads"
        past = touched.stop - holder.nbytes
        self.findings.add(
            "memcheck:gm-slack",
            instr,
            f"{instr.call.name} {verb} {past} bytes past the end of {holder.name}: "
            f"it relies on the padding of the allocation",
            memory=holder.name,
            span=(max(touched.start, holder.nbytes), touched.stop),
            way_out=_SLACK.get(instr.call.name, ""),
        )

    def _window(self, instr: Instr) -> None:
        """Take note of where a GlobalTensor begins and ends; one without a size has no end."""
        (access,) = instr.call.accesses
        count = instr.call.fields["count"]
        stop = access.start + count * access.dtype.nbytes if count else access.holder.nbytes
        windows = self.windows.setdefault(id(access.holder), [])
        windows.append((access.start if count else 0, stop))

    def _in_window(self, instr: Instr, touched: Touched) -> None:
        windows = self.windows.get(id(touched.holder), ())
        if any(a <= touched.start and touched.stop <= b for a, b in windows) or not windows:
            return
        holder, verb = touched.holder, "writes" if touched.writes else "reads"
        stop = max(b for _, b in windows)
        self.findings.add(
            "memcheck:gm-window",
            instr,
            f"{instr.call.name} {verb} {holder.name} outside what SetGlobalBuffer names "
            f"(which ends at byte {stop:#x})",
            memory=holder.name,
            span=(touched.start, touched.stop),
        )
