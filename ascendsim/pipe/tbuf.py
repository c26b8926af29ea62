"""TBuf: memory for temporaries, without queue, state or order."""

from __future__ import annotations

import sys
from typing import Any

from ascendsim.core import observed
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import DATABLOCK_BYTES, PIPE, TPosition
from ascendsim.errors import ContractError, QueueError
from ascendsim.pipe.buffer import OCCUPIED, Buffer, Holder, element_type, queue_call, stored_as
from ascendsim.tensor import LocalTensor

_ON_UB = (TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC)


class TBuf(Holder):
    """One buffer without queue or order: temporaries of the vector pipe."""

    kind = "TBuf"

    def __init__(self, position: TPosition = TPosition.VECCALC) -> None:
        if position not in _ON_UB or not isinstance(position, TPosition):
            raise ContractError(f"TBuf: position is {position!r}: use TPosition.VECCALC")
        self._name = stored_as(sys._getframe(1))
        self.position = position

    def attach(self, buffers: list[Buffer], mutex: int) -> None:
        """Take the buffer; it is alive until the pipe ends, and needs no mutex."""
        self.buffers = buffers
        buffers[0].begin(self, OCCUPIED)

    def Get(self, T: Any, count: int | None = None) -> LocalTensor:
        """Return the buffer, or its first `count` elements, as a tensor of `T`."""
        tensor = None
        if count is None and self.buffers:
            buffer = self.buffers[0]
            tensor = buffer.views.get((T, buffer.nbytes))
        tensor = tensor or self._tensor("Get", T, count)
        if self.core.readers:
            observed(self.core, queue_call("Get", "dst", tensor, PIPE.PIPE_S))
        return tensor

    def GetWithOffset(self, T: Any, size: int, bufOffset: int) -> LocalTensor:
        """Return `size` elements of `T` from byte `bufOffset` of the buffer on.

        The offset is a multiple of 32 bytes (the manual; hardware checks nothing).
        """
        if not self.buffers:
            raise QueueError(
                f"GetWithOffset: {self.name} has no memory; call InitBuffer first",
                finding="memcheck:no-memory",
            )
        buffer, dtype = self.buffers[0], element_type("GetWithOffset", T)
        for what, value in (("size", size), ("bufOffset", bufOffset)):
            if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
                raise ContractError(f"GetWithOffset: {what} is {value!r}: use an integer from 0 on")
        start, nbytes = int(bufOffset), int(size) * dtype.nbytes
        if start % DATABLOCK_BYTES or not nbytes or start + nbytes > buffer.nbytes:
            raise ContractError(
                f"GetWithOffset: {size} elements of {dtype} at byte {start}: {self.name} has "
                f"{buffer.nbytes} bytes, and offsets are multiples of {DATABLOCK_BYTES}"
            )
        tensor = buffer.view(dtype, nbytes, start)
        if self.core.readers:
            observed(self.core, queue_call("GetWithOffset", "dst", tensor, PIPE.PIPE_S))
        return tensor

    def AllocTensor(self, T: Any) -> LocalTensor:
        """Return the whole buffer, as Get does; a TBuf has no states."""
        tensor = self._tensor("AllocTensor", T, None)
        if self.core.readers:
            observed(self.core, queue_call("TBuf.AllocTensor", "dst", tensor, PIPE.PIPE_S))
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
            raise QueueError(
                f"{call}: {self.name} has no memory; call InitBuffer first",
                finding="memcheck:no-memory",
            )
        buffer = self.buffers[0]
        if count is None:
            return buffer.views.get((T, buffer.nbytes)) or buffer.view(element_type(call, T))
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise ContractError(f"{call}: count is {count!r}: it must be an integer")
        nbytes = int(count) * as_dtype(T).nbytes
        if nbytes <= 0 or nbytes % DATABLOCK_BYTES or nbytes > buffer.nbytes:
            raise ContractError(
                f"{call}: {count} elements of {T} are {nbytes} bytes: {self.name} gives a positive "
                f"multiple of {DATABLOCK_BYTES} bytes, at most {buffer.nbytes}"
            )
        return buffer.views.get((T, nbytes)) or buffer.view(T, nbytes)
