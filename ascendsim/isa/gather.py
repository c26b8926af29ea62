"""Collect elements: by offsets or by a mask; and copy them under a mask.

Manual chapters: scatter and gather; compare and select (GatherMask); data movement (Copy).
"""

from __future__ import annotations

from typing import Any

from ascendsim import dtypes
from ascendsim.core import require_data
from ascendsim.enums import DATABLOCK_BYTES, REPEAT_BYTES
from ascendsim.errors import (
    BoundsError,
    ContractError,
    DtypeError,
    UnsupportedError,
)
from ascendsim.isa.declare import vector
from ascendsim.isa.footprint import (
    MAX_STRIDE,
    Operand,
    from_start,
    mask_key,
    mask_of,
    one_type,
    refuse_overlap,
    repeats_of,
    runs,
    source_geometry,
    whole,
)
from ascendsim.isa.offsets import Offsets
from ascendsim.isa.params import CopyRepeatParams, GatherMaskParams, check_widths
from ascendsim.isa.program import issue, lane_words, make_call, program
from ascendsim.isa.roles import In, Out
from ascendsim.numerics import opcodes
from ascendsim.record import UB, Call, current_core

MAX_UINT32 = (1 << 32) - 1
PATTERNS = (0b0101, 0b1010, 0b0001, 0b0010, 0b0100, 0b1000, 0b1111)  # of four lanes, from 1 on
_PATTERN_TYPES = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32}


@vector(body="copy", bits=True, arithmetic=False, params=CopyRepeatParams, counts_per_repeat=True)
def Copy(dst: Out, src: In, env: int = 0) -> Any:
    """Copy the masked lanes of src to dst within UB.

    The count form exists on 950 alone. In counter mode the mask is the
    number of elements of each repeat, also beyond 256 bytes, and repeatTime counts. Exceptional
    values: bits are copied as they are.
    """
    return src.copy()


@program("gather-bounds")
def Gather(
    dst: Any,
    src: Any,
    srcOffset: Any,
    srcBaseAddr: int,
    count: Any,
    repeatTime: int | None = None,
    dstRepStride: int = 8,
) -> None:
    """Collect elements of src by byte offsets: dst[i] is the element at srcBaseAddr + srcOffset[i].

    Forms: Gather(dst, src, srcOffset, srcBaseAddr, count) and Gather(dst, src, srcOffset,
    srcBaseAddr, mask, repeatTime, dstRepStride); offsets are uint32, one per lane, repeats one
    after another. Offsets must be multiples of the element size and stay inside src. dst and src
    must not share bytes. Records name the whole of src, since what is read depends on data.
    """
    base = whole("Gather", "srcBaseAddr", srcBaseAddr, 0, MAX_UINT32)
    if repeatTime is None:
        given: tuple[Any, ...] = (base, whole("Gather", "count", count, 0, MAX_UINT32), None, 8)
    else:
        stride = whole("Gather", "dstRepStride", dstRepStride, 0, MAX_STRIDE)
        given = (base, mask_key(count), repeats_of("Gather", repeatTime), stride)
    call = issue("Gather", (dst, src, srcOffset), given, _bind_gather)
    Offsets("srcOffset", srcOffset, src, "element", src.dtype.nbytes, base).check(call)


def _bind_gather(
    name: str,
    tensors: tuple[Any, Any, Any],
    base: int,
    count: Any,
    repeats: int | None,
    stride: int,
) -> Call:
    dst, src, offsets = tensors
    dtype, core = one_type(name, (dst, src)), dst.core
    if offsets.dtype is not dtypes.uint32:
        raise DtypeError(f"srcOffset is {offsets.dtype}: use uint32 (byte offsets)")
    lanes = REPEAT_BYTES // dtype.nbytes
    if repeats is None:
        bits, times, total, read = (1 << lanes) - 1, -(-count // lanes), count, count
        part: Any = from_start(count * dtype.nbytes)
        fields: dict[str, Any] = {"count": count}
        stride = 8
    else:
        bits = mask_of(count, lanes, core.soc.arch)
        times, total = (repeats if bits else 0), lanes * repeats
        read = (times - 1) * lanes + bits.bit_length() if times else 0
        part = source_geometry(bits, lanes, times, dtype.nbytes, (1, stride))
        fields = {"mask": bits, "repeatTimes": repeats}
    at = Operand("src1", offsets, from_start(4 * read))
    operands = (Operand("dst", dst, part, True), Operand("src", src, ((0, src.nbytes),)), at)
    refuse_overlap(*operands[:2])
    words = {
        **lane_words(times, lanes, bits),
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_DST_REPEAT: stride * DATABLOCK_BYTES,
        opcodes.P_BASE: base,
        opcodes.P_LIMIT: src.nbytes,
        opcodes.P_CHECKED: 1,
    }
    return make_call(name, "gather", operands, total, words, fields | {"srcBaseAddr": base})


@program("gather-mask")
def GatherMask(
    dst: Any,
    src0: Any,
    src1Pattern: Any,
    reduceMode: bool,
    mask: int,
    gatherMaskParams: GatherMaskParams,
    rsvdCnt: int = 0,
) -> int:
    """Store the chosen elements of src0 one after another in dst; return how many there are.

    The last argument of the Ascend C call, a reference, is the return value here:
    `rsvdCnt = GatherMask(...)`. src1Pattern is a number, 1 and 2 for even and odd lanes, 3 to 6 for
    one lane of every four, 7 for all, or a tensor of mask bits (uint16 or uint32 like the element)
    whose repeats are src1RepeatStride datablocks apart. reduceMode False takes whole repeats of 256
    bytes; True takes `mask` elements per repeat, on 310P `mask` elements in all.
    """
    if not isinstance(gatherMaskParams, GatherMaskParams):
        raise ContractError(
            f"GatherMask: gatherMaskParams is {gatherMaskParams!r}: use GatherMaskParams(...)"
        )
    check_widths(gatherMaskParams)
    tensor = getattr(src1Pattern, "space", None) == UB
    low = 1 if reduceMode else 0
    given = (
        0 if tensor else whole("GatherMask", "src1Pattern", src1Pattern, 1, len(PATTERNS)),
        whole("GatherMask", "mask", mask, low, MAX_UINT32) if reduceMode else 0,
        gatherMaskParams,
    )
    tensors = (dst, src0, src1Pattern) if tensor else (dst, src0)
    if tensor:
        require_data(current_core(), "GatherMask", "how many elements a mask tensor keeps is in it")
    call = issue("GatherMask", tensors, given, _bind_gather_mask)
    if not dst.core.executing:  # a fixed pattern: the spans say it
        return sum(b - a for a, b in call.geometry.parts["dst"]) // dst.dtype.nbytes  # type: ignore
    kept = int(call.row[1][opcodes.P_STATUS])
    if kept * dst.dtype.nbytes > dst.nbytes:
        raise BoundsError(
            f"GatherMask: the mask keeps {kept} elements, past the end of {dst!r} ({dst.nbytes} "
            f"bytes); hardware would store them all; use a larger buffer",
            about=dst,
        ).recorded()
    return kept


def _bind_gather_mask(
    name: str, tensors: tuple[Any, ...], pattern: int, mask: int, params: GatherMaskParams
) -> Call:
    dst, src = tensors[:2]
    dtype, arch = one_type(name, (dst, src)), dst.core.soc.arch
    if pattern == len(PATTERNS) and arch == "m200":
        raise UnsupportedError(f"pattern 7 is not available on {dst.core.soc.name}: use 1 to 6")
    lanes, repeats = REPEAT_BYTES // dtype.nbytes, params.repeatTimes
    total = lanes * repeats
    if mask and arch == "m200":
        repeats, total = -(-mask // lanes), mask
    elif mask:
        lanes, total = mask, mask * repeats
    if len(tensors) == 2:
        kept = sum(_kept(pattern, min(lanes, total - r * lanes)) for r in range(repeats))
    else:
        _check_pattern(tensors[2], dtype)
        kept = min(total, dst.nbytes // dtype.nbytes)
    kept *= dtype.nbytes
    strides = params.src0BlockStride, params.src0RepeatStride
    last = total - max(repeats - 1, 0) * lanes
    spans = _read(strides, (lanes, repeats, last), dtype.nbytes)
    operands = [Operand("dst", dst, from_start(kept), True), Operand("src", src, spans)]
    step = params.src1RepeatStride * DATABLOCK_BYTES
    if len(tensors) == 3:
        bits = runs([r * step for r in range(repeats)], -(-lanes // 8))
        operands.append(Operand("mask", tensors[2], bits))
    words = {
        opcodes.G_REPEATS: repeats,
        opcodes.G_LANES: lanes,
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_SRC_BLOCK: strides[0] * DATABLOCK_BYTES,
        opcodes.P_SRC_REPEAT: strides[1] * DATABLOCK_BYTES,
        opcodes.P_PATTERN_REPEAT: step,
        opcodes.P_LIMIT: dst.nbytes // dtype.nbytes,
        opcodes.P_PATTERN: PATTERNS[pattern - 1] if pattern else -1,
    }
    fields = {"mask": mask, "repeatTimes": repeats, "src1Pattern": pattern}
    return make_call(name, "gather_mask", operands, total, words, fields)


def _kept(pattern: int, lanes: int) -> int:
    """Return how many of the first lanes a fixed pattern chooses."""
    bits = PATTERNS[pattern - 1]
    return lanes // 4 * bits.bit_count() + (bits & (1 << lanes % 4) - 1).bit_count()


def _check_pattern(bits: Any, dtype: Any) -> None:
    wanted = _PATTERN_TYPES[dtype.nbytes]
    if bits.dtype is not wanted:
        raise DtypeError(f"src1Pattern is {bits.dtype}: {dtype} takes mask bits as {wanted}")


def _read(
    strides: tuple[int, int], shape: tuple[int, int, int], element: int
) -> tuple[tuple[int, int], ...]:
    """Return the bytes of src0 that the repeats read."""
    lanes, repeats, last = shape
    block, repeat = (stride * DATABLOCK_BYTES for stride in strides)
    spans: list[tuple[int, int]] = []
    for r in range(repeats):
        left = (last if r == repeats - 1 else lanes) * element
        for b in range(-(-left // DATABLOCK_BYTES)):
            start = r * repeat + b * block
            spans += runs([start], min(DATABLOCK_BYTES, left - b * DATABLOCK_BYTES))
    return tuple(spans)
