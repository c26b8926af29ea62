"""Copies between global memory and UB, and within UB.

GM to UB runs on MTE2, UB to GM on MTE3, UB to UB on V. Blocks of a copy are separated by gaps
that run from the end of one block to the start of the next. As for vector instructions, the first
call with given operands binds it: everything is checked once but where in GM it goes (transfer.py).
Manual chapter: data movement (DataCopy, DataCopyPad); bank of rules in rules.py.
"""

from __future__ import annotations

from operator import index
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.errors import AlignmentError, BoundsError, ContractError, DtypeError, RepeatError
from ascendsim.isa.beyond import beyond, tolerated
from ascendsim.isa.bind import MAX_CALLS
from ascendsim.isa.padding import PadBlocks, pad_blocks, pad_fields, padded_bytes
from ascendsim.isa.params import (
    DataCopyExtParams,
    DataCopyPadParams,
    DataCopyParams,
    as_dict,
    check_widths,
)
from ascendsim.isa.support import check_on_soc
from ascendsim.isa.transfer import PIPES, Shape, Transfer, freed, run
from ascendsim.record import GM, UB

_NO_PAD = DataCopyPadParams()
MAX_DATABLOCKS = 65535  # a 16-bit field
_NOT_BOUND = (KeyError, AttributeError, TypeError)


def DataCopy(dst: Any, src: Any, count: Any) -> None:
    """Copy `count` elements of src to dst, or blocks as DataCopyParams says.

    One side may be a GlobalTensor. Count form: count * sizeof(T) is a multiple of 32 bytes (on
    hardware the rest is silently dropped). DataCopyParams: blockLen and both gaps in datablocks
    of 32 bytes. UB addresses are 32-byte aligned, GM addresses aligned to the element.
    """
    key: Any = None
    try:
        kept, other = (dst, src) if dst.space is UB else (src, dst)
        given = _words(count) if type(count) is DataCopyParams else count
        # a GlobalTensor is new in every tile: only its type counts
        other = other.dtype if other.space is GM else other
        key = ("DataCopy", kept is dst, other, type(count), given)
        transfer = kept.calls[key]
    except _NOT_BOUND:
        transfer = _checked_copy(dst, src, count)
        if key is not None:
            _remember(kept.calls, key, transfer)
    run(transfer, dst, src)


def DataCopyPad(dst: Any, src: Any, dataCopyParams: Any, padParams: Any = _NO_PAD) -> None:
    """Copy blocks with lengths in bytes between GM and UB.

    blockLen is bytes (a multiple of sizeof(T)); the GM gap is bytes, the UB gap datablocks. GM to
    UB: each block starts at a multiple of 32 bytes; leftPadding and rightPadding elements (at
    most 32 bytes each) are stored beside it, and the bytes up to the next 32 follow the rule
    pad-bytes. UB to GM: exactly blockLen bytes per block reach GM.
    """
    key: Any = None
    try:
        kept, other = (dst, src) if dst.space is UB else (src, dst)
        given = _words(dataCopyParams)
        kinds = (type(dataCopyParams), type(padParams), other.space, other.dtype)
        # what is padded depends on the pad register too: such calls are bound anew each time
        pads = padParams.isPad or padParams.leftPadding | padParams.rightPadding
        key = None if pads else ("DataCopyPad", kept is dst, kinds, given)
        transfer = kept.calls[key]
    except _NOT_BOUND:
        transfer = _checked_pad(dst, src, dataCopyParams, padParams)
        if key is not None:
            _remember(kept.calls, key, transfer)
    run(transfer, dst, src)


def _words(params: Any) -> tuple[int, int, int, int]:
    """Return the fields of copy parameters for a key; TypeError when one is no integer."""
    words = (params.blockCount, params.blockLen, params.srcStride, params.dstStride)
    words[0] | words[1] | words[2] | words[3]  # 64.0 equals 64, but is refused
    return words


def _remember(calls: dict[Any, Any], key: Any, transfer: Transfer) -> None:
    if len(calls) >= MAX_CALLS:
        calls.clear()
    calls[key] = transfer


def _checked_copy(dst: Any, src: Any, count: Any) -> Transfer:
    dtype = _one_type("DataCopy", dst, src)
    if isinstance(count, DataCopyParams):
        blocks, length, src_gap, dst_gap = _checked(count)
        length *= DATABLOCK_BYTES
        pitches = (length + dst_gap * DATABLOCK_BYTES, length + src_gap * DATABLOCK_BYTES)
    else:
        blocks, length = 1, _counted_bytes(count, dtype)
        pitches = (length, length)
    return _transfer("DataCopy", dst, src, Shape(blocks, length, *pitches), (count,))


def _checked_pad(dst: Any, src: Any, params: Any, pad: Any) -> Transfer:
    dtype = _one_type("DataCopyPad", dst, src)
    blocks, length, src_gap, dst_gap = _checked(params)
    if src_gap < 0 or dst_gap < 0:
        _check_negative_gap(dst, length, src_gap, dst_gap)
    if length % dtype.nbytes:
        raise ContractError(
            f"DataCopyPad: blockLen is {length} bytes: it must hold whole {dtype} elements "
            f"(a multiple of {dtype.nbytes})"
        )
    if dst.space is UB and src.space is GM:
        lead, right = (0, 0) if pad is _NO_PAD else padded_bytes(pad, dtype)
        pitch = _ceil32(lead + length + right) + dst_gap * DATABLOCK_BYTES
        shape = Shape(blocks, length, pitch, length + src_gap)
        around = None
        if length % DATABLOCK_BYTES or lead or right or pad.isPad:
            around = pad_blocks(dst, shape, pad, (lead, right))
        return _transfer("DataCopyPad", dst, src, shape, (params, pad), lead, around)
    if dst.space is GM and src.space is UB:
        pitch = _ceil32(length) + src_gap * DATABLOCK_BYTES
        shape = Shape(blocks, length, length + dst_gap, pitch)
        return _transfer("DataCopyPad", dst, src, shape, (params,))
    raise ContractError("DataCopyPad: one side is a GlobalTensor and the other a LocalTensor")


def _transfer(
    name: str,
    dst: Any,
    src: Any,
    shape: Shape,
    given: tuple[Any, ...],
    lead: int = 0,
    around: PadBlocks | None = None,
) -> Transfer:
    """Check what lies in UB and return the copy; `given` are the caller's count or parameters."""
    unit = dst.dtype.nbytes if name == "DataCopy" else 1
    pipe = PIPES[dst.space, src.space]
    bound = Transfer(name, pipe, shape, unit, _fields(dst.dtype, given), lead, around)
    for role, tensor, reach in (("dst", dst, bound.dst_reach), ("src", src, bound.src_reach)):
        if reach and tensor.space is UB:
            bound.beyond += _check_local(name, role, tensor, reach)
    bound.beyond += () if around is None else around.beyond
    if bound.dst_reach and dst.space is UB:
        padding = 0 if around is None else around.after
        dst.written(bound.dst_reach + padding)
    return bound


def _check_local(name: str, role: str, tensor: Any, reach: int) -> tuple[BoundsError, ...]:
    """Check that `reach` bytes from the start of `tensor` lie in it, and that it is aligned.

    Returns what is reported only (out_of_bounds=report).
    """
    if not tensor.buffer.state:
        raise freed(name, role, tensor)
    if tensor.start % DATABLOCK_BYTES:
        raise AlignmentError(
            f"{name}: {role} starts at UB[{tensor.start:#x}] of {tensor.buffer.name}: copies "
            f"start at multiples of {DATABLOCK_BYTES} bytes in UB; choose such an offset",
            about=tensor,
        )
    if reach <= tensor.nbytes:
        return ()
    error = BoundsError(
        f"{name}: {role} needs UB[{tensor.start:#x}, {tensor.start + reach:#x}), past the end of "
        f"{tensor!r} ({reach} of {tensor.nbytes} bytes); copy less or use a larger buffer",
        about=beyond(tensor, reach),
    )
    return tolerated(tensor.core, "", error)


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


def _one_type(name: str, dst: Any, src: Any) -> DType:
    """Return the common element type of both sides, checked for this SoC."""
    spaces = (getattr(dst, "space", None), getattr(src, "space", None))
    if spaces not in PIPES:
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
            f"multiple of {DATABLOCK_BYTES // dtype.nbytes} elements",
            finding="memcheck:count-rounded",
        )
    if length // DATABLOCK_BYTES > MAX_DATABLOCKS:
        raise ContractError(
            f"DataCopy: count {count} of {dtype} is more than {MAX_DATABLOCKS} datablocks (2 MiB): "
            f"the 16-bit length would wrap on hardware; copy in pieces"
        )
    return length


def _ceil32(nbytes: int) -> int:
    return -(-nbytes // DATABLOCK_BYTES) * DATABLOCK_BYTES
