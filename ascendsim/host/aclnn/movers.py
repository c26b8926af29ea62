"""Kernels of the operators that a two-phase call puts around the operator itself.

`move` copies between two layouts (Contiguous, ViewCopy), `convert` changes the element type
(Cast). They run on the simulated core like any other kernel, and touch the bytes of the elements
only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ascendsim.ascendc import (
    Cast,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadParams,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    RoundMode,
    TBuf,
    TPipe,
    TPosition,
    TQue,
    TQueBind,
    float32,
)
from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.host.aclnn.layout import Ints, Layout
from ascendsim.host.tiling import CeilAlign

MOST_BLOCKS = 4095  # of one DataCopyPad
TILE_BYTES = 65536  # of one of two buffers; whole datablocks, and fits UB of every chip
TILE_NUM = 8192  # elements that one round of `convert` takes


@dataclass(frozen=True, slots=True)
class Move:
    """A copy as loops: `outer` rows of `blocks` pieces of `run` elements in a row each.

    dims : (count, source stride, destination stride) of the outer loops; all in elements.
    """

    dims: tuple[Ints, ...]
    blocks: Ints
    run: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.prod(n for n, _, _ in self.dims)

    def place(self, row: int) -> tuple[int, int]:
        """Return where a row starts in source and destination."""
        source = destination = 0
        for n, s, d in reversed(self.dims):
            row, index = divmod(row, n)
            source, destination = source + index * s, destination + index * d
        return source, destination


def plan_move(source: Layout, destination: Layout) -> Move:
    """Return the loops that copy `source` to `destination`, of one shape, element by element."""
    dims: list[Ints] = []
    for n, s, d in zip(source.shape, source.strides, destination.strides, strict=True):
        if n == 1:
            continue
        if dims and dims[-1][1] == s * n and dims[-1][2] == d * n:
            dims[-1] = (dims[-1][0] * n, s, d)
        else:
            dims.append((n, s, d))
    run = dims.pop()[0] if dims and dims[-1][1:] == (1, 1) else 1
    # One DataCopyPad takes the longest loop whose pieces lie one after another on both sides.
    apart = [dim for dim in dims if dim[1] >= run and dim[2] >= run]
    blocks = max(apart, default=(1, run, run))
    if apart:
        dims.remove(blocks)
    return Move(tuple(dims), blocks, run)


def move(src: Any, dst: Any, workspace: Any, tiling: Any) -> None:
    """Copy as `tiling.plan`, a Move, says; every block takes each blockDim-th row."""
    plan, T = tiling.plan, dst.dtype
    pipe, queue = TPipe(), _named("queue", TQueBind(TPosition.VECIN, TPosition.VECOUT, 2))
    pipe.InitBuffer(queue, 2, TILE_BYTES)
    source, destination = GlobalTensor(T), GlobalTensor(T)
    source.SetGlobalBuffer(src)
    destination.SetGlobalBuffer(dst)
    blocks, src_pitch, dst_pitch = plan.blocks
    step = min(plan.run, TILE_BYTES // T.nbytes)
    padded = CeilAlign(step * T.nbytes, DATABLOCK_BYTES)
    at_once = min(MOST_BLOCKS, TILE_BYTES // padded) if step == plan.run else 1
    for row in range(GetBlockIdx(), plan.rows, GetBlockNum()):
        src_row, dst_row = plan.place(row)
        for first in range(0, blocks, at_once):
            count = min(at_once, blocks - first)
            for start in range(0, plan.run, step):
                length = min(step, plan.run - start)
                sizes = (count, length * T.nbytes)
                src_gap, dst_gap = ((p - length) * T.nbytes for p in (src_pitch, dst_pitch))
                gaps = (src_gap, dst_gap) if count > 1 else (0, 0)
                tile = queue.AllocTensor(T)
                from_gm = source[src_row + first * src_pitch + start :]
                into = DataCopyExtParams(*sizes, gaps[0], 0, 0)
                DataCopyPad(tile, from_gm, into, DataCopyPadParams())
                queue.EnQue(tile)
                tile = queue.DeQue(T)
                to_gm = destination[dst_row + first * dst_pitch + start :]
                DataCopyPad(to_gm, tile, DataCopyExtParams(*sizes, 0, gaps[1], 0))
                queue.FreeTensor(tile)


def cast_steps(soc: Any, source: DType, destination: DType) -> tuple[tuple[DType, str], ...]:
    """Return (type, rounding mode) of the instructions that convert; by way of fp32 if need be.

    Narrowing rounds to nearest, ties to even (assumed: what the Cast operator does).
    """
    pairs = soc.ops["Cast"].pairs
    if (letters := pairs.get(f"{source}->{destination}")) is not None:
        widens = source.nbytes < destination.nbytes
        return ((destination, "CAST_RINT" if "R" in letters and not widens else "CAST_NONE"),)
    return (
        *cast_steps(soc, source, float32),
        *cast_steps(soc, float32, destination),
    )


def convert(src: Any, dst: Any, workspace: Any, tiling: Any) -> None:
    """Convert as `tiling.steps` says; every block takes `blockLength` elements."""
    start = tiling.blockLength * GetBlockIdx()
    length = min(tiling.blockLength, tiling.totalLength - start)
    if length <= 0:
        return
    pipe = TPipe()
    inQueue = _named("inQueue", TQue(TPosition.VECIN, 2))
    outQueue = _named("outQueue", TQue(TPosition.VECOUT, 2))
    between = _named("between", TBuf(TPosition.VECCALC))
    for queue, T in ((inQueue, src.dtype), (outQueue, dst.dtype)):
        pipe.InitBuffer(queue, 2, TILE_NUM * T.nbytes)
    pipe.InitBuffer(between, TILE_NUM * float32.nbytes)
    source, destination = GlobalTensor(src.dtype), GlobalTensor(dst.dtype)
    source.SetGlobalBuffer(src[start:], length)
    destination.SetGlobalBuffer(dst[start:], length)
    for offset in range(0, length, TILE_NUM):
        count = min(TILE_NUM, length - offset)
        tile = inQueue.AllocTensor(src.dtype)
        _copy(tiling.exact, tile, source[offset:], count)
        inQueue.EnQue(tile)
        tile, out = inQueue.DeQue(src.dtype), outQueue.AllocTensor(dst.dtype)
        value = tile
        for T, mode in tiling.steps:
            into = out if T is dst.dtype else between.Get(T)
            Cast(into, value, RoundMode[mode], count)
            value = into
        outQueue.EnQue(out)
        inQueue.FreeTensor(tile)
        out = outQueue.DeQue(dst.dtype)
        _copy(tiling.exact, destination[offset:], out, count)
        outQueue.FreeTensor(out)


def _named(name: str, holder: Any) -> Any:
    """Name a buffer: names are looked up in kernel objects, and there is none here."""
    holder._name = name
    return holder


def _copy(exact: bool, dst: Any, src: Any, count: int) -> None:
    """Copy `count` elements; chips without DataCopyPad move whole datablocks, into GM's slack."""
    T = dst.dtype
    if exact:
        DataCopyPad(dst, src, DataCopyExtParams(1, count * T.nbytes, 0, 0, 0))
    else:
        DataCopy(dst, src, CeilAlign(count, DATABLOCK_BYTES // T.nbytes))
