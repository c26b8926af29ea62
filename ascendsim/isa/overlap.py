"""May the operands of a call share bytes? The rules of the manual, on datablocks.

Within a repeat a source coincides with dst or is disjoint from it; across repeats dst of one
repeat is not a source of a later one, except accumulation into src1 with a repeat stride of 0.
Source: asc-devkit docs, general notes and restrictions page (documented).
"""

from __future__ import annotations

from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.isa.geometry import Geometry, Layout
from ascendsim.record import Access

ACCUMULATING = ("Add", "Sub", "Mul", "Max", "Min", "SubRelu")


def overlap_of(name: str, accesses: tuple[Access, ...], shape: Geometry) -> str:
    """Say how the sources share bytes with dst.

    Returns
    -------
    str
        `none`: not at all or 100 %; `ordered`: legal, but repeats must run in order; `partial`:
        undefined on hardware; `mask`: mask bits share bytes with another operand.
    """
    worst = "none"
    destination = accesses[0]
    for position, source in enumerate(accesses[1:], 1):
        if not _spans_meet(destination, source, shape):
            continue
        if 0 in (destination.element, source.element):
            return "mask"
        if shape.counted:
            kind = _counted(destination, source)
        else:
            kind = _repeated(destination, source, shape)
            accumulates = name in ACCUMULATING and position == 2
            if accumulates and 0 in (destination.repeat_stride, source.repeat_stride):
                kind = "ordered"
        if kind == "partial" or worst == "none":
            worst = kind
    return worst


def _layout(access: Access) -> Layout:
    return Layout(access.element, access.block_stride, access.repeat_stride)


def _spans_meet(a: Access, b: Access, shape: Geometry) -> bool:
    a_stop = a.start + shape.extent(_layout(a))
    b_stop = b.start + shape.extent(_layout(b))
    return a.start < b_stop and b.start < a_stop


def _counted(destination: Access, source: Access) -> str:
    if destination.start != source.start:
        return "partial"
    if destination.element == source.element:
        return "none"
    return "ordered" if destination.element < source.element else "partial"


def _repeated(destination: Access, source: Access, shape: Geometry) -> str:
    written: set[int] = set()
    meets = False
    for repeat in range(shape.repeats):
        into = _blocks(destination, shape, repeat)
        out_of = _blocks(source, shape, repeat)
        if written.intersection(out_of):
            return "partial"
        if set(into).intersection(out_of):
            narrowing = destination.element < source.element
            if into != out_of and not narrowing:
                return "partial"
            meets = True
        written.update(into)
    return "ordered" if meets and not shape.contiguous else "none"


def _blocks(access: Access, shape: Geometry, repeat: int) -> list[int]:
    first = access.start // DATABLOCK_BYTES
    offsets = shape.blocks(_layout(access), repeat)
    return [first + offset // DATABLOCK_BYTES for offset in offsets]
