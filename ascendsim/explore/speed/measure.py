"""Time contestants strictly one after another, round by round, in one process.

Absolute speed on a shared machine moves by a factor of two within seconds, so only ratios inside
one run count. A ratio compares the best round of each side; the medians are told beside it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

#: does the work once; what it returns as float are the seconds that count, else its whole time does
Work = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of every round of one contestant."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The shortest round."""
        return min(self.seconds)

    @property
    def middle(self) -> float:
        """The median round."""
        return median(self.seconds)


def alternated(
    contestants: Mapping[str, Work], rounds: int, most_seconds: float = float("inf")
) -> dict[str, Times]:
    """Run every contestant once as a warm-up, then all in turn, `rounds` times.

    `most_seconds` ends after the round in which it is passed, never before the first.
    """
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for work in contestants.values():
        work()
    began = time.perf_counter()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, work in contestants.items():
                start = time.perf_counter()
                counted = work()
                whole = time.perf_counter() - start
                found[name].append(counted if isinstance(counted, float) else whole)
            if time.perf_counter() - began > most_seconds:
                break
    finally:
        if collecting:
            gc.enable()
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}
