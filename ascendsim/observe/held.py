"""Memory of which a file holds some ranges only: those that recorded calls touched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np

from ascendsim.errors import RequestError

Range = tuple[int, int]
_GAP = 64  # a gap of so many bytes is kept along: a range of its own takes as much


class HeldBytes:
    """Bytes of a tensor of `size` bytes, read by slices.

    ranges : (start, stop) of what is there, in order; their bytes follow each other in `content`
    name : what errors call the tensor
    """

    __slots__ = ("_content", "_places", "name", "ranges", "size")

    def __init__(self, name: str, size: int, ranges: list[Range], content: bytes) -> None:
        self.name, self.size, self.ranges = name, size, ranges
        self._content = np.frombuffer(content, np.uint8)
        self._places = [0]
        for start, stop in ranges:
            self._places.append(self._places[-1] + stop - start)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, _ = part.indices(self.size)
        found = self._position(start, stop)
        if found is None:
            raise RequestError(
                f"the file holds the bytes of {self.name} that recorded calls touched, not "
                f"{self.name}[{start:#x}, {stop:#x}): launch the operator again, with that block "
                f"recorded (blocks=)"
            )
        return self._content[found : found + stop - start]

    def holds(self, start: int, stop: int) -> bool:
        """Tell whether these bytes are in the file."""
        return self._position(start, stop) is not None

    def _position(self, start: int, stop: int) -> int | None:
        if start >= stop:
            return 0
        k = bisect_right(self.ranges, start, key=lambda each: each[0]) - 1
        if k < 0 or stop > self.ranges[k][1]:
            return None
        return self._places[k] + start - self.ranges[k][0]


def joined(spans: Iterable[Range]) -> list[Range]:
    """Return ranges in order, without overlaps, those with small gaps between them as one."""
    found: list[Range] = []
    for start, stop in sorted(set(spans)):
        if found and start <= found[-1][1] + _GAP:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        elif start < stop:
            found.append((start, stop))
    return found


def bytes_in(memory: Any, ranges: Iterable[Range]) -> bytes:
    """Return the bytes of these ranges, one after the other."""
    return b"".join(memory[start:stop].tobytes() for start, stop in ranges)


def total(ranges: Iterable[Range]) -> int:
    """Return how many bytes ranges have."""
    return sum(stop - start for start, stop in ranges)
