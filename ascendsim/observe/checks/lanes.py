"""Which lanes of a vector instruction run at once, and the bytes that each of them stands on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ascendsim.observe.checks.touched import active_lanes, lane_starts
from ascendsim.record import Access, Call


def chunks(call: Call) -> Iterator[list[np.ndarray]]:
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
        inside = active[: shape.count - repeat * shape.lanes]  # counter mode may end within
        lanes = repeat * shape.lanes + inside
        yield [
            _places(access, lanes, inside) if rows is None else rows[repeat][: inside.size]
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


def bytes_of(places: np.ndarray, access: Access) -> np.ndarray:
    """Return the bytes of elements: int64 (lanes, bytes)."""
    return places[:, None] + np.arange(access.element)  # type: ignore[no-any-return]
