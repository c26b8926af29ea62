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

import numpy as np

from ascendsim.core import PAD_AT_START
from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.errors import BoundsError, ContractError, RepeatError
from ascendsim.isa.beyond import tolerated
from ascendsim.isa.params import DataCopyPadParams, check_widths
from ascendsim.record import UB, Span

MANY_BLOCKS = 8  # from here on numpy's overhead for all blocks at once pays


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


@dataclass(frozen=True, slots=True, eq=False)
class PadBlocks:
    """Bytes to store around each block: `left` before its data and `after` behind it.

    The first `right` of those behind and all before hold the first of `words`; the rest, up to
    the next 32 bytes, holds the second, or the block's first element if `repeats_first`.
    """

    dst: Any
    blocks: int
    length: int
    pitch: int
    left: int
    right: int
    after: int
    words: np.ndarray
    repeats_first: bool
    beyond: tuple[BoundsError, ...] = ()

    @property
    def stored(self) -> PadBytes:
        """What is stored, without where: the data's own addresses say that."""
        side, tail = (int(word) for word in self.words)
        last = None if self.repeats_first else tail
        return PadBytes(self.left, self.right, self.after, side, last, self.dst.dtype.nbytes)

    def store(self) -> None:
        """Store the bytes; the data is already in place."""
        if self.blocks > MANY_BLOCKS:
            self._store_many()
        else:
            self._store_each()

    def _store_each(self) -> None:
        move, nbytes, right = self.dst.core.move, self.dst.dtype.nbytes, self.right
        data = self.dst.address + self.left
        for _ in range(self.blocks):
            end, side, tail = data + self.length, 0, data
            if self.left or right or not self.repeats_first:
                side = self.words.ctypes.data
                tail = data if self.repeats_first else side + nbytes
                move(data - self.left, side, self.left // nbytes, nbytes, nbytes, 0)
                move(end, side, right // nbytes, nbytes, nbytes, 0)
            move(end + right, tail, (self.after - right) // nbytes, nbytes, nbytes, 0)
            data += self.pitch

    def _store_many(self) -> None:
        """Do the same for all blocks at once: a row is one block with what stands around it."""
        nbytes, bits = self.dst.dtype.nbytes, self.dst.dtype.bits
        data, end = self.left // nbytes, (self.left + self.length) // nbytes
        right, stop = end + self.right // nbytes, end + self.after // nbytes
        ub, start = self.dst.core.ub.array, self.dst.start
        rows = np.ndarray((self.blocks, stop), bits, ub.data, start, strides=(self.pitch, nbytes))
        rows[:, :data] = self.words[0]
        rows[:, end:right] = self.words[0]
        rows[:, right:stop] = rows[:, data : data + 1] if self.repeats_first else self.words[1]


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
    if choice == "documented":
        core.relied_on(("pad-bytes",), "DataCopyPad")
    if (left or right) and not core.pad_set:
        core.relied_on(("pad-register-start",), "DataCopyPad")
    to_end = -(left + length + right) % DATABLOCK_BYTES if choice != "none" else 0
    first = not (pad.isPad if core.soc.arch == "3510" else left or right)
    tail = PAD_AT_START if choice == "poison" else core.pad_value
    words = np.array([_in_type(w, dtype) for w in (core.pad_value, tail)], dtype.bits)
    repeats_first = first and choice != "poison"
    end = (blocks - 1) * pitch + left + length + right + to_end
    beyond: tuple[BoundsError, ...] = ()
    if blocks and dst.start + end > dst.buffer.start + dst.buffer.nbytes:
        error = BoundsError(
            f"DataCopyPad: padding reaches UB[{dst.start + end:#x}], past the end of {dst!r}",
            about=Span(UB, dst.buffer, dst.buffer.start + dst.buffer.nbytes, dst.start + end),
        )
        beyond = tolerated(core, "", error)
    after = right + to_end
    return PadBlocks(dst, blocks, length, pitch, left, right, after, words, repeats_first, beyond)


def _in_type(word: int, dtype: DType) -> int:
    """Return the low bits of `word` that an element of `dtype` holds."""
    return word & (1 << 8 * dtype.nbytes) - 1
