"""Copies between global memory and UB, and within UB.

GM to UB runs on MTE2, UB to GM on MTE3, UB to UB on V. Blocks of a copy are separated by gaps
that run from the end of one block to the start of the next.
Manual chapter: data movement (DataCopy, DataCopyPad); bank of rules in rules.py.
"""

from __future__ import annotations

from typing import Any

from ascendsim.core import observed
from ascendsim.enums import DATABLOCK_BYTES, PIPE
from ascendsim.errors import AlignmentError, BoundsError, ContractError, DtypeError
from ascendsim.isa.geometry import CopyShape
from ascendsim.isa.padding import pad_blocks, pad_fields, padded_bytes
from ascendsim.isa.params import DataCopyExtParams, DataCopyPadParams, DataCopyParams, check_widths
from ascendsim.isa.support import check_on_soc
from ascendsim.record import GM, UB, Access, Call

_PIPES = {(UB, GM): PIPE.PIPE_MTE2, (GM, UB): PIPE.PIPE_MTE3, (UB, UB): PIPE.PIPE_V}
_NO_PAD = DataCopyPadParams()
MAX_DATABLOCKS = 65535  # a 16-bit field


def DataCopy(dst: Any, src: Any, count: Any) -> None:
    """dst = src for `count` elements, or for blocks as DataCopyParams says.

    One side may be a GlobalTensor. Count form: count * sizeof(T) is a multiple of 32 bytes (on
    hardware the rest is silently dropped). DataCopyParams: blockLen and both gaps in datablocks
    of 32 bytes. UB addresses are 32-byte aligned, GM addresses aligned to the element.
    """
    dtype = _one_type("DataCopy", dst, src)
    check_on_soc("DataCopy", dst.core, dtype)
    if isinstance(count, DataCopyParams):
        check_widths(count)
        blocks, length = count.blockCount, count.blockLen * DATABLOCK_BYTES
        gaps = (count.srcStride * DATABLOCK_BYTES, count.dstStride * DATABLOCK_BYTES)
        fields = _block_fields(count)
    else:
        blocks, length, gaps = 1, _counted_bytes(count, dtype), (0, 0)
        fields = {"count": count}
    if not blocks or not length:
        blocks = length = 0
    shape = (blocks, length, length + gaps[1], length + gaps[0])
    _copy("DataCopy", dst, src, shape, fields)


def DataCopyPad(dst: Any, src: Any, dataCopyParams: Any, padParams: Any = _NO_PAD) -> None:
    """dst = src block by block with lengths in bytes, between GM and UB.

    blockLen is bytes (a multiple of sizeof(T)); the GM gap is bytes, the UB gap datablocks. GM to
    UB: each block starts at a multiple of 32 bytes; leftPadding and rightPadding elements (at
    most 32 bytes each) are stored beside it, and the bytes up to the next 32 follow the rule
    pad-bytes. UB to GM: exactly blockLen bytes per block reach GM.
    """
    dtype = _one_type("DataCopyPad", dst, src)
    if type(dataCopyParams) not in (DataCopyParams, DataCopyExtParams):
        raise ContractError(
            f"DataCopyPad: dataCopyParams is {dataCopyParams!r}: use DataCopyParams(blockCount, "
            f"blockLen, srcStride, dstStride) or DataCopyExtParams"
        )
    check_on_soc("DataCopyPad", dst.core, dtype)
    check_widths(dataCopyParams)
    blocks, length = dataCopyParams.blockCount, dataCopyParams.blockLen
    if length % dtype.nbytes:
        raise ContractError(
            f"DataCopyPad: blockLen is {length} bytes: it must hold whole {dtype} elements "
            f"(a multiple of {dtype.nbytes})"
        )
    fields = _block_fields(dataCopyParams)
    if not blocks or not length:
        blocks = length = 0
    src_gap, dst_gap = dataCopyParams.srcStride, dataCopyParams.dstStride
    lead, around = 0, None
    if dst.space is UB and src.space is GM:
        lead, right = padded_bytes(padParams, dtype)
        pitch = _ceil32(lead + length + right) + dst_gap * DATABLOCK_BYTES
        shape = (blocks, length, pitch, length + src_gap)
        fields |= pad_fields(padParams, dtype)
        if padParams.isPad or lead or right or length % DATABLOCK_BYTES:
            around = pad_blocks(dst, shape, padParams, (lead, right))
    elif dst.space is GM and src.space is UB:
        shape = (blocks, length, length + dst_gap, _ceil32(length) + src_gap * DATABLOCK_BYTES)
    else:
        raise ContractError("DataCopyPad: one side is a GlobalTensor and the other a LocalTensor")
    _copy("DataCopyPad", dst, src, shape, fields, lead, around)


def _copy(
    name: str,
    dst: Any,
    src: Any,
    shape: tuple[int, int, int, int],
    fields: dict[str, Any],
    lead: int = 0,
    around: Any = None,
) -> None:
    """Check both sides and move `shape` = (blocks, bytes, dst pitch, src pitch).

    `lead` bytes of left padding stand before the data in UB; `around` stores the padding.
    """
    blocks, length, dst_pitch, src_pitch = shape
    core = dst.core
    if blocks:
        reach = (blocks - 1) * dst_pitch + length + lead
        _check(name, "dst", dst, reach if dst_pitch >= 0 else length, True, shape)
        _check(name, "src", src, (blocks - 1) * max(src_pitch, 0) + length, False, shape)
    if core.readers:
        call = _call(name, core, dst, src, shape, fields, lead, around)
        observed(core, call, depth=3)
        return
    if blocks:
        core.bodies.move(dst.address + lead, src.address, blocks, length, dst_pitch, src_pitch)
        if around is not None:
            around.store()


def _call(
    name: str,
    core: Any,
    dst: Any,
    src: Any,
    shape: tuple[int, int, int, int],
    fields: dict[str, Any],
    lead: int,
    around: Any,
) -> Call:
    blocks, length, dst_pitch, src_pitch = shape
    move = core.bodies.move
    from_address, to_address = src.address, dst.address + lead

    def execute(address: int, scalar: float) -> None:
        if blocks:
            move(to_address, from_address, blocks, length, dst_pitch, src_pitch)
            if around is not None:
                around.store()

    start, stored = dst.start + lead, length
    if around is not None:
        start, stored = dst.start, around.left + length + around.after
    into = Access("dst", dst.space, dst.holder, start, dst.dtype, True, stored, dst_pitch, 0)
    out_of = Access("src0", src.space, src.holder, src.start, src.dtype, False, length, src_pitch, 0)
    fields = {"dtype": dst.dtype, **fields}
    pipe = _PIPES[dst.space, src.space]
    return Call(name, pipe, core, (into, out_of), execute, geometry=CopyShape(blocks), fields=fields)


def _check(
    name: str, role: str, tensor: Any, reach: int, store: bool, shape: tuple[int, int, int, int]
) -> None:
    """Check that `reach` bytes from the start of `tensor` may be touched."""
    if tensor.space is UB:
        if not tensor.buffer.state:
            raise ContractError(
                f"{name}: {role} is {tensor!r}, whose buffer was freed; copy before FreeTensor"
            )
        if tensor.start % DATABLOCK_BYTES:
            raise AlignmentError(
                f"{name}: {role} starts at UB[{tensor.start:#x}] of {tensor.buffer.name}: copies "
                f"start at multiples of {DATABLOCK_BYTES} bytes in UB"
            )
        if reach > tensor.nbytes:
            raise BoundsError(
                f"{name}: {role} needs UB[{tensor.start:#x}, {tensor.start + reach:#x}), past the "
                f"end of {tensor!r} ({reach} of {tensor.nbytes} bytes); copy less or use a larger "
                f"buffer"
            )
        return
    if name == "DataCopy" and tensor.start % tensor.dtype.nbytes:
        raise AlignmentError(
            f"DataCopy: {role} starts at {tensor.holder.name}[{tensor.start:#x}]: the GM address "
            f"must be a multiple of {tensor.dtype.nbytes} bytes"
        )
    tensor.touch(name, role, reach, store)
    if store:
        blocks, length, pitch, _ = shape
        writes, start = tensor.holder.writes, tensor.start
        if blocks == 1:
            writes.append((start, start + length))
        else:
            writes.extend((start + k * pitch, start + k * pitch + length) for k in range(blocks))


def _one_type(name: str, dst: Any, src: Any) -> Any:
    spaces = (getattr(dst, "space", None), getattr(src, "space", None))
    if spaces not in _PIPES:
        raise ContractError(
            f"{name}: dst is {dst!r} and src is {src!r}: copies go GM to UB, UB to GM or UB to UB "
            f"between a GlobalTensor and a LocalTensor"
        )
    if dst.dtype is not src.dtype:
        raise DtypeError(
            f"{name}: dst is {dst.dtype} but src is {src.dtype}: a copy does not convert; use "
            f"ReinterpretCast, or Cast after the copy"
        )
    return dst.dtype


def _counted_bytes(count: Any, dtype: Any) -> int:
    if isinstance(count, bool) or not hasattr(count, "__index__") or count < 0:
        raise ContractError(
            f"DataCopy: count is {count!r}: use a non-negative integer or DataCopyParams"
        )
    length = int(count) * dtype.nbytes
    if length % DATABLOCK_BYTES:
        whole = length // DATABLOCK_BYTES * DATABLOCK_BYTES // dtype.nbytes
        raise ContractError(
            f"DataCopy: count {count} of {dtype} is {length} bytes, no multiple of "
            f"{DATABLOCK_BYTES}: hardware would copy {whole} elements only; use DataCopyPad or a "
            f"multiple of {DATABLOCK_BYTES // dtype.nbytes} elements"
        )
    if length // DATABLOCK_BYTES > MAX_DATABLOCKS:
        raise ContractError(
            f"DataCopy: count {count} of {dtype} is more than {MAX_DATABLOCKS} datablocks (2 MiB): "
            f"the 16-bit length would wrap on hardware; copy in pieces"
        )
    return length


def _block_fields(params: Any) -> dict[str, Any]:
    return {
        "blockCount": params.blockCount,
        "blockLen": params.blockLen,
        "srcStride": params.srcStride,
        "dstStride": params.dstStride,
    }


def _ceil32(nbytes: int) -> int:
    return -(-nbytes // DATABLOCK_BYTES) * DATABLOCK_BYTES
