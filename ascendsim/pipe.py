"""TPipe, TQue, TQueBind and TBuf: who owns which bytes of UB, and in which state.

InitBuffer bumps one cursor through UB; a queue hands its buffers out round robin and passes them
from the producing pipe to the consuming one. Each hand-over implies a token: a flag with an event
id on 910-class chips, the buffer's own mutex on 950. States are kept always, tokens travel on
records only.
Source: asc-devkit impl/basic_api, kernel_tpipe_impl.h, kernel_tquebind_impl.h, kernel_event.h and
dav_3510 (code).
"""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

from ascendsim.core import MAX_INTERNED, AivCore, observed
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import DATABLOCK_BYTES, PIPE, HardEvent, TPosition
from ascendsim.errors import ContractError, QueueError, UbOverflow, UnsupportedError
from ascendsim.record import UB, Access, Call, Token, current_core
from ascendsim.tensor import LocalTensor

FREE, OCCUPIED, ENQUE, DEQUE = range(4)
STATE_NAMES = ("FREE", "OCCUPIED", "ENQUE", "DEQUE")
MAX_QUEUE_BUFFERS = 64
_ON_UB = (TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC)
# position pair of a queue -> (event of EnQue and DeQue, event of FreeTensor and AllocTensor)
_EVENTS = {
    TPosition.VECIN: (HardEvent.MTE2_V, HardEvent.V_MTE2),
    TPosition.VECOUT: (HardEvent.V_MTE3, HardEvent.MTE3_V),
}
_BIND_EVENTS = (HardEvent.MTE2_MTE3, HardEvent.MTE3_MTE2)


class Buffer:
    """One slot of a queue, or a TBuf: `nbytes` bytes of UB at `start`.

    Kept per (start, nbytes) of a core, so that its tensors are found again in every block.
    `ready` and `released` are the tokens on their way to DeQue and to the next AllocTensor.
    """

    __slots__ = (
        "core",
        "event",
        "holder",
        "mutex",
        "nbytes",
        "ready",
        "released",
        "slot",
        "start",
        "state",
        "views",
    )

    def __init__(self, core: AivCore, start: int, nbytes: int) -> None:
        self.core, self.start, self.nbytes = core, start, nbytes
        self.views: dict[Any, LocalTensor] = {}
        self.state = FREE
        self.event = -1
        self.slot = 0
        self.mutex = 0
        self.holder: Any = None
        self.ready: tuple[Token, ...] = ()
        self.released: tuple[Token, ...] = ()

    @property
    def name(self) -> str:
        """Name of the kernel object's attribute that holds the queue or TBuf."""
        return self.holder.name if self.holder is not None else "UB?"

    def view(self, T: Any, nbytes: int | None = None) -> LocalTensor:
        """Return the tensor of type `T` over the first `nbytes` (default: all)."""
        size = self.nbytes if nbytes is None else nbytes
        key = (T, size)
        found = self.views.get(key)
        if found is None:
            dtype = as_dtype(T)
            found = LocalTensor(self.core, self, dtype, self.start, size)
            self.views[key] = self.views[dtype, size] = found
        return found

    def forget(self, tensor: LocalTensor) -> None:
        """Drop a tensor from the interned ones, since it changes its size."""
        self.views = {k: t for k, t in self.views.items() if t is not tensor}


class _Holder:
    """What TQue, TQueBind and TBuf share: a core, buffers, and a name found in the kernel."""

    kind = ""

    def __init__(self) -> None:
        self.core: AivCore = None  # type: ignore[assignment]
        self.buffers: list[Buffer] = []
        self._name = ""

    @property
    def name(self) -> str:
        """The attribute of the kernel object that holds this, else UB0, UB1, ..."""
        if not self._name:
            number = self.core.unnamed if self.core else 0
            found = _attribute_name(self)
            if not found and self.core:
                self.core.unnamed = number + 1
            self._name = found or f"UB{number}"
        return self._name


def _attribute_name(holder: Any) -> str:
    """Look for the object that has `holder` as an attribute, up the call stack."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != "ascendsim":
            for local in list(frame.f_locals.values()):
                attributes = getattr(local, "__dict__", None)
                if isinstance(attributes, dict) and not isinstance(local, type):
                    for name, value in attributes.items():
                        listed = isinstance(value, (list, tuple)) and any(
                            v is holder for v in value
                        )
                        if value is holder or listed:
                            return name.strip("_")
        frame = frame.f_back  # type: ignore[assignment]
    return ""


class TPipe:
    """The buffer manager of a block: gives UB away from 0 upwards, in the order of the calls."""

    def __init__(self) -> None:
        core = current_core()
        if core.pipe is not None:
            raise QueueError(
                "TPipe: this block already has one; a second live TPipe hangs or corrupts on "
                "hardware; pass the first on, or call its Destroy() before"
            )
        self.core = core
        self.handles = 0
        self._start()

    def _start(self) -> None:
        self.core.pipe = self
        self.core.ub_used = 0
        self.core.events.clear()
        self.core.mutexes = 0
        self.handles = 0

    def Init(self) -> None:
        """Make the pipe live again after Destroy."""
        self._start()

    def Destroy(self) -> None:
        """End the life of this pipe; all UB may be given away again by another."""
        self.core.pipe = None

    def Reset(self) -> None:
        """Start again from an empty UB."""
        self._start()

    def InitBuffer(self, holder: Any, num_or_len: int, length: int | None = None) -> bool:
        """Give a queue `num` buffers of `length` bytes, or a TBuf one of `length` bytes.

        Lengths are rounded up to 32 bytes. Calling it again gives new memory.

        Raises
        ------
        UbOverflow
            When UB has no room left.
        QueueError
            Beyond 64 buffers of a pipe, or 28 queue buffers (mutexes) on 950.
        """
        tbuf = isinstance(holder, TBuf)
        if not tbuf and not isinstance(holder, TQueBind):
            raise ContractError(f"InitBuffer: {holder!r} is no TQue, TQueBind or TBuf")
        if tbuf != (length is None):
            form = "InitBuffer(tbuf, bytes)" if tbuf else "InitBuffer(queue, num, bytes)"
            raise ContractError(f"InitBuffer: wrong arguments for {holder.name}: use {form}")
        num, nbytes = (1, num_or_len) if length is None else (num_or_len, length)
        holder.core = self.core
        start = self._claim(holder, num, nbytes, tbuf)
        rounded = _ceil32(nbytes)
        holder.attach([self._buffer(start + k * rounded, rounded) for k in range(num)])
        if self.core.readers:
            self._record(holder, num, nbytes, start)
        return True

    def AllocEventID(self, event: HardEvent) -> int:
        """Take the lowest free event id of `event` until ReleaseEventID."""
        return self.core.events.take(_event("AllocEventID", event))

    def FetchEventID(self, event: HardEvent) -> int:
        """Return the lowest free event id of `event` without taking it."""
        return self.core.events.peek(_event("FetchEventID", event))

    def ReleaseEventID(self, event: HardEvent, eventID: int) -> None:
        """Give an event id back."""
        if not 0 <= eventID < self.core.events.limit:
            raise ContractError(
                f"ReleaseEventID: {eventID} is no id; ids are 0..{self.core.events.limit - 1}"
            )
        self.core.events.give(_event("ReleaseEventID", event), eventID)

    def _claim(self, holder: Any, num: Any, nbytes: Any, tbuf: bool) -> int:
        """Check an InitBuffer request and move the cursor; return where the bytes start."""
        core = self.core
        for what, value in (("num", num), ("length", nbytes)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value <= 0:
                raise ContractError(
                    f"InitBuffer: {what} of {holder.name} is {value!r}: use a positive integer"
                )
        if num > MAX_QUEUE_BUFFERS or self.handles + num > core.soc.buffer_handles:
            raise QueueError(
                f"InitBuffer: {holder.name} asks for {num} buffers with {self.handles} in use: a "
                f"TPipe has {core.soc.buffer_handles}; merge buffers"
            )
        start, end = core.ub_used, core.ub_used + int(num) * _ceil32(int(nbytes))
        if end > core.ub.nbytes:
            raise UbOverflow(
                f"InitBuffer: {holder.name} needs {num} x {_ceil32(nbytes)} bytes at "
                f"UB[{start:#x}, {end:#x}) but UB ends at {core.ub.nbytes:#x} "
                f"({end - core.ub.nbytes} bytes too many); use a smaller tile or fewer buffers"
            )
        if core.soc.uses_mutexes and not tbuf:
            if core.mutexes + num > core.soc.buffer_mutexes:
                raise QueueError(
                    f"InitBuffer: {holder.name} needs {num} buffer mutexes with {core.mutexes} in "
                    f"use: {core.soc.name} has {core.soc.buffer_mutexes}; use fewer queue buffers"
                )
            core.mutexes += num
        if self.handles + num == core.soc.buffer_handles and core.soc.uses_mutexes:
            core.warnings.setdefault(
                "buffer-handles", f"{self.handles + num} buffers: {core.soc.name} refuses the last"
            )
        self.handles += num
        core.ub_used = end
        core.touch(end)
        return start

    def _buffer(self, start: int, nbytes: int) -> Buffer:
        buffers = self.core.buffers
        found = buffers.get((start, nbytes))
        if found is None:
            if len(buffers) >= MAX_INTERNED:
                buffers.clear()
            found = buffers[start, nbytes] = Buffer(self.core, start, nbytes)
        return found

    def _record(self, holder: Any, num: int, nbytes: int, start: int) -> None:
        fields = {
            "buf": holder.name,
            "kind": holder.kind,
            "num": int(num),
            "len": int(nbytes),
            "len32": _ceil32(nbytes),
            "ub": start,
        }
        observed(self.core, Call("InitBuffer", PIPE.PIPE_S, self.core, (), fields=fields))


class TQueBind(_Holder):
    """A queue between two positions; TQue is the common case with one of them GM.

    depth : how many tensors may be queued at once.
    """

    def __init__(self, src: TPosition, dst: TPosition, depth: int = 1) -> None:
        super().__init__()
        for position in (src, dst):
            if not isinstance(position, TPosition):
                raise ContractError(f"TQueBind: {position!r} is no TPosition")
        if (src, dst) != (TPosition.VECIN, TPosition.VECOUT):
            raise UnsupportedError(
                f"TQueBind {src}, {dst} is not modelled; VECIN to VECOUT is, and TQue for the rest"
            )
        self._open(depth, _BIND_EVENTS, f"TQueBind.{src}.{dst}")

    def _open(self, depth: int, events: tuple[HardEvent, HardEvent], kind: str) -> None:
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
            raise ContractError(f"{kind}: depth is {depth!r}: use a positive integer")
        if depth == 0:
            raise UnsupportedError(f"{kind}: depth 0 (in-place queue) is not modelled; use 1 or 2")
        self.depth, self.kind = depth, kind
        self.enque_event, self.free_event = events
        self.fifo: deque[Buffer] = deque()
        self.cursor = self.allocated = 0

    def attach(self, buffers: list[Buffer]) -> None:
        """Take new buffers; the counters of the queue start again."""
        self.buffers = buffers
        self.fifo.clear()
        self.cursor = self.allocated = 0
        core = self.core
        first_mutex = core.mutexes - len(buffers)
        for slot, buffer in enumerate(buffers):
            buffer.holder, buffer.slot, buffer.state = self, slot, FREE
            buffer.event, buffer.ready, buffer.released = -1, (), ()
            buffer.mutex = first_mutex + slot

    def AllocTensor(self, T: Any = None) -> LocalTensor:
        """Take the next free buffer, round robin, as a tensor of `T`."""
        buffers = self.buffers
        count = len(buffers)
        for _ in range(count):
            buffer = buffers[self.cursor]
            self.cursor = (self.cursor + 1) % count
            if buffer.state == FREE:
                break
        else:
            raise self._none_free()
        core = self.core
        buffer.state = OCCUPIED
        self.allocated += 1
        if buffer.event >= 0:
            core.events.give(self.free_event, buffer.event)
            buffer.event = -1
        tensor = buffer.views.get((T, buffer.nbytes)) or buffer.view(_typed("AllocTensor", T))
        if core.readers:
            waits, buffer.released = buffer.released, ()
            self._record("AllocTensor", "dst", tensor, self.free_event, waits=waits)
        return tensor

    def EnQue(self, tensor: LocalTensor) -> bool:
        """Hand a filled tensor to the consuming pipe."""
        buffer = self._mine("EnQue", tensor)
        if buffer.state != OCCUPIED and buffer.state != DEQUE:
            raise self._wrong("EnQue", buffer, "it must be allocated first (AllocTensor or DeQue)")
        if len(self.fifo) >= self.depth:
            raise QueueError(
                f"EnQue: {self.name} already holds {len(self.fifo)} tensors, its depth; DeQue one "
                f"before, or make the queue deeper"
            )
        core = self.core
        if not core.soc.uses_mutexes:
            buffer.event = core.events.take(self.enque_event)
        buffer.state = ENQUE
        self.fifo.append(buffer)
        if core.readers:
            token = core.token(self.enque_event, self._number(buffer))
            buffer.ready = (token,)
            self._record("EnQue", "src0", tensor, self.enque_event, signals=(token,))
        return True

    def DeQue(self, T: Any = None) -> LocalTensor:
        """Take the oldest queued tensor, on the consuming pipe, as a tensor of `T`."""
        if not self.fifo:
            raise QueueError(
                f"DeQue: {self.name} is empty: on hardware this returns a stale tensor without "
                f"waiting; EnQue a tensor first"
            )
        buffer = self.fifo[0]
        if buffer.state != ENQUE:
            raise self._wrong("DeQue", buffer, "a queued tensor must not be freed before DeQue")
        self.fifo.popleft()
        core = self.core
        buffer.state = DEQUE
        if buffer.event >= 0:
            core.events.give(self.enque_event, buffer.event)
            buffer.event = -1
        tensor = buffer.views.get((T, buffer.nbytes)) or buffer.view(_typed("DeQue", T))
        if core.readers:
            waits, buffer.ready = buffer.ready, ()
            self._record("DeQue", "dst", tensor, self.enque_event, waits=waits)
        return tensor

    def FreeTensor(self, tensor: LocalTensor) -> None:
        """Give the buffer back to the producing pipe."""
        buffer = self._mine("FreeTensor", tensor)
        if buffer.state == FREE:
            raise self._wrong("FreeTensor", buffer, "it was freed already; free it once")
        core = self.core
        if not core.soc.uses_mutexes:
            if buffer.event >= 0:  # freed while queued: the flag of EnQue is never waited for
                core.events.give(self.enque_event, buffer.event)
            buffer.event = core.events.take(self.free_event)
        buffer.state = FREE
        self.allocated -= 1
        if core.readers:
            token = core.token(self.free_event, self._number(buffer))
            buffer.released = (token,)
            self._record("FreeTensor", "src0", tensor, self.free_event, signals=(token,))

    def VacantInQue(self) -> bool:
        """Return True when another tensor may be queued."""
        return len(self.fifo) < self.depth

    def HasTensorInQue(self) -> bool:
        """Return True when a tensor is queued."""
        return bool(self.fifo)

    def GetTensorCountInQue(self) -> int:
        """Return how many tensors are queued."""
        return len(self.fifo)

    def HasIdleBuffer(self) -> bool:
        """Return True when AllocTensor would find a free buffer."""
        return self.allocated < len(self.buffers)

    def FreeAllEvent(self) -> None:
        """Wait for the flags of all freed buffers and give their event ids back."""
        for buffer in self.buffers:
            if buffer.state == FREE and buffer.event >= 0:
                self.core.events.give(self.free_event, buffer.event)
                buffer.event = -1

    def _number(self, buffer: Buffer) -> int:
        return buffer.mutex if self.core.soc.uses_mutexes else buffer.event

    def _mine(self, call: str, tensor: Any) -> Buffer:
        buffer = getattr(tensor, "buffer", None)
        if buffer is None:
            raise ContractError(f"{call}: {tensor!r} is no LocalTensor")
        if buffer.holder is not self or buffer not in self.buffers:
            raise QueueError(
                f"{call}: {tensor!r} belongs to {buffer.name}, not to {self.name}; use the queue "
                f"that allocated it"
            )
        return buffer  # type: ignore[no-any-return]

    def _wrong(self, call: str, buffer: Buffer, advice: str) -> QueueError:
        where = f"UB[{buffer.start:#x}, {buffer.start + buffer.nbytes:#x})"
        return QueueError(
            f"{call}: {self.name} slot {buffer.slot} at {where} is {STATE_NAMES[buffer.state]}: "
            f"{advice}"
        )

    def _none_free(self) -> QueueError:
        if not self.buffers:
            return QueueError(f"AllocTensor: {self.name} has no buffers; call InitBuffer first")
        states = ", ".join(STATE_NAMES[b.state] for b in self.buffers)
        return QueueError(
            f"AllocTensor: {self.name} has no free buffer ({states}): spins for ever on hardware; "
            f"FreeTensor one first, or give the queue more buffers"
        )

    def _record(
        self,
        name: str,
        role: str,
        tensor: LocalTensor,
        event: HardEvent,
        waits: tuple[Token, ...] = (),
        signals: tuple[Token, ...] = (),
    ) -> None:
        source, destination = event.pipes
        pipe = source if signals else destination
        observed(self.core, _queue_call(name, role, tensor, pipe), None, waits, signals, depth=3)


class TQue(TQueBind):
    """A queue of one position: VECIN (filled by MTE2, used by V) or VECOUT (V, then MTE3)."""

    def __init__(self, position: TPosition, depth: int = 1) -> None:
        _Holder.__init__(self)
        if position not in _EVENTS or not isinstance(position, TPosition):
            raise ContractError(
                f"TQue: position is {position!r}: use TPosition.VECIN or TPosition.VECOUT "
                f"(VECCALC is for TBuf)"
            )
        self._open(depth, _EVENTS[position], f"TQue.{position}")


class TBuf(_Holder):
    """One buffer without queue or order: temporaries of the vector pipe."""

    kind = "TBuf"

    def __init__(self, position: TPosition = TPosition.VECCALC) -> None:
        super().__init__()
        if position not in _ON_UB or not isinstance(position, TPosition):
            raise ContractError(f"TBuf: position is {position!r}: use TPosition.VECCALC")
        self.position = position

    def attach(self, buffers: list[Buffer]) -> None:
        """Take the buffer; it is alive until the pipe ends."""
        self.buffers = buffers
        buffer = buffers[0]
        buffer.holder, buffer.slot, buffer.state = self, 0, OCCUPIED
        buffer.event, buffer.ready, buffer.released = -1, (), ()

    def Get(self, T: Any, count: int | None = None) -> LocalTensor:
        """Return the buffer, or its first `count` elements, as a tensor of `T`."""
        tensor = self._tensor("Get", T, count)
        if self.core.readers:
            observed(self.core, _queue_call("Get", "dst", tensor, PIPE.PIPE_S))
        return tensor

    def AllocTensor(self, T: Any) -> LocalTensor:
        """Return the whole buffer, as Get does; a TBuf has no states."""
        tensor = self._tensor("AllocTensor", T, None)
        if self.core.readers:
            observed(self.core, _queue_call("TBuf.AllocTensor", "dst", tensor, PIPE.PIPE_S))
        return tensor

    def FreeTensor(self, tensor: LocalTensor) -> None:
        """Do nothing: a TBuf has no states."""

    def EnQue(self, tensor: LocalTensor) -> bool:
        """Do nothing: a TBuf has no queue."""
        return True

    def DeQue(self, T: Any) -> LocalTensor:
        """Return the whole buffer."""
        return self._tensor("DeQue", T, None)

    def _tensor(self, call: str, T: Any, count: int | None) -> LocalTensor:
        if not self.buffers:
            raise QueueError(f"{call}: {self.name} has no memory; call InitBuffer first")
        buffer = self.buffers[0]
        if count is None:
            return buffer.views.get((T, buffer.nbytes)) or buffer.view(_typed(call, T))
        nbytes = count * as_dtype(T).nbytes
        if nbytes <= 0 or nbytes % DATABLOCK_BYTES or nbytes > buffer.nbytes:
            raise ContractError(
                f"{call}: {count} elements of {T} are {nbytes} bytes: {self.name} gives a positive "
                f"multiple of {DATABLOCK_BYTES} bytes, at most {buffer.nbytes}"
            )
        return buffer.views.get((T, nbytes)) or buffer.view(T, nbytes)


def _ceil32(nbytes: int) -> int:
    return -(-int(nbytes) // DATABLOCK_BYTES) * DATABLOCK_BYTES


def _typed(call: str, T: Any) -> DType:
    if T is None:
        raise ContractError(f"{call}: give the element type, as in {call}(half)")
    return as_dtype(T)


def _event(call: str, event: Any) -> HardEvent:
    if not isinstance(event, HardEvent):
        raise ContractError(f"{call}: event is {event!r}: use HardEvent.MTE2_V, V_MTE3 ...")
    return event


def _queue_call(name: str, role: str, tensor: LocalTensor, pipe: PIPE) -> Call:
    at = Access(role, UB, tensor.buffer, tensor.start, tensor.dtype, False, 0, 0, 0)
    return Call(name, pipe, tensor.core, (at,), fields={"dtype": tensor.dtype})
