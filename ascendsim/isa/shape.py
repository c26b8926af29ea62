"""From the arguments of a call to its geometry: count, or mask, repeats and strides, or registers.

Source: asc-devkit docs, mask pages; impl/basic_api, per architecture (code).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES
from ascendsim.errors import ContractError, UnsupportedError
from ascendsim.isa import geometry as geo
from ascendsim.isa import masks
from ascendsim.isa.params import check_widths
from ascendsim.isa.roles import BITS, Role


def shape_of(
    decl: Any, elements: Sequence[int], lanes: int, given: tuple[Any, Any, Any, bool], core: Any
) -> geo.Geometry:
    """Return the geometry of a call; `elements` are bytes per element of each operand.

    given : (count or mask, repeatTimes or None, repeat parameters or None, isSetMask)

    Raises
    ------
    AscendError
        When count, mask, repeats or strides break a rule; the text says which.
    """
    count, repeats, params, own = given
    if repeats is None:
        if hasattr(decl.params, "COUNT_FORM_ON_950") and core.soc.arch != "3510":
            raise ContractError(
                f"no count form on {core.soc.name}: pass mask, repeatTime, "
                f"{decl.params.__name__}(...)"
            )
        if params not in (None, (1, 8)):
            raise ContractError("repeat strides without repeatTimes; pass mask and repeatTimes")
        shape = geo.counted(masks.count_of(core, count, own), elements, lanes)
    else:
        shape = _repeated(decl, elements, lanes, given, core)
    return _compare_count(decl, core, shape)


def _repeated(
    decl: Any, elements: Sequence[int], lanes: int, given: tuple[Any, Any, Any, bool], core: Any
) -> geo.Geometry:
    mask, repeats, _, own = given
    strides = _strides(decl, elements, lanes, given[2])
    if masks.counts(core):
        if any(role in BITS for _, role in decl.operands):
            raise UnsupportedError("counter mode (SetMaskCount) is not modelled for mask bits")
        total = masks.total_of(core, mask, own)
        if decl.counts_per_repeat:
            return _counted_per_repeat(total, repeats, strides, (elements, lanes))
        return geo.strided_count(total, strides, elements, lanes)
    bits = masks.bits_of(core, mask, own, lanes)
    if own and geo.exceeds(mask, lanes):
        core.warn(
            "mask-lanes",
            f"{decl.name}: mask {mask!r} names more than the {lanes} lanes of a repeat; hardware "
            f"takes all {lanes} (documented) and ignores the rest; check the element type",
        )
    if decl.operands[0][1] is Role.BITS_OUT and core.soc.arch != "3510":
        bits = (1 << lanes) - 1  # the mask argument of a compare is ignored there
    return geo.repeated(bits, repeats, strides, elements, lanes)


def _counted_per_repeat(
    count: int,
    repeats: Any,
    strides: tuple[tuple[int, int], ...],
    widths: tuple[Sequence[int], int],
) -> geo.Geometry:
    """Return the lanes of Copy in counter mode: `count` elements in each repeat, however many.

    Source: asc-devkit docs, mask pages and the example of Copy in counter mode (documented).
    """
    elements, lanes = widths
    if count <= lanes or not repeats:
        return geo.repeated((1 << min(count, lanes)) - 1, repeats, strides, elements, lanes)
    if repeats != 1:
        raise UnsupportedError(
            f"{repeats} repeats of {count} elements in counter mode: more than one repeat of more "
            f"than {lanes} is not modelled; call it once per repeat"
        )
    on = tuple((block, BLOCKS_PER_REPEAT * block) for block, _ in strides)
    return geo.strided_count(count, on, elements, lanes)


def _strides(
    decl: Any, elements: Sequence[int], lanes: int, params: Any
) -> tuple[tuple[int, int], ...]:
    """Return (block, repeat) strides of each operand, in datablocks."""
    if params is None:
        params = _default_params(decl, elements, lanes)
    elif isinstance(params, tuple):
        params = decl.params(*params)
    if not isinstance(params, decl.params):
        raise ContractError(f"repeatParams is {params!r}: use {decl.params.__name__}(...)")
    check_widths(params)
    strides = params.strides()
    return (*strides, strides[0]) if decl.reads_dst else strides


def _default_params(decl: Any, elements: Sequence[int], lanes: int) -> Any:
    """Blocks and repeats follow each other; a narrow operand of Cast strides by its own bytes."""
    strides = [(1, e * lanes // DATABLOCK_BYTES or 8) for e in elements if e]
    while len(strides) < len(decl.params().strides()):
        strides.insert(0, (1, 8))
    strides = strides[: len(decl.params().strides())]  # without dst where it is read as well
    return decl.params(*(s[0] for s in strides), *(s[1] for s in strides))


def _compare_count(decl: Any, core: Any, shape: geo.Geometry) -> geo.Geometry:
    """Cut the count of a compare to whole repeats where the SoC does (rule compare-tail)."""
    if decl.operands[0][1] is not Role.BITS_OUT or shape.count % shape.lanes == 0:
        return shape
    core.relied_on(("compare-tail",), decl.name)
    floor = core.compare_tail == "floor"
    core.warn(
        "compare-count-256",
        f"{decl.name} count {shape.count} is no multiple of {shape.lanes} elements (256 bytes): "
        f"{'the tail is not compared' if floor else 'mask bits past it are 0'}; round it up",
    )
    whole = shape.count // shape.lanes + (not floor)
    return replace(shape, count=whole * shape.lanes if floor else shape.count, repeats=whole)
