"""TQue and TQueBind: buffers handed from the pipe that fills them to the pipe that uses them.

A buffer goes FREE, OCCUPIED (AllocTensor), ENQUE (EnQue), DEQUE (DeQue), FREE (FreeTensor).
"""

from __future__ import annotations

import sys
from collections import deque
from types import FrameType
from typing import Any, NamedTuple

from ascendsim.core import observed
from ascendsim.enums import HardEvent, TPosition
from ascendsim.errors import AscendError, ContractError, QueueError, UnsupportedError
from ascendsim.pipe.buffer import (
    DEQUE,
    ENQUE,
    FREE,
    OCCUPIED,
    STATE_NAMES,
    Buffer,
    Holder,
    element_type,
    queue_call,
    stored_as,
)
from ascendsim.record import Token
from ascendsim.tensor import LocalTensor


class _Way(NamedTuple):
    """A kind of queue with the events of EnQue and DeQue, and of FreeTensor and AllocTensor."""

    kind: str
    enque_event: HardEvent
    free_event: HardEvent


_WAYS = {
    TPosition.VECIN: _Way("TQue.VECIN", HardEvent.MTE2_V, HardEvent.V_MTE2),
    TPosition.VECOUT: _Way("TQue.VECOUT", HardEvent.V_MTE3, HardEvent.MTE3_V),
}
_BIND = _Way("TQueBind.VECIN.VECOUT", HardEvent.MTE2_MTE3, HardEvent.MTE3_MTE2)


class TQueBind(Holder):
    """A queue between two positions; TQue is the common case with one of them GM.

    depth : how many tensors may be queued at once.
    """

    def __init__(self, src: TPosition, dst: TPosition, depth: int = 1) -> None:
        for position in (src, dst):
            if not isinstance(position, TPosition):
                raise ContractError(f"TQueBind: {position!r} is no TPosition")
        if (src, dst) != (TPosition.VECIN, TPosition.VECOUT):
            raise UnsupportedError(
                f"TQueBind {src}, {dst} is not modelled; VECIN to VECOUT is, and TQue for the rest"
            )
        self._open(depth, _BIND, sys._getframe(1))

    def _open(self, depth: int, way: _Way, frame: FrameType) -> None:
        """Start empty; `frame` is the kernel's line that makes the queue."""
        self.kind, self.enque_event, self.free_event = way
        if type(depth) is not int or depth < 1:
            raise _refused_depth(self.kind, depth)
        self.depth = depth
        self.fifo: deque[Buffer] = deque()
        self.cursor = 0
        self._name = stored_as(frame)

    def attach(self, buffers: list[Buffer], mutex: int) -> None:
        """Take new buffers, whose mutexes are `mutex` and up; the counters start again."""
        for old in self.buffers:
            old.holder = None
        self.buffers = buffers
        self.fifo.clear()
        self.cursor = self.allocated = 0
        for buffer in buffers:
            buffer.begin(self, FREE)
            buffer.mutex = mutex
            mutex += 1

    def AllocTensor(self, T: Any = None) -> LocalTensor:
        """Take the next free buffer, round robin, as a tensor of `T`."""
        buffers = self.buffers
        count = len(buffers)
        for _ in buffers:
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
        tensor = buffer.views.get((T, buffer.nbytes)) or buffer.view(element_type("AllocTensor", T))
        if core.readers:
            waits, buffer.released = buffer.released, ()
            self._record("AllocTensor", "dst", tensor, self.free_event, waits=waits)
        return tensor

    def EnQue(self, tensor: LocalTensor) -> bool:
        """Hand a filled tensor to the consuming pipe."""
        buffer = getattr(tensor, "buffer", None)
        if buffer is None or buffer.holder is not self:
            raise self._not_mine("EnQue", tensor)
        if buffer.state != OCCUPIED and buffer.state != DEQUE:
            raise self._wrong("EnQue", buffer, "it must be allocated first (AllocTensor or DeQue)")
        if len(self.fifo) >= self.depth:
            raise QueueError(
                f"EnQue: {self.name} already holds {len(self.fifo)} tensors, its depth; DeQue one "
                f"before, or make the queue deeper",
                finding="synccheck:queue-full",
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
                f"waiting; EnQue a tensor first",
                finding="synccheck:queue-empty",
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
        tensor = buffer.views.get((T, buffer.nbytes)) or buffer.view(element_type("DeQue", T))
        if core.readers:
            waits, buffer.ready = buffer.ready, ()
            self._record("DeQue", "dst", tensor, self.enque_event, waits=waits)
        return tensor

    def FreeTensor(self, tensor: LocalTensor) -> None:
        """Give the buffer back to the producing pipe."""
        buffer = getattr(tensor, "buffer", None)
        if buffer is None or buffer.holder is not self:
            raise self._not_mine("FreeTensor", tensor)
        if buffer.state == FREE:
            advice = "it was freed already; free it once"
            raise self._wrong("FreeTensor", buffer, advice, "memcheck:double-free")
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

    def _not_mine(self, call: str, tensor: Any) -> AscendError:
        buffer = getattr(tensor, "buffer", None)
        if buffer is None:
            return ContractError(f"{call}: {tensor!r} is no LocalTensor")
        return QueueError(
            f"{call}: {tensor!r} belongs to {buffer.name}, not to {self.name}; use the queue "
            f"that allocated it",
            finding="memcheck:wrong-queue",
        )

    def _wrong(self, call: str, buffer: Buffer, advice: str, finding: str = "") -> QueueError:
        where = f"UB[{buffer.start:#x}, {buffer.start + buffer.nbytes:#x})"
        return QueueError(
            f"{call}: {self.name} slot {buffer.slot} at {where} is {STATE_NAMES[buffer.state]}: "
            f"{advice}",
            finding=finding,
            about=buffer,
        )

    def _none_free(self) -> QueueError:
        if not self.buffers:
            return QueueError(
                f"AllocTensor: {self.name} has no buffers; call InitBuffer first",
                finding="memcheck:no-memory",
            )
        states = ", ".join(STATE_NAMES[b.state] for b in self.buffers)
        return QueueError(
            f"AllocTensor: {self.name} has no free buffer ({states}): spins for ever on hardware; "
            f"FreeTensor one first, or give the queue more buffers",
            finding="synccheck:no-free-buffer",
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
        observed(self.core, queue_call(name, role, tensor, pipe), None, waits, signals, depth=3)


class TQue(TQueBind):
    """A queue of one position: VECIN (filled by MTE2, used by V) or VECOUT (V, then MTE3)."""

    def __init__(self, position: TPosition, depth: int = 1) -> None:
        if position not in _WAYS or not isinstance(position, TPosition):
            raise ContractError(
                f"TQue: position is {position!r}: use TPosition.VECIN or TPosition.VECOUT "
                f"(VECCALC is for TBuf)"
            )
        self._open(depth, _WAYS[position], sys._getframe(1))


def _refused_depth(kind: str, depth: Any) -> AscendError:
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        return ContractError(f"{kind}: depth is {depth!r}: use a positive integer")
    return UnsupportedError(f"{kind}: depth 0 (in-place queue) is not modelled; use 1 or 2")
