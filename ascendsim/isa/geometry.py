"""Which lanes an instruction touches: decided here once, for all instructions.

A vector instruction runs repeats of 256 bytes of its widest operand. The count form covers the
first `count` elements; the repeat form names a mask, repeat times and strides.
Source: asc-devkit docs, SIMD computation pages (high-dimension split, mask, continuous); bounds
rule from asc-tools cpudebug kernel_base_check (code).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np

from ascendsim.enums import DATABLOCK_BYTES, MAX_REPEAT_TIMES, REPEAT_BYTES
from ascendsim.errors import RepeatError
from ascendsim.numerics import opcodes
from ascendsim.record import Access


@dataclass(frozen=True, slots=True)
class Layout:
    """How one operand lies in UB: bytes per element (0 = mask bits) and strides in bytes."""

    element: int
    block_stride: int
    repeat_stride: int


@dataclass(frozen=True, slots=True)
class Geometry:
    """The lanes of a call: `repeats` of `lanes` each, `count` in all, `mask` within a repeat.

    `counted` is True for the count form, whose operands are contiguous.
    """

    count: int
    lanes: int
    repeats: int
    mask: int
    layouts: tuple[Layout, ...]
    counted: bool

    @property
    def full(self) -> bool:
        """True when every lane of every repeat takes part."""
        return self.mask == (1 << self.lanes) - 1

    @property
    def contiguous(self) -> bool:
        """True when the call is one plain loop over `count` lanes."""
        return self.full and all(
            layout == contiguous_layout(layout.element, self.lanes) for layout in self.layouts
        )

    def extent(self, layout: Layout) -> int:
        """Return the bytes from an operand's start to the last byte that the call touches."""
        if not self.repeats or not self.mask:
            return 0
        if layout.element == 0:
            return self._extent_of_bits(layout)
        if self.counted:
            return self.count * layout.element
        # the last repeat of a count is shorter, and may end before the one ahead of it
        return max(self._end(layout, r) for r in range(max(self.repeats - 2, 0), self.repeats))

    def _end(self, layout: Layout, repeat: int) -> int:
        per_block = DATABLOCK_BYTES // layout.element
        block, rest = divmod(self.used(repeat) - 1, per_block)
        start = repeat * layout.repeat_stride + block * layout.block_stride
        return start + (rest + 1) * layout.element

    def used(self, repeat: int) -> int:
        """Return the lanes of a repeat up to the last that takes part."""
        return min(self.mask.bit_length(), self.count - repeat * self.lanes)

    def _extent_of_bits(self, layout: Layout) -> int:
        """Return the bytes of mask bits.

        A comparison stores those of whole repeats, Select reads one per lane, or (repeat stride 0)
        those of one repeat again and again.
        """
        if not layout.repeat_stride:
            return self.lanes // 8
        selects = self.layouts[0].element > 0
        bits = self.count if self.counted and selects else self.lanes * self.repeats
        return -(-bits // 8)

    def ranges(self, access: Access) -> list[tuple[int, int]]:
        """Return the byte ranges (start, stop) of `access`, in program order."""
        layout = Layout(access.element, access.block_stride, access.repeat_stride)
        if self.counted or layout.element == 0 or self.contiguous:
            stop = access.start + self.extent(layout)
            return [(access.start, stop)] if stop > access.start else []
        spans = (span for r in range(self.repeats) for span in self._repeat_ranges(layout, r))
        return _merged(access.start, spans)

    def repeat_blocks(self, access: Access) -> list[int]:
        """Return the byte offsets of the datablocks that the first repeat touches."""
        layout = Layout(access.element, access.block_stride, access.repeat_stride)
        used = min(self.mask.bit_length(), self.count)
        return self.blocks(layout, 0)[: -(-used * access.element // DATABLOCK_BYTES)]

    def blocks(self, layout: Layout, repeat: int) -> list[int]:
        """Return the byte offsets of the datablocks that one repeat touches, in lane order."""
        per_block = DATABLOCK_BYTES // layout.element
        used = -(-self.used(repeat) // per_block)
        base = repeat * layout.repeat_stride
        return [base + b * layout.block_stride for b in range(used)]

    def _repeat_ranges(self, layout: Layout, repeat: int) -> list[tuple[int, int]]:
        per_block = DATABLOCK_BYTES // layout.element
        found = []
        for lane in range(self.used(repeat)):
            if self.mask >> lane & 1:
                block, rest = divmod(lane, per_block)
                start = (
                    repeat * layout.repeat_stride
                    + block * layout.block_stride
                    + rest * layout.element
                )
                found.append((start, start + layout.element))
        return found

    def words(self, masked_compare: bool) -> np.ndarray:
        """Return the geometry block of opcodes.py; the operands are DST, SRC0, SRC1, MASK."""
        out = np.zeros(opcodes.GEOMETRY_WORDS, np.int64)
        out[opcodes.G_OPERANDS :: 3] = -1
        out[opcodes.G_REPEATS], out[opcodes.G_LANES] = self.repeats, self.lanes
        low, high = (self.mask >> shift & (1 << 64) - 1 for shift in (0, 64))
        out[opcodes.G_MASK_LO : opcodes.G_MASK_HI + 1] = np.array([low, high], np.uint64).view(
            np.int64
        )
        out[opcodes.G_COMPARE_MASKED] = masked_compare
        return out


@dataclass(frozen=True, slots=True)
class CopyShape:
    """The geometry of a copy: `blocks`, whose bytes and pitch are the access's own strides."""

    blocks: int

    def ranges(self, access: Access) -> list[tuple[int, int]]:
        """Return the byte range of each block of `access`."""
        starts = (access.start + k * access.block_stride for k in range(self.blocks))
        return [(start, start + access.element) for start in starts]


def contiguous_layout(element: int, lanes: int) -> Layout:
    """Return the layout of an operand whose lanes follow each other."""
    if element == 0:
        return Layout(0, 0, lanes // 8)
    return Layout(element, DATABLOCK_BYTES, element * lanes)


def lanes_per_repeat(elements: Sequence[int]) -> int:
    """Return the lanes of a repeat: 256 bytes of the widest operand (bytes per element)."""
    return REPEAT_BYTES // max(elements)


def counted(count: Any, elements: Sequence[int], lanes: int) -> Geometry:
    """Return the geometry of the count form.

    Raises
    ------
    RepeatError
        When `count` is not a non-negative integer.
    """
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise RepeatError(
            f"count is {count!r} ({type(count).__name__}): it must be an integer; "
            f"use // for whole divisions"
        )
    number = int(count)
    if number < 0:
        raise RepeatError(f"count is {number}: it must not be negative")
    layouts = tuple(contiguous_layout(e, lanes) for e in elements)
    return Geometry(number, lanes, -(-number // lanes), (1 << lanes) - 1, layouts, True)


def strided_count(
    total: int, strides: Sequence[tuple[int, int]], elements: Sequence[int], lanes: int
) -> Geometry:
    """Return the geometry of counter mode: `total` lanes with the strides of the repeat form.

    Raises
    ------
    RepeatError
        When the destination's block stride is 0.
    """
    one = repeated((1 << lanes) - 1, 1, strides, elements, lanes)
    return replace(one, count=total, repeats=-(-total // lanes))


def repeated(
    mask: int,
    repeats: Any,
    strides: Sequence[tuple[int, int]],
    elements: Sequence[int],
    lanes: int,
) -> Geometry:
    """Return the geometry of the repeat form; `strides` in datablocks, dst first.

    Mask bits of Compare and Select (element 0) always run on from repeat to repeat.

    Raises
    ------
    RepeatError
        When the repeat times are not 0..255 or the destination's block stride is 0.
    """
    if isinstance(repeats, bool) or not hasattr(repeats, "__index__"):
        raise RepeatError(f"repeatTimes is {repeats!r}: it must be an integer")
    repeats = index(repeats)
    if not 0 <= repeats <= MAX_REPEAT_TIMES:
        raise RepeatError(
            f"repeatTimes is {repeats}: one instruction runs 0..{MAX_REPEAT_TIMES} repeats; "
            f"split the call into chunks of at most {MAX_REPEAT_TIMES}"
        )
    layouts = []
    for position, element in enumerate(elements):
        if element == 0:
            layouts.append(contiguous_layout(0, lanes))
            continue
        block, repeat = strides[position]
        layouts.append(Layout(element, block * DATABLOCK_BYTES, repeat * DATABLOCK_BYTES))
    if layouts[0].element and layouts[0].block_stride == 0:
        raise RepeatError("dst block stride is 0: undefined on hardware; use at least 1")
    return Geometry(lanes * repeats, lanes, repeats, mask, tuple(layouts), False)


def mask_bits(mask: Any, lanes: int, arch: str) -> int:
    """Return the mask as one bit per lane, from a number of lanes or from [low, high] words.

    Raises
    ------
    RepeatError
        On a mask that the architecture refuses; the text says which and why.
    """
    if isinstance(mask, (list, tuple)):
        bits = _mask_words(mask, lanes, arch)
    elif isinstance(mask, bool) or not hasattr(mask, "__index__") or mask < 0:
        raise RepeatError(f"mask is {mask!r}: use a number of lanes or a list [low, high]")
    else:
        bits = (1 << min(index(mask), lanes)) - 1  # more lanes than a repeat has: all of them
    if bits == 0 and arch != "c220":
        raise RepeatError("mask selects no lane: refused on this architecture; skip the call")
    return bits


def exceeds(mask: Any, lanes: int) -> bool:
    """Return True when a legal mask names lanes that a repeat does not have."""
    if isinstance(mask, (list, tuple)):
        return any(word >> max(lanes - 64 * k, 0) for k, word in enumerate(mask))
    return bool(mask > lanes)


def _mask_words(mask: Sequence[Any], lanes: int, arch: str) -> int:
    if not 1 <= len(mask) <= 2 or not all(isinstance(w, int) and 0 <= w < 1 << 64 for w in mask):
        raise RepeatError(f"mask is {mask!r}: use one or two unsigned 64-bit words [low, high]")
    high = mask[1] if len(mask) == 2 else 0
    if lanes <= 64 and high and arch == "3510":
        raise RepeatError(f"mask high word is {high:#x}: {lanes} lanes have no high word; use 0")
    return (mask[0] | high << 64) & (1 << lanes) - 1


def _merged(base: int, spans: Any) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in spans:
        if merged and merged[-1][1] == base + start:
            merged[-1] = (merged[-1][0], base + stop)
        else:
            merged.append((base + start, base + stop))
    return merged
