"""One row of `ascendsim bench`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ascendsim.explore.speed.measure import Times


@dataclass(frozen=True, slots=True)
class Row:
    """One ratio: of the best rounds, and of the medians; `target` is None where there is none.

    seconds : best and median of both sides; note : why there is no ratio.
    """

    name: str
    ratio: float | None
    target: float | None = None
    medians: float | None = None
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the target is met; None without a target or a ratio."""
        return None if self.target is None or self.ratio is None else self.ratio >= self.target

    def to_json(self) -> dict[str, Any]:
        """Return the row of `ascendsim bench --json`."""
        return {
            "name": self.name,
            "ratio": self.ratio,
            "target": self.target,
            "ok": self.ok,
            "median_ratio": self.medians,
            "seconds": {k: {"best": a, "median": b} for k, (a, b) in self.seconds.items()},
            "note": self.note,
        }


def compared(label: str, target: float | None, times: dict[str, Times]) -> Row:
    """Return the row of two contestants, the one that should be faster first."""
    one, two = times.values()
    seconds = {name: (each.best, each.middle) for name, each in times.items()}
    return Row(label, two.best / one.best, target, two.middle / one.middle, seconds)
