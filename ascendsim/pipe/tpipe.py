"""TPipe: gives UB away, and event ids."""

from __future__ import annotations

from typing import Any, NamedTuple

from ascendsim.core import MAX_INTERNED, AivCore, observed
from ascendsim.enums import PIPE, HardEvent
from ascendsim.errors import ContractError, QueueError, UbOverflow
from ascendsim.pipe.buffer import Buffer, ceil32
from ascendsim.pipe.pool import TBufPool
from ascendsim.pipe.queue import TQueBind
from ascendsim.pipe.tbuf import TBuf
from ascendsim.record import Call, current_core
from ascendsim.record.registers import NORMAL

MAX_QUEUE_BUFFERS = 64
DOCUMENTED_QUEUE_BUFFERS = 8


class Grant(NamedTuple):
    """What an InitBuffer call is given, checked once: blocks ask for the same again and again.

    `mutex` is the first mutex of a queue; `after` the UB used, handles and mutexes after the call.
    """

    start: int
    buffers: list[Buffer]
    mutex: int
    after: tuple[int, int, int]


class TPipe:
    """The buffer manager of a block: gives UB away from 0 upwards, in the order of the calls."""

    def __init__(self) -> None:
        core = current_core()
        if core.pipe is not None:
            raise QueueError(
                "TPipe: this block already has one; a second live TPipe hangs or corrupts on "
                "hardware; pass the first on, or call its Destroy() before",
                finding="synccheck:second-pipe",
            )
        self.core = core
        self.handles = 0
        self._start()
        self._reset_registers()

    def _reset_registers(self) -> None:
        """End an atomic mode, and counter mode or a mask.

        A new pipe resets the core (rule new-pipe-registers). The lanes that it leaves in the mask
        register are not relied on here.
        """
        core = self.core
        sets: tuple[tuple[str, Any], ...] = ()
        if core.atomic is not None:
            core.store, core.atomic = core.move, None
            sets += (("atomic", ""),)
        if core.masks is not None:
            core.masks = None
            core.forget_calls()
            sets += (("mask_mode", NORMAL), ("mask", None))
        if sets:
            core.relied_on(("new-pipe-registers",), "TPipe")
        if sets and core.readers:
            observed(core, Call("TPipe", PIPE.PIPE_S, core, (), sets=sets), depth=3)

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
        """End the life of this pipe after all others; all UB may be given away again."""
        self._barrier("Destroy")
        self.core.pipe = None

    def Reset(self) -> None:
        """Wait for all pipes, and start again from an empty UB."""
        self._barrier("Reset")
        self._start()

    def _barrier(self, name: str) -> None:
        """Record that this call waits for all pipes (asc-devkit impl/basic_api, TPipe; code)."""
        if self.core.readers:
            observed(self.core, Call(name, PIPE.PIPE_ALL, self.core, ()), depth=3)

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
        core = self.core
        try:
            holder.core = core
            asked: Any = (holder.name, num_or_len, length, type(num_or_len), type(length))
            key = (type(holder), asked, core.ub_used, self.handles, core.mutexes)
            grant = core.grants[key]
        except (KeyError, AttributeError, TypeError):
            grant = self._granted(holder, num_or_len, length, None)
            if len(core.grants) >= MAX_INTERNED:
                core.grants.clear()
            core.grants[key] = grant
        return self._take(holder, num_or_len, length, grant)

    def InitBufPool(self, bufPool: TBufPool, length: int, shareBuf: Any = None) -> bool:
        """Give a TBufPool `length` bytes, or let it share the memory of the pool `shareBuf`.

        Raises
        ------
        UbOverflow
            When UB, or the shared pool, is smaller.
        """
        return self.give_pool(bufPool, length, shareBuf, None)

    def give(self, holder: Any, num_or_len: int, length: int | None, pool: TBufPool) -> bool:
        """Do what InitBuffer says, out of `pool`."""
        holder.core = self.core
        grant = self._granted(holder, num_or_len, length, pool)
        return self._take(holder, num_or_len, length, grant)

    def _take(self, holder: Any, num_or_len: int, length: int | None, grant: Grant) -> bool:
        """Hand over what was granted."""
        core = self.core
        core.holders.append(holder)
        core.ub_used, self.handles, core.mutexes = grant.after
        core.used.update(grant.buffers)
        holder.attach(grant.buffers, grant.mutex)
        if core.readers:
            size = (1, num_or_len) if length is None else (num_or_len, length)
            self._record(holder.name, holder.kind, size, grant.start)
        return True

    def give_pool(self, pool: Any, length: Any, share: Any, parent: Any) -> bool:
        """Do what InitBufPool says, out of the pool `parent` (None: out of UB)."""
        if not isinstance(pool, TBufPool) or not (share is None or isinstance(share, TBufPool)):
            raise ContractError("InitBufPool: pass a TBufPool, its bytes, and a pool to share with")
        if isinstance(length, bool) or not hasattr(length, "__index__") or length <= 0:
            raise ContractError(f"InitBufPool: length is {length!r}: use a positive integer")
        nbytes, core = ceil32(int(length)), self.core
        if share is not None:
            start, room = share.start, share.start + share.nbytes
        elif parent is not None:
            start = parent.claim("a TBufPool", nbytes, 1, not core.soc.uses_mutexes)
            room = start + nbytes
        else:
            start, room = core.ub_used, core.ub.nbytes
        if start + nbytes > room:
            raise UbOverflow(
                f"InitBufPool: {nbytes} bytes at UB[{start:#x}, {start + nbytes:#x}) but memory "
                f"ends at {room:#x}; use a smaller pool"
            )
        core.ub_used = max(core.ub_used, start + nbytes)
        pool.attach(self, start, nbytes, share)
        return True

    def AllocEventID(self, event: HardEvent) -> int:
        """Take the lowest free event id of `event` until ReleaseEventID."""
        return self.core.events.take(_event("AllocEventID", event))

    def FetchEventID(self, event: HardEvent) -> int:
        """Return the lowest free event id of `event` without taking it."""
        return self.core.events.peek(_event("FetchEventID", event))

    def ReleaseEventID(self, event: HardEvent, eventID: int) -> None:
        """Give an event id back."""
        if not hasattr(eventID, "__index__") or not 0 <= eventID < self.core.events.limit:
            raise ContractError(
                f"ReleaseEventID: {eventID} is no id; ids are 0..{self.core.events.limit - 1}"
            )
        self.core.events.give(_event("ReleaseEventID", event), eventID)

    def _granted(self, holder: Any, num_or_len: Any, length: Any, pool: TBufPool | None) -> Grant:
        """Check an InitBuffer request and return what it is given, out of `pool` or of UB."""
        core = self.core
        tbuf = isinstance(holder, TBuf)
        if not tbuf and not isinstance(holder, TQueBind):
            raise ContractError(f"InitBuffer: {holder!r} is no TQue, TQueBind or TBuf")
        if tbuf != (length is None):
            form = "InitBuffer(tbuf, bytes)" if tbuf else "InitBuffer(queue, num, bytes)"
            raise ContractError(f"InitBuffer: wrong arguments for {holder.name}: use {form}")
        num, nbytes = (1, num_or_len) if length is None else (num_or_len, length)
        start, handles = self._claim(holder, num, nbytes, pool)
        mutexes = core.mutexes
        if not tbuf:
            core.relied_on(("queue-states",), "TQue")
            mutexes = self._claim_mutexes(holder, num) if core.soc.uses_mutexes else mutexes
        rounded = ceil32(nbytes)
        places = [start + slot * rounded for slot in range(num)]
        buffers = [_buffer(core, p, rounded, holder.name, k) for k, p in enumerate(places)]
        after = (max(core.ub_used, start + num * rounded), handles, mutexes)
        return Grant(start, buffers, core.mutexes, after)

    def _claim(self, holder: Any, num: Any, nbytes: Any, pool: TBufPool | None) -> tuple[int, int]:
        """Check the size of a request; return where it starts and the handles in use after it."""
        core = self.core
        for what, value in (("num", num), ("length", nbytes)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value <= 0:
                raise ContractError(
                    f"InitBuffer: {what} of {holder.name} is {value!r}: use a positive integer"
                )
        handles = self.handles + num
        if num > MAX_QUEUE_BUFFERS or handles > core.soc.buffer_handles:
            raise QueueError(
                f"InitBuffer: {holder.name} asks for {num} buffers with {self.handles} in use: a "
                f"TPipe has {core.soc.buffer_handles}; merge buffers",
                finding="memcheck:too-many-buffers",
            )
        total = int(num) * ceil32(int(nbytes))
        if pool is not None:
            start = pool.claim(holder.name, total, int(num), not core.soc.uses_mutexes)
            end = start + total
        else:
            start, end = core.ub_used, core.ub_used + total
        if end > core.ub.nbytes:
            raise UbOverflow(
                f"InitBuffer: {holder.name} needs {num} x {ceil32(nbytes)} bytes at "
                f"UB[{start:#x}, {end:#x}) but UB ends at {core.ub.nbytes:#x} "
                f"({end - core.ub.nbytes} bytes too many); use a smaller tile or fewer buffers"
            )
        if handles == core.soc.buffer_handles and core.soc.uses_mutexes:
            core.warn("buffer-handles", f"{handles} buffers: {core.soc.name} refuses the last")
        return start, int(handles)

    def _claim_mutexes(self, holder: Any, num: int) -> int:
        """Give a mutex per queue buffer, as 950 does; return those in use after it."""
        core = self.core
        mutexes = core.mutexes + num
        if mutexes > core.soc.buffer_mutexes:
            raise QueueError(
                f"InitBuffer: {holder.name} needs {num} buffer mutexes with {core.mutexes} in "
                f"use: {core.soc.name} has {core.soc.buffer_mutexes}; use fewer queue buffers",
                finding="synccheck:mutexes-exhausted",
            )
        if mutexes > DOCUMENTED_QUEUE_BUFFERS:
            core.warn(
                "queue-buffers",
                f"{mutexes} queue buffers: the manual documents "
                f"{DOCUMENTED_QUEUE_BUFFERS} at once, the code of {core.soc.name} allows "
                f"{core.soc.buffer_mutexes}",
            )
        return int(mutexes)

    def _record(self, name: str, kind: str, size: tuple[int, int], start: int) -> None:
        num, nbytes = size
        fields = {
            "buf": name,
            "kind": kind,
            "num": int(num),
            "len": int(nbytes),
            "len32": ceil32(nbytes),
            "ub": start,
        }
        call = Call("InitBuffer", PIPE.PIPE_S, self.core, (), fields=fields)
        observed(self.core, call, depth=4)


def _buffer(core: AivCore, start: int, nbytes: int, name: str, slot: int) -> Buffer:
    """Return the buffer of a core at this place and under this name; made once."""
    key = (start, nbytes, name, slot)
    found = core.buffers.get(key)
    if found is None:
        if len(core.buffers) >= MAX_INTERNED:
            core.buffers.clear()
            core.grants.clear()
        found = core.buffers[key] = Buffer(core, start, nbytes, name, slot)
    return found


def _event(call: str, event: Any) -> HardEvent:
    if not isinstance(event, HardEvent):
        raise ContractError(f"{call}: event is {event!r}: use HardEvent.MTE2_V, V_MTE3 ...")
    return event
