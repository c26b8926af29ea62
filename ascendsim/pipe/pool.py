"""TBufPool: a part of a pipe's UB that gives buffers away by a cursor of its own."""

from __future__ import annotations

from typing import Any

from ascendsim.core import observed
from ascendsim.enums import PIPE, TPosition
from ascendsim.errors import ContractError, QueueError, UbOverflow
from ascendsim.pipe.buffer import ceil32
from ascendsim.pipe.tbuf import _ON_UB
from ascendsim.record import Call


class TBufPool:
    """`pipe.InitBufPool(pool, bytes)` gives it memory; `pool.InitBuffer` works as the pipe's does.

    Two pools may share a region (InitBufPool(pool, bytes, other)): use one at a time, and Reset it
    before the other.
    """

    LIMIT = 16  # buffers of a pool (not on 950)

    def __init__(self, position: TPosition = TPosition.VECCALC, bufIDSize: int = 4) -> None:
        if not isinstance(position, TPosition) or position not in _ON_UB:
            raise ContractError(f"TBufPool: position is {position!r}: use TPosition.VECCALC")
        self.pipe: Any = None
        self.start = self.nbytes = self.cursor = self.handles = 0
        self.partner: TBufPool | None = None

    def attach(self, pipe: Any, start: int, nbytes: int, partner: TBufPool | None) -> None:
        """Take the bytes from `start` on; `partner` has them too."""
        self.pipe, self.start, self.nbytes = pipe, start, nbytes
        self.cursor, self.handles, self.partner = start, 0, partner
        if partner is not None:
            partner.partner = self

    def InitBuffer(self, holder: Any, num_or_len: int, length: int | None = None) -> bool:
        """Give a queue or TBuf memory out of this pool; arguments as TPipe.InitBuffer."""
        if self.pipe is None:
            raise QueueError(
                "InitBuffer: this TBufPool has no memory; call InitBufPool first",
                finding="memcheck:no-memory",
            )
        if self.partner is not None and self.partner.handles:
            raise QueueError(
                "InitBuffer: another TBufPool holds buffers in the same memory; Reset it first",
                finding="memcheck:pool-in-use",
            )
        return bool(self.pipe.give(holder, num_or_len, length, self))

    def InitBufPool(self, bufPool: TBufPool, length: int, shareBuf: Any = None) -> bool:
        """Give a part of this pool to another one, or let it share the memory of `shareBuf`."""
        if self.pipe is None:
            raise QueueError(
                "InitBufPool: this TBufPool has no memory; call InitBufPool first",
                finding="memcheck:no-memory",
            )
        return bool(self.pipe.give_pool(bufPool, length, shareBuf, self))

    def Reset(self) -> None:
        """Take back all buffers of this pool, after all pipes."""
        if self.pipe is None:
            raise QueueError(
                "Reset: this TBufPool has no memory; call InitBufPool first",
                finding="memcheck:no-memory",
            )
        core = self.pipe.core
        if core.readers:
            fields = {"pool": "TBufPool", "ub": self.start, "nbytes": self.nbytes}
            observed(core, Call("Reset", PIPE.PIPE_ALL, core, (), fields=fields))
        self.cursor, self.handles = self.start, 0

    def claim(self, what: str, nbytes: int, handles: int, limited: bool) -> int:
        """Move the cursor and return where the bytes start.

        Raises
        ------
        UbOverflow
            When the pool has no room left.
        QueueError
            Beyond 16 buffers, where the chip has that limit.
        """
        if limited and self.handles + handles > self.LIMIT:
            raise QueueError(
                f"InitBuffer: {what} asks for {handles} buffers with {self.handles} in use: a "
                f"TBufPool has {self.LIMIT}; merge buffers",
                finding="memcheck:too-many-buffers",
            )
        start, end = self.cursor, self.cursor + ceil32(nbytes)
        if end > self.start + self.nbytes:
            raise UbOverflow(
                f"InitBuffer: {what} needs UB[{start:#x}, {end:#x}) but its TBufPool ends at "
                f"{self.start + self.nbytes:#x}; use a larger pool or fewer buffers"
            )
        self.cursor, self.handles = end, self.handles + handles
        return start
