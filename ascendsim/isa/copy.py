"""Copies between global memory and UB, and within UB.

GM to UB runs on MTE2, UB to GM on MTE3, UB to UB on V. Blocks of a copy are separated by gaps
that run from the end of one block to the start of the next.
Manual chapter: data movement (DataCopy, DataCopyPad); bank of rules in rules.py.
"""

from __future__ import annotations

from operator import index
from typing import Any

from ascendsim.core import observed
from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES, PIPE
from ascendsim.errors import (
    AlignmentError,
    BoundsError,
    ContractError,
    DtypeError,
    QueueError,
    RepeatError,
)
from ascendsim.isa.geometry import CopyShape
from ascendsim.isa.padding import PadBlocks, pad_blocks, pad_fields, padded_bytes
from ascendsim.isa.params import (
    DataCopyExtParams,
    DataCopyPadParams,
    DataCopyParams,
    as_dict,
    check_widths,
)
from ascendsim.isa.support import check_on_soc
from ascendsim.record import GM, UB, Access, Call, Move

_PIPES = {(UB, GM): PIPE.PIPE_MTE2, (GM, UB): PIPE.PIPE_MTE3, (UB, UB): PIPE.PIPE_V}
_NO_PAD = DataCopyPadParams()
MAX_DATABLOCKS = 65535  # a 16-bit field


def DataCopy(dst: Any, src: Any, count: Any) -> None:
    """Copy `count` elements of src to dst, or blocks as DataCopyParams says.

    One side may be a GlobalTensor. Count form: count * sizeof(T) is a multiple of 32 bytes (on
    hardware the rest is silently dropped). DataCopyParams: blockLen and both gaps in datablocks
    of 32 bytes. UB addresses are 32-byte aligned, GM addresses aligned to the element.
    """
    dtype = _one_type("DataCopy", dst, src)
    if isinstance(count, DataCopyParams):
        blocks, length, src_gap, dst_gap = _checked(count)
        length *= DATABLOCK_BYTES
        pitches = (length + dst_gap * DATABLOCK_BYTES, length + src_gap * DATABLOCK_BYTES)
    else:
        blocks, length = 1, _counted_bytes(count, dtype)
        pitches = (length, length)
    _copy("DataCopy", dst, src, (blocks, length, *pitches), (count,))


def DataCopyPad(dst: Any, src: Any, dataCopyParams: Any, padParams: Any = _NO_PAD) -> None:
    """Copy blocks with lengths in bytes between GM and UB.

    blockLen is bytes (a multiple of sizeof(T)); the GM gap is bytes, the UB gap datablocks. GM to
    UB: each block starts at a multiple of 32 bytes; leftPadding and rightPadding elements (at
    most 32 bytes each) are stored beside it, and the bytes up to the next 32 follow the rule
    pad-bytes. UB to GM: exactly blockLen bytes per block reach GM.
    """
    dtype = _one_type("DataCopyPad", dst, src)
    blocks, length, src_gap, dst_gap = _checked(dataCopyParams)
    if src_gap < 0 or dst_gap < 0:
        _check_negative_gap(dst, length, src_gap, dst_gap)
    if length % dtype.nbytes:
        raise ContractError(
            f"DataCopyPad: blockLen is {length} bytes: it must hold whole {dtype} elements "
            f"(a multiple of {dtype.nbytes})"
        )
    if dst.space is UB and src.space is GM:
        lead, right = (0, 0) if padParams is _NO_PAD else padded_bytes(padParams, dtype)
        pitch = _ceil32(lead + length + right) + dst_gap * DATABLOCK_BYTES
        shape = (blocks, length, pitch, length + src_gap)
        around = None
        if length % DATABLOCK_BYTES or lead or right or padParams.isPad:
            around = pad_blocks(dst, shape, padParams, (lead, right))
        _copy("DataCopyPad", dst, src, shape, (dataCopyParams, padParams), lead, around)
    elif dst.space is GM and src.space is UB:
        shape = (blocks, length, length + dst_gap, _ceil32(length) + src_gap * DATABLOCK_BYTES)
        _copy("DataCopyPad", dst, src, shape, (dataCopyParams,))
    else:
        raise ContractError("DataCopyPad: one side is a GlobalTensor and the other a LocalTensor")


def _copy(
    name: str,
    dst: Any,
    src: Any,
    shape: tuple[int, int, int, int],
    given: tuple[Any, ...],
    lead: int = 0,
    around: PadBlocks | None = None,
) -> None:
    """Check both sides and move `shape` = (blocks, bytes, dst pitch, src pitch).

    `given` are the caller's count or parameters, for the record. `lead` bytes of left padding
    stand before the data in UB; `around` stores the padding.
    """
    blocks, length, dst_pitch, src_pitch = shape
    core = dst.core
    if blocks and length:
        _check(name, "dst", dst, (blocks - 1) * max(dst_pitch, 0) + length + lead)
        _check(name, "src", src, (blocks - 1) * max(src_pitch, 0) + length)
        if dst.space is GM:
            _note_writes(dst, blocks, length, dst_pitch)
    if core.readers:
        observed(core, _call(name, dst, src, shape, given, lead, around), depth=3)
    elif blocks and length:
        core.move(dst.address + lead, src.address, blocks, length, dst_pitch, src_pitch)
        if around is not None:
            around.store()


def _call(
    name: str,
    dst: Any,
    src: Any,
    shape: tuple[int, int, int, int],
    given: tuple[Any, ...],
    lead: int,
    around: PadBlocks | None,
) -> Call:
    """Return the call for its record."""
    blocks, length, dst_pitch, src_pitch = shape
    move = dst.core.move
    from_address, to_address = src.address, dst.address + lead

    def execute(address: int, scalar: float) -> None:
        if blocks and length:
            move(to_address, from_address, blocks, length, dst_pitch, src_pitch)
            if around is not None:
                around.store()

    start, stored = dst.start + lead, length
    if around is not None:
        start, stored = dst.start, around.left + length + around.after
    into = Access("dst", dst.space, dst.holder, start, dst.dtype, True, stored, dst_pitch, 0)
    out_of = Access(
        "src0", src.space, src.holder, src.start, src.dtype, False, length, src_pitch, 0
    )
    shape_of = CopyShape(blocks if length else 0)
    pipe = _PIPES[dst.space, src.space]
    fields = _fields(dst.dtype, given)
    if GM in (dst.space, src.space):
        fields["l2"] = (dst if dst.space == GM else src).cache.name
    row = Move(
        *(shape_of.blocks, length, dst_pitch, src_pitch),
        *("" if dst.space == UB else dst.holder.name, dst.start + lead),
        *("" if src.space == UB else src.holder.name, src.start),
        None if around is None else around.stored,
    )
    accesses = (into, out_of)
    return Call(name, pipe, dst.core, accesses, execute, row=row, geometry=shape_of, fields=fields)


def _fields(dtype: DType, given: tuple[Any, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {"dtype": dtype}
    for parameters in given:
        if isinstance(parameters, DataCopyPadParams):
            fields |= pad_fields(parameters, dtype)
        elif isinstance(parameters, (DataCopyParams, DataCopyExtParams)):
            fields |= as_dict(parameters)
        else:
            fields["count"] = int(parameters)
    return fields


def _checked(params: Any) -> tuple[int, int, int, int]:
    """Return blockCount, blockLen and both gaps, each checked against the width of its field."""
    if type(params) is not DataCopyParams and type(params) is not DataCopyExtParams:
        raise ContractError(
            f"DataCopyPad: dataCopyParams is {params!r}: use DataCopyParams(blockCount, "
            f"blockLen, srcStride, dstStride) or DataCopyExtParams"
        )
    given = (params.blockCount, params.blockLen, params.srcStride, params.dstStride)
    try:
        blocks, length, src_gap, dst_gap = map(index, given)
        fits = (blocks << 4 | length | src_gap | dst_gap) >> 16 == 0
    except TypeError:
        fits = False
    if not fits:  # rare: a wide field, or a value that does not fit
        check_widths(params)
    return blocks, length, src_gap, dst_gap


def _check_negative_gap(dst: Any, length: int, src_gap: int, dst_gap: int) -> None:
    """Only 950 steps back in GM, and at most by the block itself (which reads it again)."""
    soc = dst.core.soc
    into_ub = dst.space is UB
    if dst_gap < 0 or not into_ub or soc.arch != "3510" or src_gap < -length:
        raise RepeatError(
            f"DataCopyPad: srcStride {src_gap}, dstStride {dst_gap}: gaps are not negative "
            f"(on 950 a copy from GM may have srcStride down to -blockLen); use 0 or more"
        )


def _note_writes(dst: Any, blocks: int, length: int, pitch: int) -> None:
    """Note which bytes of a GM tensor were stored, for the coverage of outputs."""
    writes, start = dst.holder.writes, dst.start
    if blocks == 1:
        writes.append((start, start + length))
    else:
        writes.extend((start + k * pitch, start + k * pitch + length) for k in range(blocks))


def _check(name: str, role: str, tensor: Any, reach: int) -> None:
    """Check that `reach` bytes from the start of `tensor` may be touched."""
    if tensor.space is UB:
        if not tensor.buffer.state:
            raise QueueError(
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
    tensor.touch(name, role, reach, role == "dst")


def _one_type(name: str, dst: Any, src: Any) -> DType:
    """Return the common element type of both sides, checked for this SoC."""
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
    core, dtype = dst.core, dst.dtype
    if core is None:
        raise ContractError(f"{name}: dst has no SetGlobalBuffer; call it first")
    if (name, dtype) not in core.copyable:
        check_on_soc(name, core, dtype)
        if name == "DataCopy":
            core.relied_on(("copy-datablocks",), name)
        core.copyable.add((name, dtype))
    return dtype


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


def _ceil32(nbytes: int) -> int:
    return -(-nbytes // DATABLOCK_BYTES) * DATABLOCK_BYTES
