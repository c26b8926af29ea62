"""Every code that a check can report: how grave it is, and the way out.

What a code means is on its page (`ascendsim explain CODE`, view/pages/checks.md).
"""

from __future__ import annotations

from typing import NamedTuple

TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck")
ERROR, WARNING = "error", "warning"


class Code(NamedTuple):
    """How grave a finding is, and what the person who gets it can do."""

    severity: str
    way_out: str


_FREE = "call FreeTensor once the last pipe is done with it"
_ORDER = "order the two: EnQue and DeQue, SetFlag and WaitFlag, or PipeBarrier"
_BARRIER = "put a PipeBarrier of that pipe between the two"
_BLOCKS = "give each block its own bytes, or order them with SyncAll or IBSet and IBWait"
_WRITE = "write these bytes first, or use fewer of them"

CODES: dict[str, Code] = {
    # of memory; those with an empty way out come with the text of the error they would be
    "memcheck:use-after-free": Code(ERROR, ""),
    "memcheck:double-free": Code(ERROR, ""),
    "memcheck:unallocated": Code(ERROR, "take the tensor anew after InitBuffer, Reset or Destroy"),
    "memcheck:out-of-bounds": Code(ERROR, ""),
    "memcheck:ub-overflow": Code(ERROR, ""),
    "memcheck:reserved-ub": Code(ERROR, ""),
    "memcheck:too-many-buffers": Code(ERROR, ""),
    "memcheck:no-memory": Code(ERROR, ""),
    "memcheck:wrong-queue": Code(ERROR, ""),
    "memcheck:pool-in-use": Code(ERROR, ""),
    "memcheck:queued-access": Code(ERROR, "use a tensor before EnQue or after DeQue"),
    "memcheck:misaligned": Code(ERROR, ""),
    "memcheck:count-rounded": Code(ERROR, ""),
    "memcheck:overlap": Code(ERROR, ""),
    "memcheck:illegal-operand": Code(ERROR, ""),
    "memcheck:illegal-type": Code(ERROR, ""),
    "memcheck:illegal-range": Code(ERROR, ""),
    "memcheck:gm-out-of-bounds": Code(ERROR, ""),
    "memcheck:gm-slack": Code(WARNING, "copy the tail with DataCopyPad, which counts bytes"),
    "memcheck:gm-window": Code(WARNING, "check the offset, or what SetGlobalBuffer says"),
    "memcheck:gm-trample": Code(ERROR, _BLOCKS),
    "memcheck:cache-line": Code(WARNING, "give each block whole lines of 64 bytes, or copy by DMA"),
    "memcheck:leak": Code(ERROR, _FREE),
    "memcheck:double-write": Code(WARNING, "drop the first write, or read what it stored"),
    "memcheck:unused-memory": Code(WARNING, "make the tensor smaller, or the tiling cover it"),
    # of undefined values
    "initcheck:uninitialized-to-gm": Code(ERROR, _WRITE),
    "initcheck:uninitialized-scalar": Code(ERROR, _WRITE),
    "initcheck:uninitialized-branch": Code(ERROR, _WRITE),
    "initcheck:uninitialized-read": Code(WARNING, _WRITE),
    "initcheck:pad-read": Code(WARNING, "use the elements that were copied only"),
    # of order
    "racecheck:raw-inter-pipe": Code(ERROR, _ORDER),
    "racecheck:war-inter-pipe": Code(ERROR, _ORDER),
    "racecheck:waw-inter-pipe": Code(ERROR, _ORDER),
    "racecheck:raw-intra-pipe": Code(ERROR, _BARRIER),
    "racecheck:war-intra-pipe": Code(ERROR, _BARRIER),
    "racecheck:waw-intra-pipe": Code(ERROR, _BARRIER),
    "racecheck:raw-inter-core": Code(ERROR, _BLOCKS),
    "racecheck:war-inter-core": Code(ERROR, _BLOCKS),
    "racecheck:waw-inter-core": Code(ERROR, _BLOCKS),
    # of flags, queues and what lasts beyond the kernel
    "synccheck:set-without-wait": Code(ERROR, "add the WaitFlag"),
    "synccheck:wait-without-set": Code(ERROR, ""),
    "synccheck:set-twice": Code(ERROR, ""),
    "synccheck:ids-exhausted": Code(ERROR, ""),
    "synccheck:mutexes-exhausted": Code(ERROR, ""),
    "synccheck:enque-without-deque": Code(ERROR, "DeQue the tensor before it is freed"),
    "synccheck:never-freed": Code(ERROR, _FREE),
    "synccheck:second-pipe": Code(ERROR, ""),
    "synccheck:atomic-left-on": Code(ERROR, "add SetAtomicNone()"),
    "synccheck:mask-left-on": Code(ERROR, "add SetMaskNorm() and ResetMask()"),
    "synccheck:queue-full": Code(ERROR, ""),
    "synccheck:queue-empty": Code(ERROR, ""),
    "synccheck:no-free-buffer": Code(ERROR, ""),
    "synccheck:wrong-state": Code(ERROR, ""),
    "synccheck:block-deadlock": Code(ERROR, "let every block make the same calls"),
}


def tool_of(code: str) -> str:
    """Return the tool that reports a code."""
    return code.partition(":")[0]
