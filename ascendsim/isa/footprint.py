"""Which bytes an instruction with its own geometry touches, and the checks of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES, MAX_REPEAT_TIMES
from ascendsim.errors import (
    AlignmentError,
    BoundsError,
    DtypeError,
    OverlapError,
    RepeatError,
    UnsupportedError,
)
from ascendsim.isa.beyond import beyond, tolerated
from ascendsim.isa.geometry import Geometry, Layout, mask_bits
from ascendsim.record import Access

MAX_STRIDE = 65535  # a 16-bit field
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Footprint:
    """The bytes that a call touches: per role spans from the operand's start, or a Geometry."""

    count: int
    repeats: int
    parts: Mapping[str, Geometry | tuple[Span, ...]]
    counted: bool = False

    def ranges(self, access: Access) -> list[Span]:
        """Return the byte ranges (start, stop) of `access`."""
        part = self.parts[access.role]
        if isinstance(part, Geometry):
            return part.ranges(access)
        return [(access.start + start, access.start + stop) for start, stop in part]

    def repeat_blocks(self, access: Access) -> list[int]:
        """Return the byte offsets of the datablocks that the first repeat touches."""
        part = self.parts[access.role]
        return part.repeat_blocks(access) if isinstance(part, Geometry) else []


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor of a call: its name for errors and records, what is touched, its alignment."""

    name: str
    tensor: Any
    part: Geometry | tuple[Span, ...]
    writes: bool = False
    alignment: int = DATABLOCK_BYTES

    @property
    def role(self) -> str:
        """Name in records."""
        return "src0" if self.name == "src" else self.name

    @property
    def extent(self) -> int:
        """Bytes from the operand's start to the last that is touched."""
        if isinstance(self.part, Geometry):
            return self.part.extent(self.part.layouts[0])
        return max((stop for _, stop in self.part), default=0)


def supported(name: str, core: Any, dtype: DType) -> None:
    """Check that this SoC has the instruction for `dtype`.

    Raises
    ------
    UnsupportedError
        When the SoC lacks the instruction.
    DtypeError
        When it lacks the type; the text lists those it has.
    """
    row = core.soc.ops.get(name)
    if row is None:
        raise UnsupportedError(f"{core.soc.name} has no {name}; `ascendsim isa {name}` lists")
    if dtype.name not in row.dtypes:
        raise DtypeError(
            f"{dtype} is not available on {core.soc.name}: use {', '.join(row.dtypes)} "
            f"(Cast the operands first)"
        )


def one_type(name: str, tensors: Sequence[Any]) -> DType:
    """Return the common element type of `tensors`, checked for their SoC."""
    dtype: DType = tensors[0].dtype
    for tensor in tensors[1:]:
        if tensor.dtype is not dtype:
            raise DtypeError(
                f"dst is {dtype} but a source is {tensor.dtype}: operands have one type; use Cast "
                f"or ReinterpretCast"
            )
    supported(name, tensors[0].core, dtype)
    return dtype


def whole(name: str, what: str, value: Any, low: int, high: int) -> int:
    """Return `value` as a plain integer in low..high.

    Raises
    ------
    RepeatError
        When it is no integer or outside; the text says what the field holds.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise RepeatError(f"{name}: {what} is {value!r}: it must be an integer")
    number = index(value)
    if not low <= number <= high:
        raise RepeatError(f"{name}: {what} is {number}: it must be {low}..{high}; split the call")
    return number


def repeats_of(name: str, value: Any) -> int:
    """Return repeat times as a plain integer, 0..255."""
    return whole(name, "repeatTime", value, 0, MAX_REPEAT_TIMES)


def mask_key(mask: Any) -> Any:
    """Return a mask argument in a form that can be hashed: a number, or a tuple of words."""
    return tuple(mask) if isinstance(mask, (list, tuple)) else mask


def mask_of(key: Any, lanes: int, arch: str) -> int:
    """Return the mask of `mask_key`, one bit per lane; errors as geometry.mask_bits."""
    return mask_bits(list(key) if isinstance(key, tuple) else key, lanes, arch)


def source_geometry(
    mask: int, lanes: int, repeats: int, element: int, strides: tuple[int, int]
) -> Geometry:
    """Return the lanes of a source; `strides` of blocks and repeats in datablocks."""
    block, repeat = (stride * DATABLOCK_BYTES for stride in strides)
    layout = Layout(element, block, repeat)
    return Geometry(lanes * repeats, lanes, repeats, mask, (layout,), False)


def runs(starts: Sequence[int], width: int) -> tuple[Span, ...]:
    """Return the spans of `width` bytes at `starts`, those that touch as one."""
    merged: list[Span] = []
    for start in starts:
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], start + width)
        else:
            merged.append((start, start + width))
    return tuple(merged)


def check_operands(name: str, operands: Sequence[Operand]) -> tuple[BoundsError, ...]:
    """Check where the operands of `name` start and end, and note how far it writes.

    Returns what is reported only (out_of_bounds=report).

    Raises
    ------
    AlignmentError
        When one starts at the wrong multiple.
    BoundsError
        When one is touched beyond its end.
    """
    left: tuple[BoundsError, ...] = ()
    for each in operands:
        tensor = each.tensor
        if tensor.start % each.alignment:
            raise AlignmentError(
                f"{each.name} starts at UB[{tensor.start:#x}] of {tensor.buffer.name}: it must "
                f"start at a multiple of {each.alignment} bytes",
                about=tensor,
            )
        if each.extent > tensor.nbytes:
            error = BoundsError(
                f"{each.name} needs UB[{tensor.start:#x}, {tensor.start + each.extent:#x}), past "
                f"the end of {tensor!r} ({each.extent} of {tensor.nbytes} bytes); use fewer "
                f"elements or a larger buffer",
                about=beyond(tensor, each.extent),
            )
            left += tolerated(tensor.core, name, error)
        if each.writes:
            tensor.written(each.extent)
    return left


def meet(one: Operand, other: Operand) -> bool:
    """Return True when two operands share bytes (as far as their extents say)."""
    start, stop = one.tensor.start, one.tensor.start + one.extent
    begin, end = other.tensor.start, other.tensor.start + other.extent
    return bool(start < end and begin < stop)


def refuse_overlap(one: Operand, *others: Operand) -> None:
    """Refuse operands that share bytes with `one`, which this simulator cannot follow.

    Raises
    ------
    OverlapError
        When one of them does.
    """
    for other in others:
        if meet(one, other):
            raise OverlapError(
                f"{one.name} and {other.name} share bytes ({other.tensor!r}): not supported; use "
                f"two buffers"
            )


def from_start(nbytes: int) -> tuple[Span, ...]:
    """Return the first `nbytes` bytes of an operand as its parts; none of them for 0."""
    return ((0, nbytes),) if nbytes else ()
