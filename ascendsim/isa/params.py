"""Parameter structures of the instructions, with their real field widths.

Those of copies are made in every tile and therefore not frozen, which would triple the cost; their
fields may be assigned, as in Ascend C.
Out of range means silently truncated on hardware, so it is an error here.
Source: asc-devkit include/basic_api, kernel_struct_unary.h, kernel_struct_binary.h,
kernel_struct_data_copy.h (code).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ascendsim.dtypes import DType
from ascendsim.errors import RepeatError


def check_widths(params: Any) -> None:
    """Check every field of `params` against the width that its class declares.

    Raises
    ------
    RepeatError
        When a value does not fit; the text says what hardware would keep of it.
    """
    kind = type(params).__name__
    for name, (low, high) in params.WIDTHS.items():
        value = getattr(params, name)
        if not hasattr(value, "__index__"):
            raise RepeatError(f"{kind}.{name} is {value!r}: it must be an integer")
        if not low <= value <= high:
            bits = (high + 1).bit_length() - 1
            kept = f"hardware would keep {value & high}" if high + 1 == 1 << bits else "refused"
            raise RepeatError(
                f"{kind}.{name} is {value}: the field holds {low}..{high} ({bits} bits, {kept}); "
                f"use a smaller value or split the call"
            )


_U8, _U16 = (0, 255), (0, 65535)
MAX_QUEUE = 4095  # records (asc-devkit docs, MrgSort page; documented)


@dataclass(frozen=True, slots=True)
class UnaryRepeatParams:
    """Strides of one source and the destination, in datablocks of 32 bytes."""

    dstBlkStride: int = 1
    srcBlkStride: int = 1
    dstRepStride: int = 8
    srcRepStride: int = 8

    WIDTHS: ClassVar = {
        "dstBlkStride": _U16,
        "srcBlkStride": _U16,
        "dstRepStride": _U8,
        "srcRepStride": _U8,
    }

    def strides(self) -> tuple[tuple[int, int], ...]:
        """(block, repeat) strides of dst and src."""
        return ((self.dstBlkStride, self.dstRepStride), (self.srcBlkStride, self.srcRepStride))


@dataclass(frozen=True, slots=True)
class BinaryRepeatParams:
    """Strides of two sources and the destination, in datablocks of 32 bytes."""

    dstBlkStride: int = 1
    src0BlkStride: int = 1
    src1BlkStride: int = 1
    dstRepStride: int = 8
    src0RepStride: int = 8
    src1RepStride: int = 8

    WIDTHS: ClassVar = dict.fromkeys(
        (
            "dstBlkStride",
            "src0BlkStride",
            "src1BlkStride",
            "dstRepStride",
            "src0RepStride",
            "src1RepStride",
        ),
        _U8,
    )

    def strides(self) -> tuple[tuple[int, int], ...]:
        """(block, repeat) strides of dst, src0 and src1."""
        return (
            (self.dstBlkStride, self.dstRepStride),
            (self.src0BlkStride, self.src0RepStride),
            (self.src1BlkStride, self.src1RepStride),
        )


@dataclass(frozen=True, slots=True)
class FillRepeatParams:
    """Strides of a destination alone (the two last arguments of Duplicate)."""

    dstBlockStride: int = 1
    dstRepeatStride: int = 8

    WIDTHS: ClassVar = {"dstBlockStride": _U16, "dstRepeatStride": _U8}

    def strides(self) -> tuple[tuple[int, int], ...]:
        """(block, repeat) stride of dst."""
        return ((self.dstBlockStride, self.dstRepeatStride),)


@dataclass(frozen=True, slots=True)
class CopyRepeatParams:
    """Strides of Copy, in datablocks of 32 bytes: of blocks, then of repeats."""

    dstStride: int = 1
    srcStride: int = 1
    dstRepeatSize: int = 8
    srcRepeatSize: int = 8

    WIDTHS: ClassVar = {
        "dstStride": _U16,
        "srcStride": _U16,
        "dstRepeatSize": (0, 4095),
        "srcRepeatSize": (0, 4095),
    }
    COUNT_FORM_ON_950: ClassVar = True  # and on no other chip

    def strides(self) -> tuple[tuple[int, int], ...]:
        """(block, repeat) strides of dst and src."""
        return ((self.dstStride, self.dstRepeatSize), (self.srcStride, self.srcRepeatSize))


@dataclass(frozen=True, slots=True)
class BrcbRepeatParams:
    """Strides of the destination of Brcb, in datablocks of 32 bytes."""

    dstBlkStride: int = 1
    dstRepStride: int = 8

    WIDTHS: ClassVar = {"dstBlkStride": _U16, "dstRepStride": _U16}


@dataclass(frozen=True, slots=True)
class GatherMaskParams:
    """Repeats and strides of GatherMask; strides in datablocks of 32 bytes."""

    src0BlockStride: int = 1
    repeatTimes: int = 0
    src0RepeatStride: int = 8
    src1RepeatStride: int = 0

    WIDTHS: ClassVar = {
        "src0BlockStride": _U8,
        "repeatTimes": _U16,
        "src0RepeatStride": _U16,
        "src1RepeatStride": _U8,
    }


@dataclass(frozen=True, slots=True)
class GatherRepeatParams:
    """Strides of the destination of Gatherb, in datablocks; a block stride of 0 counts as 1."""

    dstBlkStride: int = 1
    dstRepStride: int = 8

    WIDTHS: ClassVar = {"dstBlkStride": _U8, "dstRepStride": _U8}


@dataclass(frozen=True, slots=True)
class MrgSortSrcList:
    """The sorted queues of MrgSort; the last two may be left away."""

    src1: Any
    src2: Any
    src3: Any = None
    src4: Any = None


@dataclass(slots=True)
class MrgSort4Info:
    """Lengths of four queues in records of 8 bytes, which are valid (3, 7, 15), and repeats."""

    elementLengths: Any = (0, 0, 0, 0)
    ifExhaustedSuspension: bool = False
    validBit: int = 0
    repeatTimes: int = 1

    WIDTHS: ClassVar = {"repeatTimes": _U8}


def check_queues(info: MrgSort4Info) -> int:
    """Check the parameters of MrgSort and return how many queues take part.

    Raises
    ------
    RepeatError
        On repeats or lengths that do not fit, or bits that name no first queues.
    """
    check_widths(info)
    queues = {0b11: 2, 0b111: 3, 0b1111: 4}.get(info.validBit)
    if queues is None:
        raise RepeatError(
            f"MrgSort: validBit is {info.validBit!r}: it is 3, 7 or 15 (the first 2, 3 or 4 queues)"
        )
    for length in info.elementLengths[:queues]:
        if not hasattr(length, "__index__") or not 0 <= length <= MAX_QUEUE:
            raise RepeatError(
                f"MrgSort: elementLengths {info.elementLengths!r}: each is 0..{MAX_QUEUE} records"
            )
        if info.ifExhaustedSuspension and not length:
            raise RepeatError("MrgSort: an empty queue with suspension ends the merge at once")
    if len(info.elementLengths) < queues:
        raise RepeatError(f"MrgSort: elementLengths {info.elementLengths!r} for {queues} queues")
    return queues


@dataclass(frozen=True, slots=True)
class TransDataTo5HDParams:
    """Repeats of TransDataTo5HD and their strides in datablocks; the halves are of 8-bit types."""

    dstHighHalf: bool = False
    srcHighHalf: bool = False
    repeatTimes: int = 1
    dstRepStride: int = 0
    srcRepStride: int = 0

    WIDTHS: ClassVar = {"repeatTimes": _U8, "dstRepStride": _U16, "srcRepStride": _U16}


@dataclass(slots=True)
class DataCopyParams:
    """A copy of `blockCount` blocks; gaps run from the end of one block to the next.

    DataCopy: blockLen and both gaps in datablocks. DataCopyPad: blockLen and the GM gap in
    bytes, the UB gap in datablocks.
    """

    blockCount: int = 1
    blockLen: int = 0
    srcStride: int = 0
    dstStride: int = 0

    WIDTHS: ClassVar = {
        "blockCount": (0, 4095),
        "blockLen": _U16,
        "srcStride": _U16,
        "dstStride": _U16,
    }


@dataclass(slots=True)
class DataCopyExtParams:
    """DataCopyParams with wide fields, for DataCopyPad: blockLen up to 2 MiB - 1 bytes."""

    blockCount: int = 1
    blockLen: int = 0
    srcStride: int = 0
    dstStride: int = 0
    rsv: int = 0

    WIDTHS: ClassVar = {
        "blockCount": (0, 4095),
        "blockLen": (0, (1 << 21) - 1),
        "srcStride": (-(1 << 21) + 1, (1 << 40) - 1),
        "dstStride": (-(1 << 21) + 1, (1 << 40) - 1),
    }


@dataclass(slots=True)
class DataCopyPadParams:
    """Padding of DataCopyPad GM to UB: elements left and right of each block, and their value."""

    isPad: bool = False
    leftPadding: int = 0
    rightPadding: int = 0
    paddingValue: float = 0

    WIDTHS: ClassVar = {"leftPadding": _U8, "rightPadding": _U8}


def DataCopyPadExtParams(*args: Any) -> DataCopyPadParams:
    """Make padding parameters; the template argument T may come first."""
    return DataCopyPadParams(*(args[1:] if args and isinstance(args[0], DType) else args))


def as_dict(params: Any) -> dict[str, Any]:
    """Return the fields of `params` under their Ascend C names."""
    return {name: getattr(params, name) for name in params.__slots__}
