"""synccheck: flags, queues and modes that a block leaves behind.

What hangs at once (a wait without a set, an event set twice, no free buffer, ids exhausted) is an
error of the call itself, which the checks turn into a finding; this keeps the lines of the
partners. Tensors that are never freed are memcheck's when it runs.
Source: asc-devkit impl/basic_api, TPipe and TQue (code); npuchk log codes (documented).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ascendsim.observe.checks.codes import tool_of
from ascendsim.observe.checks.findings import Findings
from ascendsim.record import UB, Instr, Span

ENQUEUED = 2  # state of a buffer between EnQue and DeQue (pipe/buffer.py)
_MODES = ("SetAtomicAdd", "SetAtomicMax", "SetAtomicMin")
_MODES_END = ("SetAtomicNone", "TPipe")
_ENDS = ("Reset", "Destroy")


class SyncState:
    """What one block has set, queued and allocated, with the calls that did it.

    freed : the last FreeTensor of a buffer, for the finding of a use after it
    """

    MANAGED: Collection[str] = ()  # set below, to what is handled

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.flags: dict[tuple[str, int], Instr] = {}
        self.queued: dict[int, Instr] = {}
        self.allocated: dict[int, tuple[Any, Instr]] = {}
        self.freed: dict[int, Instr] = {}
        self.atomic: Instr | None = None

    def manage(self, instr: Instr) -> None:
        """Take note of what a call sets, waits for, allocates or frees."""
        _HANDLERS[instr.call.name](self, instr)

    def end(self) -> None:
        """Report what the block leaves behind."""
        self._end_of_pipe()
        if self.atomic is not None:
            self._report(
                "synccheck:atomic-left-on",
                self.atomic,
                f"{self.atomic.call.name} is still on when block {self.atomic.block} ends: copies "
                f"to GM of the next kernel are atomic too",
            )

    def partner_of(self, about: Any) -> Instr | None:
        """Return the call that an error about this buffer or flag collides with."""
        if isinstance(about, Span):
            return None
        if isinstance(about, tuple):
            event, number = about
            return self.flags.get((event.name, number))
        return self.freed.get(id(about))

    def _set(self, instr: Instr) -> None:
        fields = instr.call.fields
        self.flags[fields["mode"], fields["event"]] = instr

    def _wait(self, instr: Instr) -> None:
        fields = instr.call.fields
        self.flags.pop((fields["mode"], fields["event"]), None)

    def _allocate(self, instr: Instr) -> None:
        buffer = instr.call.accesses[0].holder
        self.allocated[id(buffer)] = buffer, instr
        self.freed.pop(id(buffer), None)

    def _enqueue(self, instr: Instr) -> None:
        self.queued[id(instr.call.accesses[0].holder)] = instr

    def _dequeue(self, instr: Instr) -> None:
        self.queued.pop(id(instr.call.accesses[0].holder), None)

    def _free(self, instr: Instr) -> None:
        buffer = instr.call.accesses[0].holder
        self.allocated.pop(id(buffer), None)
        self.freed[id(buffer)] = instr
        queued = self.queued.pop(id(buffer), None)
        if queued is not None:
            self._never_dequeued(buffer, queued, "freed while it is queued")

    def _mode(self, instr: Instr) -> None:
        self.atomic = None if instr.call.name in _MODES_END else instr

    def _ends(self, instr: Instr) -> None:
        if "pool" not in instr.call.fields:
            self._end_of_pipe()

    def _end_of_pipe(self) -> None:
        for (event, number), instr in self.flags.items():
            self._report(
                "synccheck:set-without-wait",
                instr,
                f"{event}({number}) is set and nobody waits for it: the flag stays set for the "
                f"next kernel",
            )
        for buffer, instr in self.allocated.values():
            queued = self.queued.get(id(buffer))
            if queued is not None and buffer.state == ENQUEUED:
                self._never_dequeued(buffer, queued, "still queued at the end")
            else:
                self._never_freed(buffer, instr)
        self.flags, self.queued, self.allocated = {}, {}, {}

    def _report(self, code: str, instr: Instr, text: str, buffer: Any = None) -> None:
        if tool_of(code) not in self.findings.tools:
            return
        if buffer is None:
            self.findings.add(code, instr, text)
        else:
            span = buffer.start, buffer.start + buffer.nbytes
            self.findings.add(code, instr, text, memory=UB, span=span)

    def _never_dequeued(self, buffer: Any, queued: Instr, how: str) -> None:
        self._report(
            "synccheck:enque-without-deque",
            queued,
            f"{buffer.name} slot {buffer.slot} is {how}: nobody waits for the flag of its EnQue",
            buffer,
        )

    def _never_freed(self, buffer: Any, instr: Instr) -> None:
        leak = "memcheck:leak" if "memcheck" in self.findings.tools else "synccheck:never-freed"
        self._report(
            leak,
            instr,
            f"{buffer.name} slot {buffer.slot} is allocated and never freed",
            buffer,
        )


_HANDLERS = {
    "SetFlag": SyncState._set,
    "WaitFlag": SyncState._wait,
    "AllocTensor": SyncState._allocate,
    "EnQue": SyncState._enqueue,
    "DeQue": SyncState._dequeue,
    "FreeTensor": SyncState._free,
    **dict.fromkeys(_MODES + _MODES_END, SyncState._mode),
    **dict.fromkeys(_ENDS, SyncState._ends),
}
SyncState.MANAGED = _HANDLERS
