"""Every code that a check can report: how grave it is, and the way out.

What a code means is on its page (`ascendsim explain CODE`, view/pages/checks.md).
"""

from __future__ import annotations

from typing import NamedTuple

TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck")
ERROR, WARNING = "error", "warning"


class Code(NamedTuple):
    """How grave a finding is, and what the person who gets it can do.

    `otherwise` is the way out of an error whose text does not end in one.
    """

    severity: str
    way_out: str
    otherwise: str = ""


_FREE = "call FreeTensor once the last pipe is done with it"
_ORDER = "order the two: EnQue and DeQue, SetFlag and WaitFlag, or PipeBarrier"
_BARRIER = "put a PipeBarrier of that pipe between the two"
_BLOCKS = "give each block its own bytes, or order them with SyncAll or IBSet and IBWait"
_APART = "let operands begin at the same byte or lie apart; shift into a second buffer"
_WRITE = "write these bytes first, or use fewer of them"

CODES: dict[str, Code] = {
    # of memory; those with an empty way out have that of the error they would be, or `otherwise`
    "memcheck:use-after-free": Code(ERROR, "", "use the tensor before FreeTensor"),
    "memcheck:double-free": Code(ERROR, "", "call FreeTensor once for each AllocTensor or DeQue"),
    "memcheck:unallocated": Code(ERROR, "take the tensor anew after InitBuffer, Reset or Destroy"),
    "memcheck:out-of-bounds": Code(ERROR, "", "use a smaller count or a larger buffer"),
    "memcheck:ub-overflow": Code(ERROR, "", "use a smaller tile or fewer buffers"),
    "memcheck:reserved-ub": Code(ERROR, "", "keep buffers below that address"),
    "memcheck:too-many-buffers": Code(ERROR, "", "merge buffers"),
    "memcheck:no-memory": Code(ERROR, "", "call InitBuffer first"),
    "memcheck:wrong-queue": Code(ERROR, "", "use the queue that allocated the tensor"),
    "memcheck:pool-in-use": Code(ERROR, "", "free the buffers of the other pool first"),
    "memcheck:queued-access": Code(ERROR, "use a tensor before EnQue or after DeQue"),
    "memcheck:misaligned": Code(ERROR, "", "use an offset that is a multiple of 32 bytes"),
    "memcheck:count-rounded": Code(ERROR, "", "copy whole datablocks, or use DataCopyPad"),
    "memcheck:overlap": Code(ERROR, "", _APART),
    "memcheck:mask-lanes": Code(WARNING, "give a mask of at most the lanes that the type has"),
    "memcheck:compare-count": Code(WARNING, "round the count up to a multiple of 256 bytes"),
    "memcheck:empty-call": Code(WARNING, "leave the call out when there is nothing to do"),
    "memcheck:model-bits": Code(WARNING, "use Div, Sqrt and the like where the last bits matter"),
    "memcheck:illegal-operand": Code(
        ERROR, "", "give it an operand that it takes; `ascendsim isa NAME` lists them"
    ),
    "memcheck:illegal-type": Code(
        ERROR, "", "use a type that it takes; `ascendsim isa NAME` lists them"
    ),
    "memcheck:illegal-range": Code(
        ERROR, "", "stay in the range that the text names, or split the call"
    ),
    "memcheck:gm-out-of-bounds": Code(ERROR, "", "mend the offset or the length"),
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
    "synccheck:wait-without-set": Code(ERROR, "", "set the flag on the other pipe first"),
    "synccheck:set-twice": Code(ERROR, "", "wait for it first, or use another event id"),
    "synccheck:ids-exhausted": Code(ERROR, "", "use fewer buffers or release ids"),
    "synccheck:mutexes-exhausted": Code(ERROR, "", "use fewer queue buffers"),
    "synccheck:enque-without-deque": Code(ERROR, "DeQue the tensor before it is freed"),
    "synccheck:never-freed": Code(ERROR, _FREE),
    "synccheck:second-pipe": Code(ERROR, "", "pass the first one on"),
    "synccheck:atomic-left-on": Code(ERROR, "add SetAtomicNone()"),
    "synccheck:mask-left-on": Code(ERROR, "add SetMaskNorm() and ResetMask()"),
    "synccheck:queue-full": Code(ERROR, "", "DeQue before the next EnQue"),
    "synccheck:queue-empty": Code(ERROR, "", "EnQue a tensor first"),
    "synccheck:no-free-buffer": Code(
        ERROR, "", "call FreeTensor first, or give the queue more buffers"
    ),
    "synccheck:wrong-state": Code(
        ERROR, "", "call AllocTensor, EnQue, DeQue and FreeTensor in this order"
    ),
    "synccheck:block-deadlock": Code(ERROR, "let every block make the same calls"),
}


def tool_of(code: str) -> str:
    """Return the tool that reports a code."""
    return code.partition(":")[0]
