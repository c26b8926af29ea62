"""Is a vector call one plain loop over lanes? If not, which operands forbid it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ascendsim.isa.geometry import Geometry, Layout, contiguous_layout
from ascendsim.isa.overlap import overlap_of
from ascendsim.record import Access, Call

ROW_PARTS = 2  # what a row is made of: its words, and its geometry block


def irregular(call: Call) -> str:
    """Say why lane i of the destination is not computed from lane i of the sources, "" if it is."""
    shape: Any = call.geometry
    if not isinstance(shape, Geometry):
        return f"{call.name} mixes lanes of {_all(call)}"
    if len(call.row) > ROW_PARTS:  # a table of its own
        return f"{call.name} stores another number in every lane of {_all(call)}"
    for access in call.accesses:
        wanted = contiguous_layout(access.element, shape.lanes)
        step = wanted.repeat_stride if shape.repeats == 1 else access.repeat_stride
        if Layout(access.element, access.block_stride, step) != wanted:
            other = next((a for a in call.accesses if a is not access), access)
            return (
                f"{call.name}: {_operand(access)} and {_operand(other)} are strided: "
                f"{access.role} steps {access.block_stride} bytes from block to block and "
                f"{access.repeat_stride} from repeat to repeat"
            )
    if shape.mask & (shape.mask + 1):
        return f"{call.name}: its mask {shape.mask:#x} leaves lanes out, strided in {_all(call)}"
    if overlap_of(call.name, call.accesses, shape) == "partial":
        return f"{call.name}: {_all(call)} are shifted: they overlap in part"
    return ""


def lane_ranges(call: Call) -> Iterator[tuple[int, int]]:
    """Yield the lanes (first, last) that a regular call computes."""
    shape: Geometry = call.geometry  # type: ignore[assignment]
    if shape.full:
        yield 0, shape.count
        return
    used = shape.mask.bit_length()
    for repeat in range(shape.repeats):
        yield repeat * shape.lanes, repeat * shape.lanes + used


def _operand(access: Access) -> str:
    return f"{access.role} {access.holder.name}"


def _all(call: Call) -> str:
    return " and ".join(_operand(access) for access in call.accesses)
