"""Which value each run of bits of UB holds, while the calls of a block are followed.

All positions are in bits: what a compare stores may end in the middle of a byte.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple


class Place(NamedTuple):
    """The element a lane belongs to: `element` in the first block, `step` from block to block."""

    element: int
    step: int

    def __str__(self) -> str:
        return f"{self.element}" + (f" + {self.step} * block" if self.step else "")


@dataclass(frozen=True, slots=True)
class Run:
    """`lanes` of `bits` from bit `start` on that hold one value.

    place : of the first lane; None when every lane is the same constant
    why : not "" for what no loop over elements can compute (bits is 1 then)
    """

    start: int
    lanes: int
    bits: int
    node: int = -1
    place: Place | None = None
    why: str = ""

    @property
    def stop(self) -> int:
        """The bit behind the last lane."""
        return self.start + self.lanes * self.bits

    def moved(self, distance: int) -> Run:
        """Return the same lanes elsewhere."""
        return replace(self, start=self.start + distance)

    def within(self, start: int, stop: int) -> Run | None:
        """Return the whole lanes inside [start, stop), None when there is none."""
        if start <= self.start and self.stop <= stop:
            return self
        skip = max(0, -((self.start - start) // self.bits))
        lanes = min(self.lanes, (stop - self.start) // self.bits) - skip
        if lanes <= 0:
            return None
        place = self.place and Place(self.place.element + skip, self.place.step)
        return replace(self, start=self.start + skip * self.bits, lanes=lanes, place=place)


class UbMap:
    """Runs that do not overlap, in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._runs: list[Run] = []

    def read(self, start: int, stop: int) -> Iterator[Run]:
        """Yield what [start, stop) holds; what nobody wrote is left out."""
        for run in self._meeting(start, stop):
            part = run.within(start, stop)
            if part is not None:
                yield part

    def write(self, run: Run) -> None:
        """Let the bits of a run hold its value from now on."""
        self.forget(run.start, run.stop)
        at = bisect_left(self._starts, run.start)
        self._starts.insert(at, run.start)
        self._runs.insert(at, run)

    def forget(self, start: int, stop: int) -> None:
        """Let [start, stop) hold nothing known."""
        if start >= stop:
            return
        first, last = self._range(start, stop)
        kept = []
        for run in self._runs[first:last]:
            kept += [run.within(0, start)] if run.start < start else []
            kept += [run.within(stop, run.stop)] if run.stop > stop else []
        parts = [part for part in kept if part is not None]
        self._runs[first:last] = parts
        self._starts[first:last] = [part.start for part in parts]

    def _meeting(self, start: int, stop: int) -> list[Run]:
        first, last = self._range(start, stop)
        return self._runs[first:last]

    def _range(self, start: int, stop: int) -> tuple[int, int]:
        first = bisect_right(self._starts, start)
        if first and self._runs[first - 1].stop > start:
            first -= 1
        return first, bisect_left(self._starts, stop)
