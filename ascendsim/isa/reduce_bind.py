"""Bind a reduction within repeats: its lanes, strides, what it stores, and its checks."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES, REPEAT_BYTES, ReduceOrder
from ascendsim.errors import ContractError, UnsupportedError
from ascendsim.isa import masks
from ascendsim.isa.footprint import (
    MAX_STRIDE,
    Operand,
    mask_key,
    meet,
    one_type,
    repeats_of,
    runs,
    source_geometry,
    whole,
)
from ascendsim.isa.program import combining, issue, lane_words, make_call
from ascendsim.numerics import opcodes
from ascendsim.record import Call

STEMS = {"Sum": "add", "Max": "max", "Min": "min"}  # of the compiled bodies
_BODIES = {"Sum": "tree", "Max": "extreme", "Min": "extreme"}
_ORDERS = {
    "c220": tuple(ReduceOrder),
    "3510": tuple(ReduceOrder),
    "m200": (ReduceOrder.ORDER_VALUE_INDEX, ReduceOrder.ORDER_INDEX_VALUE),
    "c100": (ReduceOrder.ORDER_VALUE_INDEX,),
}


def within(
    name: str,
    tensors: tuple[Any, Any],
    mask: Any,
    strides: tuple[Any, Any, Any, Any],
    order: Any = ReduceOrder.ORDER_ONLY_VALUE,
    own: Any = True,
) -> None:
    """Run a reduction within repeats; `strides` begin with the repeat times, `own` is isSetMask."""
    checked = (
        repeats_of(name, strides[0]),
        whole(name, "dstRepStride", strides[1], 0, MAX_STRIDE),
        whole(name, "srcBlkStride", strides[2], 0, MAX_STRIDE),
        whole(name, "srcRepStride", strides[3], 0, MAX_STRIDE),
    )
    given = (mask_key(mask), checked, (order, type(order)), bool(own))
    issue(name, tensors, given, _bind, depth=4)


def _bind(
    name: str,
    tensors: tuple[Any, Any],
    mask: Any,
    strides: tuple[int, int, int, int],
    ordered: tuple[Any, type],
    own: bool,
) -> Call:
    (dst, src), order = tensors, ordered[0]
    repeats, dst_stride, block, repeat = strides
    dtype, core = _types(name, dst, src), dst.core
    _check_order(order, core)
    if core.soc.arch == "c100" and not dst_stride:
        raise ContractError("dstRepStride is 0: not supported on 910; use at least 1")
    lanes = REPEAT_BYTES // src.dtype.nbytes
    bits, total = _lanes(core, mask, own, (lanes, repeats))
    groups = _groups(name, lanes)
    stored, unit = _stored(name, order, groups, dtype.nbytes)
    empty = _empty(name, dtype, core.soc.arch)
    spans = _spans(groups, bits, empty, stored, (total, lanes, dst_stride * unit))
    repeats = -(-total // lanes)
    source = source_geometry(bits, lanes, repeats, src.dtype.nbytes, (block, repeat))
    source = replace(source, count=total)
    into = Operand("dst", dst, spans, True, min(unit, DATABLOCK_BYTES))
    out_of = Operand("src", src, source)
    if dst.start > src.start or dst_stride * unit > repeat * DATABLOCK_BYTES:
        _warn_overlap(name, into, out_of)
    words = {
        **combining(core, STEMS[name[-3:]], src.dtype),
        **lane_words(repeats if bits else 0, lanes, bits),
        **_result_words(name, lanes, (groups, int(order), empty)),
        opcodes.P_ELEMENT: src.dtype.nbytes,
        opcodes.P_DST_REPEAT: dst_stride * unit,
        opcodes.P_SRC_BLOCK: block * DATABLOCK_BYTES,
        opcodes.P_SRC_REPEAT: repeat * DATABLOCK_BYTES,
        opcodes.P_BASE: dtype.nbytes,
    }
    fields = {"mask": bits, "repeatTimes": repeats, "order": order.name}
    return make_call(name, _body_of(name, dtype), (into, out_of), total, words, fields)


def _result_words(name: str, lanes: int, result: tuple[int, int, int]) -> dict[int, int]:
    """Return the words about results: how many a repeat has, their order, and what of none."""
    groups, order, empty = result
    return {
        opcodes.P_LEVELS: (lanes // groups).bit_length() - 1,
        opcodes.P_GROUPS: groups,
        opcodes.P_MINIMUM: int(name.endswith("Min")),
        opcodes.P_ORDER: order,
        opcodes.P_EMPTY: empty,
    }


def _types(name: str, dst: Any, src: Any) -> DType:
    """Return the element type of dst: that of src, or the wider one of a pair."""
    row = dst.core.soc.ops.get(name)
    if row is not None and f"{src.dtype}->{dst.dtype}" in row.pairs:
        return dst.dtype  # type: ignore[no-any-return]
    return one_type(name, (dst, src))


def _body_of(name: str, dtype: DType) -> str:
    """Return the program of a reduction within repeats."""
    if name.endswith("Sum") and dtype.kind != "float":
        return "integer_sum"
    return _BODIES[name[-3:]]


def _lanes(core: Any, mask: Any, own: bool, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the lanes of a repeat that take part, and how many lanes there are in all."""
    lanes, repeats = shape
    given = list(mask) if isinstance(mask, tuple) else mask
    if masks.counts(core):
        total = masks.total_of(core, given, own)
        return (1 << lanes) - 1 if total else 0, total
    return masks.bits_of(core, given, own, lanes), lanes * repeats


def _warn_overlap(name: str, into: Operand, out_of: Operand) -> None:
    if meet(into, out_of):
        into.tensor.core.warn(
            "overlap",
            f"{name}: dst ({into.tensor!r}) overlaps lanes of src that later repeats read, which "
            f"is undefined on hardware; repeats ran in order here",
        )


def _check_order(order: Any, core: Any) -> None:
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


def _empty(name: str, dtype: Any, arch: str) -> int:
    """Return what 950 stores for a datablock or pair that is masked off, -1 for nothing."""
    if arch != "3510":
        return -1
    value = {"Max": -inf, "Min": inf}.get(name[-3:], 0.0)
    return int(dtype.to_bits(value)) if dtype.kind == "float" else -1


def _spans(
    groups: int, mask: int, empty: int, stored: int, steps: tuple[int, int, int]
) -> tuple[tuple[int, int], ...]:
    """Return the bytes of dst that are stored; `steps` are lanes in all, of a repeat, and bytes."""
    total, lanes, stride = steps
    each = lanes // groups
    starts = []
    for first in range(0, total if mask else 0, lanes):
        left = (1 << min(total - first, lanes)) - 1
        for g in range(groups):
            if empty >= 0 or (mask & left) >> g * each & (1 << each) - 1:
                starts.append(first // lanes * stride + g * stored)
    return runs(starts, stored)
