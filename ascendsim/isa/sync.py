"""Order between pipes, and who a block is: barriers, flags, block numbers.

Execution is in program order, which is what a correctly synchronised kernel sees; flags and
barriers are kept as records for the readers that prove the order.
Manual chapters: intra-core synchronisation; system variables.
"""

from __future__ import annotations

from operator import index
from typing import Any

from ascendsim.core import observed
from ascendsim.enums import DATABLOCK_BYTES, PIPE, HardEvent
from ascendsim.errors import ContractError, KernelError, QueueError, UnsupportedError
from ascendsim.record import CURRENT, Call, current_core

_BARRIERS = frozenset((PIPE.PIPE_V, PIPE.PIPE_MTE2, PIPE.PIPE_MTE3, PIPE.PIPE_ALL))


def PipeBarrier(pipe: PIPE) -> None:
    """Later instructions of `pipe` start only after all its earlier ones finished."""
    if type(pipe) is not PIPE or pipe not in _BARRIERS:  # an int equals its enumeration
        names = ", ".join(sorted(p.name for p in _BARRIERS))
        raise ContractError(f"PipeBarrier: pipe is {pipe!r}: use one of {names}")
    core = CURRENT.get(None) or current_core()
    if core.readers:
        observed(core, Call("PipeBarrier", pipe, core, (), fields={"mode": pipe.name}))


def pipe_barrier(pipe: PIPE) -> None:
    """Order a pipe: the intrinsic that PipeBarrier calls."""
    PipeBarrier(pipe)


def SetFlag(event: HardEvent, eventID: int) -> None:
    """When all earlier instructions of the source pipe are done, set the flag.

    Setting a flag again before it was waited for is undefined on hardware.
    """
    core, key = _flag("SetFlag", event, eventID)
    if key in core.events.flags:
        raise QueueError(
            f"SetFlag: {event}({eventID}) is already set and nobody waited for it: undefined on "
            f"hardware; wait for it first or use another event id",
            finding="synccheck:set-twice",
            about=key,
        )
    token = core.token(event, eventID) if core.readers else None
    core.events.flags[key] = token
    if core.readers:
        call = _flag_call("SetFlag", event, eventID, core, event.pipes[0])
        observed(core, call, signals=(token,) if token else ())


def WaitFlag(event: HardEvent, eventID: int) -> None:
    """Block later instructions of the destination pipe until the flag is set, then clear it."""
    core, key = _flag("WaitFlag", event, eventID)
    if key not in core.events.flags:
        error = QueueError(
            f"WaitFlag: no SetFlag({event}, {eventID}) went before, and calls take effect in "
            f"program order here; on hardware {event.pipes[1].name} waits until one comes, if any; "
            f"set the flag on the {event.pipes[0].name} side first",
            finding="synccheck:wait-without-set",
            about=key,
        )
        if not core.readers or core.on_hang is None or not core.on_hang(core, error):
            raise error
    token = core.events.flags.pop(key, None)
    if core.readers:
        call = _flag_call("WaitFlag", event, eventID, core, event.pipes[1])
        observed(core, call, waits=(token,) if token else ())


def GetBlockIdx() -> int:
    """Return the number of this block, 0 .. GetBlockNum() - 1."""
    core = current_core()
    return core.block if core.number is None else core.number  # type: ignore[no-any-return]


def GetBlockNum() -> int:
    """Return the number of blocks of this launch (blockDim)."""
    return int(current_core().block_num)


def GetSubBlockNum() -> int:
    """Return how many vector cores a block of this kernel has: 1, as it has no cube core."""
    core = current_core()
    if "GetSubBlockNum" not in core.soc.ops:
        raise UnsupportedError(f"GetSubBlockNum: {core.soc.name} has no such call (910B and 950)")
    return 1


def GetDataBlockSizeInBytes() -> int:
    """Return the bytes of a datablock, 32."""
    current_core()
    return DATABLOCK_BYTES


def Trap() -> None:
    """End the kernel with an error, as its author asked."""
    core = current_core()
    raise KernelError(f"Trap: block {core.block} ends the kernel here (its own call of Trap)")


def GetTPipePtr() -> Any:
    """Return the live TPipe of this block."""
    pipe = current_core().pipe
    if pipe is None:
        raise QueueError("GetTPipePtr: this block has made no TPipe yet; make one with TPipe()")
    return pipe


def _flag(name: str, event: Any, number: Any) -> tuple[Any, tuple[HardEvent, int]]:
    if not isinstance(event, HardEvent) or event is HardEvent.V_V:
        raise ContractError(
            f"{name}: event is {event!r}: use HardEvent.MTE2_V, V_MTE3 ...; order within the "
            f"vector pipe is PipeBarrier(PIPE_V)"
        )
    core = current_core()
    if not hasattr(number, "__index__") or not 0 <= number < core.events.limit:
        raise ContractError(
            f"{name}: event id is {number!r}: {core.soc.name} has ids 0..{core.events.limit - 1}; "
            f"take one with FetchEventID or AllocEventID"
        )
    return core, (event, index(number))


def _flag_call(name: str, event: HardEvent, number: int, core: Any, pipe: PIPE) -> Call:
    return Call(name, pipe, core, (), fields={"mode": event.name, "event": number})
