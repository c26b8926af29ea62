"""Move whole datablocks by offsets (Gatherb), and spread rows or columns (BroadCast).

Manual chapters: scatter and gather; library, tensor transformation (Broadcast).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascendsim import dtypes
from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES
from ascendsim.errors import ContractError, DtypeError
from ascendsim.isa.footprint import (
    Operand,
    from_start,
    one_type,
    refuse_overlap,
    repeats_of,
    runs,
    whole,
)
from ascendsim.isa.offsets import Offsets
from ascendsim.isa.params import GatherRepeatParams, check_widths
from ascendsim.isa.program import issue, make_call, program
from ascendsim.numerics import opcodes
from ascendsim.record import UB, Call

MAX_DIMENSION = (1 << 31) - 1


@program("gather-bounds")
def Gatherb(
    dst: Any, src: Any, offset: Any, repeatTime: int, repeatParams: GatherRepeatParams
) -> None:
    """Collect datablocks: block k of dst is the 32 bytes of src from byte offset[k] on.

    Each repeat takes the next eight offsets (uint32) and fills eight datablocks, dstBlkStride apart
    (0 counts as 1); repeats are dstRepStride apart. Offsets are multiples of 32 and stay inside
    src. dst and src must not share bytes. Exceptional values: bits are copied as they are.
    """
    if not isinstance(repeatParams, GatherRepeatParams):
        raise ContractError(
            f"Gatherb: repeatParams is {repeatParams!r}: use GatherRepeatParams(dstBlkStride, "
            f"dstRepStride)"
        )
    check_widths(repeatParams)
    strides = repeatParams.dstBlkStride or 1, repeatParams.dstRepStride
    given = (repeats_of("Gatherb", repeatTime), *strides)
    call = issue("Gatherb", (dst, src, offset), given, _bind_gather)
    Offsets("offset", offset, src, "block", DATABLOCK_BYTES).check(call)


def _bind_gather(
    name: str, tensors: tuple[Any, Any, Any], repeats: int, block: int, repeat: int
) -> Call:
    dst, src, offsets = tensors
    dtype = one_type(name, (dst, src))
    if offsets.dtype is not dtypes.uint32:
        raise DtypeError(f"offset is {offsets.dtype}: use uint32 (byte offsets)")
    starts = [
        DATABLOCK_BYTES * (r * repeat + b * block)
        for r in range(repeats)
        for b in range(BLOCKS_PER_REPEAT)
    ]
    blocks = repeats * BLOCKS_PER_REPEAT
    operands = (
        Operand("dst", dst, runs(starts, DATABLOCK_BYTES), True),
        Operand("src", src, ((0, src.nbytes),) if repeats else ()),
        Operand("src1", offsets, from_start(4 * blocks)),
    )
    refuse_overlap(*operands[:2])
    words = {
        opcodes.G_REPEATS: repeats,
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_DST_BLOCK: block * DATABLOCK_BYTES,
        opcodes.P_DST_REPEAT: repeat * DATABLOCK_BYTES,
        opcodes.P_LIMIT: src.nbytes,
        opcodes.P_CHECKED: 1,
    }
    count = blocks * DATABLOCK_BYTES // dtype.nbytes
    return make_call(name, "gather_blocks", operands, count, words, {"repeatTimes": repeats})


@program("broadcast-exact")
def BroadCast(
    dst: Any,
    src: Any,
    dstShape: Sequence[int],
    srcShape: Sequence[int],
    sharedTmpBuffer: Any = None,
    *,
    dim: int,
    axis: int,
) -> None:
    """Repeat src along one axis: one dimension, or rows (axis 0) or columns (axis 1) of two.

    `BroadCast<T, 2, 1>(dst, src, ...)` is `BroadCast(dst, src, ..., dim=2, axis=1)`. srcShape is
    dstShape with a 1 at `axis`. sharedTmpBuffer is left as it is. The form of 950 with a tiling,
    for up to nine dimensions, is not modelled. Exceptional values: bits are copied as they are.
    """
    _broadcast("BroadCast", (dst, src), (dstShape, srcShape), sharedTmpBuffer, (dim, axis))


@program("broadcast-exact")
def Broadcast(
    dst: Any,
    src: Any,
    dstShape: Sequence[int],
    srcShape: Sequence[int],
    sharedTmpBuffer: Any = None,
    *,
    dim: int,
    axis: int,
) -> None:
    """Repeat src along one axis: the newer name of BroadCast."""
    _broadcast("Broadcast", (dst, src), (dstShape, srcShape), sharedTmpBuffer, (dim, axis))


def _broadcast(
    name: str,
    tensors: tuple[Any, Any],
    shapes: tuple[Sequence[int], Sequence[int]],
    scratch: Any,
    template: tuple[int, int],
) -> None:
    dim, axis = template
    if dim not in (1, 2) or axis not in range(dim):
        raise ContractError(
            f"{name}: dim={dim!r}, axis={axis!r}: dim is 1 or 2, axis 0 or (dim 2) 1"
        )
    into, out_of = (
        _shape(name, side, given, dim) for side, given in zip(("dst", "src"), shapes, strict=True)
    )
    if any(s != (1 if k == axis else d) for k, (d, s) in enumerate(zip(into, out_of, strict=True))):
        raise ContractError(
            f"{name}: srcShape {out_of} is not dstShape {into} with a 1 at axis {axis}"
        )
    if scratch is not None and getattr(scratch, "space", None) != UB:
        raise ContractError(f"{name}: sharedTmpBuffer is {scratch!r}: pass a LocalTensor")
    issue(name, tensors, (into, dim, axis), _bind_broadcast, depth=4)


def _shape(name: str, side: str, given: Any, dim: int) -> tuple[int, ...]:
    if not isinstance(given, Sequence) or len(given) != dim:
        raise ContractError(f"{name}: {side}Shape is {given!r}: it has {dim} dimensions")
    return tuple(whole(name, f"{side}Shape", n, 1, MAX_DIMENSION) for n in given)


def _bind_broadcast(
    name: str, tensors: tuple[Any, Any], shape: tuple[int, ...], dim: int, axis: int
) -> Call:
    dst, src = tensors
    dtype = one_type(name, tensors)
    lines, lanes = shape if dim == 2 else (1, shape[0])
    by_line, by_lane = (1, 0) if dim == 2 and axis == 1 else (0, int(dim == 2))
    read = (lines if by_line else lanes if by_lane else 1) * dtype.nbytes
    arch = dst.core.soc.arch
    if dim == 2 and read % DATABLOCK_BYTES and (axis == 0 or arch == "m200"):
        raise ContractError(
            f"src has {read} bytes: a multiple of {DATABLOCK_BYTES} is needed along axis "
            f"{1 - axis}; pad it"
        )
    operands = (
        Operand("dst", dst, ((0, lines * lanes * dtype.nbytes),), True),
        Operand("src", src, ((0, read),)),
    )
    refuse_overlap(*operands)
    words = {
        opcodes.G_REPEATS: lines,
        opcodes.G_LANES: lanes,
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_SRC_REPEAT: by_line * dtype.nbytes,
        opcodes.P_SRC_BLOCK: by_lane * dtype.nbytes,
    }
    fields = {"dstShape": list(shape), "axis": axis}
    return make_call(name, "spread", operands, lines * lanes, words, fields)
