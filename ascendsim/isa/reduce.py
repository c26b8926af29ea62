"""Reductions within repeats: of pairs, of datablocks, of whole repeats.

Manual chapter: reduction (ReduceRepeat, ReduceDataBlock, ReducePairElem are the newer names of
these instructions). Sums are trees: neighbours are added, then neighbours of the sums, and so on,
every addition rounded in the element type.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES, REPEAT_BYTES, ReduceOrder
from ascendsim.errors import ContractError, UnsupportedError
from ascendsim.isa.footprint import (
    Operand,
    mask_key,
    mask_of,
    meet,
    one_type,
    repeats_of,
    runs,
    source_geometry,
    whole,
)
from ascendsim.isa.program import combining, issue, lane_words, make_call, program
from ascendsim.numerics import opcodes
from ascendsim.record import Call

MAX_STRIDE = 65535
_SUMS = ("reduce-tree", "reduce-masked-lanes", "subnormals-kept", "nan-word")
_BLOCKS = (*_SUMS, "reduce-empty")
_CHOICE = ("reduce-first", "reduce-nan", "nan-word")
STEMS = {"Sum": "add", "Max": "max", "Min": "min"}  # of the compiled bodies
_BODIES = {"Sum": "tree", "Max": "extreme", "Min": "extreme"}
_ORDERS = {
    "c220": tuple(ReduceOrder),
    "3510": tuple(ReduceOrder),
    "m200": (ReduceOrder.ORDER_VALUE_INDEX, ReduceOrder.ORDER_INDEX_VALUE),
    "c100": (ReduceOrder.ORDER_VALUE_INDEX,),
}


@program(*_SUMS)
def WholeReduceSum(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: int,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
) -> None:
    """Add the lanes of each repeat; dst gets one element per repeat.

    The sum is a tree: neighbours are added, then neighbours of the sums, to the end; each addition
    rounds in the element type. dstRepStride counts elements of dst, source strides datablocks; dst
    starts at a multiple of one element. Masked-off lanes count as +0. Exceptional values: as Add.
    """
    _within(
        "WholeReduceSum", dst, src, mask, (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    )


@program(*_CHOICE)
def WholeReduceMax(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: int,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    order: ReduceOrder = ReduceOrder.ORDER_VALUE_INDEX,
) -> None:
    """Find the largest lane of each repeat; dst gets value and lane number as `order` says.

    Of equal lanes the first is taken. The lane number is stored as an integer in an element of
    dst's size (ReinterpretCast to read it), as uint32 with ORDER_ONLY_INDEX. dstRepStride counts
    what one repeat stores: two elements with value and index, one with the value alone, 4 bytes
    with the index alone. Exceptional values: a NaN lane wins (first one); -0 is below +0.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    _within("WholeReduceMax", dst, src, mask, strides, order)


@program(*_CHOICE)
def WholeReduceMin(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: int,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    order: ReduceOrder = ReduceOrder.ORDER_VALUE_INDEX,
) -> None:
    """Find the smallest lane of each repeat: as WholeReduceMax, with Min's order."""
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    _within("WholeReduceMin", dst, src, mask, strides, order)


@program(*_BLOCKS)
def BlockReduceSum(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
) -> None:
    """Add the lanes of each datablock; dst gets eight elements per repeat.

    The sum is a tree as in WholeReduceSum. dstRepStride counts eight elements (16 bytes for half,
    32 for float), and dst starts at a multiple of that. A datablock without any lane in the mask
    leaves its element as it was; on 950 it stores 0. Exceptional values: as Add.
    """
    _within(
        "BlockReduceSum", dst, src, mask, (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    )


@program(*_CHOICE, "reduce-empty")
def BlockReduceMax(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
) -> None:
    """Find the largest lane of each datablock; dst gets eight elements per repeat.

    Strides and alignment as BlockReduceSum; a datablock without any lane in the mask leaves its
    element as it was, on 950 it stores -inf. Exceptional values: a NaN lane wins; -0 is below +0.
    """
    _within(
        "BlockReduceMax", dst, src, mask, (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    )


@program(*_CHOICE, "reduce-empty")
def BlockReduceMin(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
) -> None:
    """Find the smallest lane of each datablock: as BlockReduceMax; 950 stores +inf for none."""
    _within(
        "BlockReduceMin", dst, src, mask, (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    )


@program(*_BLOCKS)
def PairReduceSum(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
) -> None:
    """Add lanes 2k and 2k+1; dst gets half as many elements, one after another.

    dstRepStride counts 128 bytes. A pair with no lane in the mask leaves its element as it was; on
    950 it stores 0; one masked-off lane of a pair counts as +0. Exceptional values: as Add.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    _within("PairReduceSum", dst, src, mask, strides)


def _within(
    name: str,
    dst: Any,
    src: Any,
    mask: Any,
    strides: tuple[Any, Any, Any, Any],
    order: Any = ReduceOrder.ORDER_ONLY_VALUE,
) -> None:
    given = (
        mask_key(mask),
        repeats_of(name, strides[0]),
        whole(name, "dstRepStride", strides[1], 0, MAX_STRIDE),
        whole(name, "srcBlkStride", strides[2], 0, MAX_STRIDE),
        whole(name, "srcRepStride", strides[3], 0, MAX_STRIDE),
        order,
        type(order),
    )
    issue(name, (dst, src), given, _bind, depth=4)


def _bind(
    name: str,
    tensors: tuple[Any, Any],
    mask: Any,
    repeats: int,
    dst_stride: int,
    block: int,
    repeat: int,
    order: Any,
    _: type,
) -> Call:
    dst, src = tensors
    dtype, arch = one_type(name, tensors), dst.core.soc.arch
    _check_order(order, dst.core, dst_stride)
    lanes = REPEAT_BYTES // dtype.nbytes
    bits = mask_of(mask, lanes, arch)
    groups = _groups(name, lanes)
    stored, unit = _stored(name, order, groups, dtype.nbytes)
    empty = _empty(name, dtype, arch)
    spans = _spans(groups, bits, empty, stored, (repeats, dst_stride * unit), dtype.nbytes)
    source = source_geometry(bits, lanes, repeats, dtype.nbytes, (block, repeat))
    into, out_of = Operand("dst", dst, spans, True, _alignment(unit)), Operand("src", src, source)
    if dst.start > src.start or dst_stride * unit > repeat * DATABLOCK_BYTES:
        _warn_overlap(name, into, out_of)
    words = {
        **combining(dst.core, STEMS[name[-3:]], dtype),
        **lane_words(repeats if bits else 0, lanes, bits),
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_DST_REPEAT: dst_stride * unit,
        opcodes.P_SRC_BLOCK: block * DATABLOCK_BYTES,
        opcodes.P_SRC_REPEAT: repeat * DATABLOCK_BYTES,
        opcodes.P_LEVELS: (lanes // groups).bit_length() - 1,
        opcodes.P_GROUPS: groups,
        opcodes.P_MINIMUM: int(name.endswith("Min")),
        opcodes.P_ORDER: int(order),
        opcodes.P_EMPTY: empty,
    }
    fields = {"mask": bits, "repeatTimes": repeats, "order": order.name}
    return make_call(name, _BODIES[name[-3:]], (into, out_of), lanes * repeats, words, fields)


def _warn_overlap(name: str, into: Operand, out_of: Operand) -> None:
    if meet(into, out_of):
        into.tensor.core.warn(
            "overlap",
            f"{name}: dst ({into.tensor!r}) overlaps lanes of src that later repeats read, which "
            f"is undefined on hardware; repeats ran in order here",
        )


def _check_order(order: Any, core: Any, dst_stride: int) -> None:
    if core.soc.arch == "c100" and not dst_stride:
        raise ContractError("dstRepStride is 0: not supported on 910; use at least 1")
    if not isinstance(order, ReduceOrder):
        names = ", ".join(f"ReduceOrder.{each.name}" for each in ReduceOrder)
        raise ContractError(f"order is {order!r}: use one of {names}")
    allowed = _ORDERS[core.soc.arch]
    # sums and datablocks pass ORDER_ONLY_VALUE, which their instructions have on every chip
    if order not in allowed and order is not ReduceOrder.ORDER_ONLY_VALUE:
        names = ", ".join(each.name for each in allowed)
        raise UnsupportedError(f"{order} is not available on {core.soc.name}: use {names}")


def _groups(name: str, lanes: int) -> int:
    """Return how many results a repeat has."""
    if name.startswith("Pair"):
        return lanes // 2
    return BLOCKS_PER_REPEAT if name.startswith("Block") else 1


def _stored(name: str, order: ReduceOrder, groups: int, element: int) -> tuple[int, int]:
    """Return the bytes of one result and the unit of dstRepStride."""
    if order is ReduceOrder.ORDER_ONLY_INDEX:
        return 4, 4
    both = order in (ReduceOrder.ORDER_VALUE_INDEX, ReduceOrder.ORDER_INDEX_VALUE)
    stored = element * (2 if both else 1)
    return stored, stored * groups


def _alignment(unit: int) -> int:
    return min(unit, DATABLOCK_BYTES)


def _empty(name: str, dtype: Any, arch: str) -> int:
    """Return what 950 stores for a datablock or pair that is masked off, -1 for nothing."""
    if arch != "3510":
        return -1
    value = {"Max": -inf, "Min": inf}.get(name[-3:], 0.0)
    return int(dtype.to_bits(value)) if dtype.kind == "float" else -1


def _spans(
    groups: int, mask: int, empty: int, stored: int, repeats: tuple[int, int], element: int
) -> tuple[tuple[int, int], ...]:
    """Return the bytes of dst that are stored; `repeats` are their number and stride in bytes."""
    each = REPEAT_BYTES // element // groups
    used = [g for g in range(groups) if empty >= 0 or mask >> g * each & (1 << each) - 1]
    times, stride = repeats if mask else (0, 0)
    return runs([r * stride + g * stored for r in range(times) for g in used], stored)
