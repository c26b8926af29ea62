"""Sets of byte ranges that stay small: what all calls of one place touch of a GM tensor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascendsim.observe.checks.ranges import Ranges, merged
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import Instr

MAX_LOOSE = 1 << 15  # ranges that are kept before neighbours are merged


class Place:
    """The bytes that one line of one section of a block touches alike.

    instr, touched : the first of its calls and operands; order : when that was
    """

    __slots__ = ("_loose", "_merged", "instr", "order", "section", "touched")

    def __init__(self, instr: Instr, touched: Touched, section: int, order: int) -> None:
        self.instr, self.touched = instr, touched
        self.section, self.order = section, order
        self._loose: list[list[int]] = []
        self._merged = _NONE

    @property
    def block(self) -> int:
        """The block whose calls these are."""
        return self.instr.block

    @property
    def cached(self) -> bool:
        """Whether the scalar unit stores them, through its data cache."""
        return self.touched.writes and self.instr.call.name == "SetValue"

    def add(self, touched: Touched) -> None:
        """Take in the bytes of one operand."""
        loose = self._loose
        for start, stop in touched.spans():
            last = loose[-1] if loose else None
            if last is not None and last[1] == start:
                last[1] = stop
            else:
                loose.append([start, stop])
        if len(loose) > MAX_LOOSE:
            self.ranges()

    def ranges(self) -> Ranges:
        """Return all bytes so far."""
        if self._loose:
            both = np.concatenate([np.stack(self._merged, 1), np.array(self._loose, np.int64)])
            self._merged, self._loose = merged(both[:, 0], both[:, 1]), []
        return self._merged

    def extent(self) -> tuple[int, int]:
        """Return the first byte and the one behind the last."""
        starts, stops = self.ranges()
        return int(starts[0]), int(stops[-1])


_NONE: Ranges = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def overlapping(places: list[Place], unit: int) -> Iterator[tuple[Place, Place]]:
    """Yield all pairs of places whose extents, in whole units of bytes, overlap."""
    active: list[tuple[int, Place]] = []
    for place in sorted(places, key=lambda each: each.extent()[0]):
        start, stop = place.extent()
        active = [each for each in active if each[0] > start // unit]
        for _, other in active:
            yield other, place
        active.append((-(-stop // unit), place))
