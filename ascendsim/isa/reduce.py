"""Reductions within repeats: of pairs, of datablocks, of whole repeats.

Manual chapter: reduction (ReduceRepeat, ReduceDataBlock, ReducePairElem are the newer names of
these instructions). Sums are trees: neighbours are added, then neighbours of the sums, and so on,
every addition rounded in the element type. In counter mode the mask is the number of elements in
all, and the last repeat is shorter.
"""

from __future__ import annotations

from typing import Any

from ascendsim.enums import ReduceOrder
from ascendsim.isa.program import program
from ascendsim.isa.reduce_bind import within

_SUMS = ("reduce-tree", "reduce-masked-lanes", "subnormals-kept", "nan-word")
_BLOCKS = (*_SUMS, "reduce-empty")
_CHOICE = ("reduce-first", "reduce-nan", "nan-word")


@program(*_SUMS, masked=True)
def WholeReduceSum(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: int,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    isSetMask: bool = True,
) -> None:
    """Add the lanes of each repeat; dst gets one element per repeat.

    The sum is a tree: neighbours are added, then neighbours of the sums, to the end; each addition
    rounds in the element type. dstRepStride counts elements of dst, source strides datablocks; dst
    starts at a multiple of one element. Masked-off lanes count as +0. Integers (950; 16 bits into
    32) wrap. Exceptional values: as Add.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("WholeReduceSum", (dst, src), mask, strides, own=isSetMask)


@program(*_CHOICE, masked=True)
def WholeReduceMax(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: int,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    order: ReduceOrder = ReduceOrder.ORDER_VALUE_INDEX,
    isSetMask: bool = True,
) -> None:
    """Find the largest lane of each repeat; dst gets value and lane number as `order` says.

    Of equal lanes the first is taken. The lane number is stored as an integer in an element of
    dst's size (ReinterpretCast to read it), as uint32 with ORDER_ONLY_INDEX. dstRepStride counts
    what one repeat stores: two elements with value and index, one with the value alone, 4 bytes
    with the index alone. Exceptional values: a NaN lane wins (first one); -0 is below +0.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("WholeReduceMax", (dst, src), mask, strides, order, isSetMask)


@program(*_CHOICE, masked=True)
def WholeReduceMin(
    dst: Any,
    src: Any,
    mask: Any,
    repeatTime: int,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    order: ReduceOrder = ReduceOrder.ORDER_VALUE_INDEX,
    isSetMask: bool = True,
) -> None:
    """Find the smallest lane of each repeat: as WholeReduceMax, with Min's order."""
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("WholeReduceMin", (dst, src), mask, strides, order, isSetMask)


@program(*_BLOCKS, masked=True)
def BlockReduceSum(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    isSetMask: bool = True,
) -> None:
    """Add the lanes of each datablock; dst gets eight elements per repeat.

    The sum is a tree as in WholeReduceSum. dstRepStride counts eight elements (16 bytes for half,
    32 for float), and dst starts at a multiple of that. A datablock without any lane in the mask
    leaves its element as it was; on 950 it stores 0. Exceptional values: as Add.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("BlockReduceSum", (dst, src), mask, strides, own=isSetMask)


@program(*_CHOICE, "reduce-empty", masked=True)
def BlockReduceMax(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    isSetMask: bool = True,
) -> None:
    """Find the largest lane of each datablock; dst gets eight elements per repeat.

    Strides and alignment as BlockReduceSum; a datablock without any lane in the mask leaves its
    element as it was, on 950 it stores -inf. Exceptional values: a NaN lane wins; -0 is below +0.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("BlockReduceMax", (dst, src), mask, strides, own=isSetMask)


@program(*_CHOICE, "reduce-empty", masked=True)
def BlockReduceMin(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    isSetMask: bool = True,
) -> None:
    """Find the smallest lane of each datablock: as BlockReduceMax; 950 stores +inf for none."""
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("BlockReduceMin", (dst, src), mask, strides, own=isSetMask)


@program(*_BLOCKS, masked=True)
def PairReduceSum(
    dst: Any,
    src: Any,
    repeatTime: int,
    mask: Any,
    dstRepStride: int,
    srcBlkStride: int,
    srcRepStride: int,
    isSetMask: bool = True,
) -> None:
    """Add lanes 2k and 2k+1; dst gets half as many elements, one after another.

    dstRepStride counts 128 bytes. A pair with no lane in the mask leaves its element as it was; on
    950 it stores 0; one masked-off lane of a pair counts as +0. Exceptional values: as Add.
    """
    strides = (repeatTime, dstRepStride, srcBlkStride, srcRepStride)
    within("PairReduceSum", (dst, src), mask, strides, own=isSetMask)
