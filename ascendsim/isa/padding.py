"""What DataCopyPad from GM leaves in UB around each block (rule pad-bytes).

950: the sides hold the pad register; the bytes up to the next 32 hold the pad register when isPad
is set, else the first element. 910B-class: sides hold the pad register; the bytes up to the next
32 hold the first element when nothing is padded, else the pad register. isPad sets the register,
which keeps its value for later copies.
Source: asc-devkit docs, DataCopyPad GM to UB page and C-API align-copy page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ascendsim.core import PAD_AT_START
from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.errors import BoundsError, ContractError, RepeatError
from ascendsim.isa.params import DataCopyPadParams, check_widths


def padded_bytes(pad: Any, dtype: DType) -> tuple[int, int]:
    """Return the bytes of left and right padding.

    Raises
    ------
    RepeatError
        When a side has more than 32 bytes.
    """
    if not isinstance(pad, DataCopyPadParams):
        raise ContractError(
            f"DataCopyPad: padParams is {pad!r}: use DataCopyPadParams(isPad, leftPadding, "
            f"rightPadding, paddingValue)"
        )
    check_widths(pad)
    sides = (pad.leftPadding * dtype.nbytes, pad.rightPadding * dtype.nbytes)
    if max(sides) > DATABLOCK_BYTES:
        raise RepeatError(
            f"DataCopyPad: padding of {pad.leftPadding} and {pad.rightPadding} {dtype} elements: "
            f"each side holds at most {DATABLOCK_BYTES} bytes "
            f"({DATABLOCK_BYTES // dtype.nbytes} elements)"
        )
    if dtype.nbytes == 8 and pad.paddingValue:
        raise ContractError("DataCopyPad: paddingValue of a 64-bit type must be 0")
    return sides


class PadBytes(NamedTuple):
    """What PadBlocks stores around each block, in bytes, for elements of `element` bytes."""

    left: int
    right: int
    after: int
    side: int
    tail: int | None
    element: int


@dataclass(frozen=True, slots=True)
class PadBlocks:
    """Bytes to store around each block: `left` before its data and `after` behind it.

    The first `right` of those behind and all before hold `side`; the rest, up to the next 32
    bytes, holds `tail` (None: the block's first element).
    """

    dst: Any
    blocks: int
    length: int
    pitch: int
    left: int
    right: int
    after: int
    side: int
    tail: int | None

    @property
    def stored(self) -> PadBytes:
        """What is stored, without where: the data's own addresses say that."""
        nbytes = self.dst.dtype.nbytes
        return PadBytes(self.left, self.right, self.after, self.side, self.tail, nbytes)

    def store(self) -> None:
        """Store the bytes; the data is already in place."""
        nbytes, bits = self.dst.dtype.nbytes, self.dst.dtype.bits
        ub, first = self.dst.core.ub.array, self.dst.start // nbytes
        lanes = ub[: ub.size // nbytes * nbytes].view(bits)
        for k in range(self.blocks):
            data = first + (self.left + k * self.pitch) // nbytes
            end = data + self.length // nbytes
            right, stop = end + self.right // nbytes, end + self.after // nbytes
            if self.left:
                lanes[data - self.left // nbytes : data] = self.side
            if self.right:
                lanes[end:right] = self.side
            if stop > right:
                lanes[right:stop] = lanes[data] if self.tail is None else self.tail


def pad_fields(pad: DataCopyPadParams, dtype: DType) -> dict[str, int]:
    """Return the padding parameters for the record of a call."""
    fields = {
        "isPad": int(pad.isPad),
        "leftPadding": pad.leftPadding,
        "rightPadding": pad.rightPadding,
    }
    return fields | ({"padValue": dtype.to_bits(pad.paddingValue)} if pad.isPad else {})


def pad_blocks(
    dst: Any, shape: tuple[int, int, int, int], pad: DataCopyPadParams, sides: tuple[int, int]
) -> PadBlocks | None:
    """Return what a copy with these padding parameters stores around its blocks (None: nothing)."""
    core, dtype = dst.core, dst.dtype
    blocks, length, pitch, _ = shape
    left, right = sides
    if pad.isPad:
        core.pad_value = dtype.to_bits(pad.paddingValue)
        core.pad_set = True
    choice = core.options.pad_bytes
    if choice == "none" and not pad.isPad:
        return None
    register = _in_type(core.pad_value, dtype)
    if choice == "documented":
        core.relied_on(("pad-bytes",), "DataCopyPad")
    if (left or right) and not core.pad_set:
        core.relied_on(("pad-register-start",), "DataCopyPad")
    to_end = -(left + length + right) % DATABLOCK_BYTES if choice != "none" else 0
    first = not (pad.isPad if core.soc.arch == "3510" else left or right)
    tail = _in_type(PAD_AT_START, dtype) if choice == "poison" else None if first else register
    end = (blocks - 1) * pitch + left + length + right + to_end
    if blocks and dst.start + end > dst.buffer.start + dst.buffer.nbytes:
        raise BoundsError(
            f"DataCopyPad: padding reaches UB[{dst.start + end:#x}], past the end of {dst!r}"
        )
    return PadBlocks(dst, blocks, length, pitch, left, right, right + to_end, register, tail)


def _in_type(word: int, dtype: DType) -> int:
    """Return the low bits of `word` that an element of `dtype` holds."""
    return word & (1 << 8 * dtype.nbytes) - 1
