"""How undefined bits pass through the instructions.

Arithmetic, Cast and reductions: a result is undefined in all bits when any bit of any lane that it
is made of is. Compare: the lane's one mask bit. Select: the bits of the source that is taken, all
when the mask bit itself is undefined. What only moves elements runs its own compiled body on the
shadow. Repeats pass one after another, so that in-place chains are followed as they run.
The shadow is uint8, one byte per byte of UB, 1 for an undefined bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ascendsim.numerics import opcodes
from ascendsim.observe.checks.touched import Touched, active_lanes, lane_starts
from ascendsim.record import Access, Call

UNDEFINED = 0xFF
MOVERS = frozenset(("Copy", "Brcb", "Transpose", "TransDataTo5HD", "Gather", "GatherMask"))
COMPARES = frozenset(("Compare", "Compares", "CompareScalar"))
#: operands that choose what happens, rather than being a value of it
STEERING = frozenset((("Gather", "src1"), ("GatherMask", "mask")))
_GROUPED = ("WholeReduce", "BlockReduce", "PairReduce")


def follow(shadow: np.ndarray, call: Call, touched: tuple[Touched, ...]) -> None:
    """Let undefined bits pass through a vector instruction; `touched` are its operands."""
    name = call.name
    if name in MOVERS:
        _move(shadow, call)
    elif name in COMPARES:
        _compare(shadow, call)
    elif name == "Select":
        _select(shadow, call)
    elif name.startswith(_GROUPED):
        _reduce_groups(shadow, call)
    elif name.startswith("Reduce"):
        (into,) = (each for each in touched if each.access.role == "dst")
        shadow[into.start : into.stop] = UNDEFINED
        scratch(shadow, call)
    else:
        _lanes(shadow, call)


def scratch(shadow: np.ndarray, call: Call) -> None:
    """Mark what a reduction uses of its shared buffer: it is undefined afterwards."""
    for access in call.accesses:
        if access.role == "tmp":
            for start, stop in call.ranges(access):
                shadow[start:stop] = UNDEFINED


def _lanes(shadow: np.ndarray, call: Call) -> None:
    into, *sources = call.accesses
    for places in _chunks(call):
        undefined = np.zeros(len(places[0]), bool)
        for place, access in zip(places[1:], sources, strict=True):
            undefined |= shadow[_bytes(place, access)].any(1)
        shadow[_bytes(places[0], into)] = np.where(undefined, UNDEFINED, 0)[:, None]


def _compare(shadow: np.ndarray, call: Call) -> None:
    into, *sources = call.accesses
    ((start, stop),) = call.ranges(into)
    bits = np.zeros(8 * (stop - start), np.uint8)  # those of lanes that take no part become 0
    for places in _chunks(call):
        undefined = np.zeros(len(places[0]), bool)
        for place, access in zip(places[1:], sources, strict=True):
            undefined |= shadow[_bytes(place, access)].any(1)
        bits[places[0]] = undefined
    shadow[start:stop] = np.packbits(bits, bitorder="little")


def _select(shadow: np.ndarray, call: Call) -> None:
    into, *sources, mask = call.accesses
    ((start, stop),) = call.ranges(mask)
    chosen = np.unpackbits(call.core.ub.array[start:stop], bitorder="little")
    unknown = np.unpackbits(shadow[start:stop], bitorder="little")
    for places in _chunks(call):
        bits, width = places[-1], into.element
        values = np.zeros((2, len(bits), width), np.uint8)
        for k, (place, access) in enumerate(zip(places[1:-1], sources, strict=True)):
            values[k] = shadow[_bytes(place, access)]
        taken = np.where(chosen[bits, None] == 1, values[0], values[1])
        shadow[_bytes(places[0], into)] = np.where(unknown[bits, None] == 1, UNDEFINED, taken)


def _reduce_groups(shadow: np.ndarray, call: Call) -> None:
    into, source = call.accesses
    words, shape = call.row[1], call.geometry.parts[source.role]  # type: ignore[union-attr]
    groups, element = int(words[opcodes.P_GROUPS]), int(words[opcodes.P_ELEMENT])
    lanes = active_lanes(shape)
    group = lanes // (shape.lanes // groups)
    everywhere = int(words[opcodes.P_EMPTY]) >= 0  # a group without lanes stores a constant
    stored = {opcodes.ORDER_ONLY_VALUE: element, opcodes.ORDER_ONLY_INDEX: 4}
    width = stored.get(int(words[opcodes.P_ORDER]), 2 * element)
    used = np.arange(groups) if everywhere else np.unique(group)
    for repeat, starts in enumerate(lane_starts(shape, source)):
        undefined = np.zeros(groups, bool)
        undefined[group[shadow[_bytes(starts, source)].any(1)]] = True
        places = into.start + repeat * int(words[opcodes.P_DST_REPEAT]) + used * width
        shadow[places[:, None] + np.arange(width)] = np.where(undefined[used], UNDEFINED, 0)[
            :, None
        ]


def _move(shadow: np.ndarray, call: Call) -> None:
    """Run the call's own body on the shadow; offsets and mask bits stay those of UB."""
    row = call.row[0].copy()
    shift = shadow.ctypes.data - call.core.ub.base
    row[opcodes.DST] += shift
    row[opcodes.SRC0] += shift
    call.core.bodies.entry(int(row[opcodes.OP]))(row.ctypes.data, 0.0)


def _chunks(call: Call) -> Iterator[list[np.ndarray]]:
    """Yield what runs at once: per operand the byte offset of each lane, or its bit number."""
    shape: Any = call.geometry
    if shape.counted or shape.contiguous:
        step = shape.lanes if _in_order(call) else max(shape.count, 1)
        for first in range(0, shape.count, step):
            lanes = np.arange(first, min(first + step, shape.count))
            yield [_places(access, lanes, lanes % shape.lanes) for access in call.accesses]
        return
    active = active_lanes(shape)
    starts = [lane_starts(shape, a) if a.element else None for a in call.accesses]
    for repeat in range(shape.repeats):
        lanes = repeat * shape.lanes + active
        yield [
            _places(access, lanes, active) if rows is None else rows[repeat]
            for access, rows in zip(call.accesses, starts, strict=True)
        ]


def _places(access: Access, lanes: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return byte offsets of contiguous lanes; of mask bits their numbers, which may start anew."""
    if access.element:
        return access.start + lanes * access.element
    return lanes if access.repeat_stride else inside


def _in_order(call: Call) -> bool:
    """Tell whether a source lies over the destination, but not lane by lane."""
    into, *sources = call.accesses
    written = call.ranges(into)
    return any(
        (access.start, access.element) != (into.start, into.element)
        and any(a < d and c < b for a, b in call.ranges(access) for c, d in written)
        for access in sources
    )


def _bytes(places: np.ndarray, access: Access) -> np.ndarray:
    """Return the bytes of elements: int64 (lanes, bytes)."""
    return places[:, None] + np.arange(access.element)  # type: ignore[no-any-return]
