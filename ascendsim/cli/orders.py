"""What `ascendsim check` adds on request: other orders of a block, and syncs removed in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.errors import RequestError


@dataclass(frozen=True, slots=True)
class Orders:
    """Which questions about order are asked besides the checks."""

    schedules: Annotated[
        int | None,
        typer.Option(
            "--schedules", metavar="N", help="Run blocks in N other orders that tokens permit."
        ),
    ] = None
    minimize_sync: Annotated[
        bool,
        typer.Option(
            "--minimize-sync",
            help="Remove every barrier, flag pair and queue edge in turn: redundant or not?",
        ),
    ] = False

    def check(self) -> None:
        """Refuse what makes no sense."""
        if self.schedules is not None and self.schedules < 1:
            raise RequestError(f"--schedules {self.schedules}: must be at least 1")

    def answers(self, op: Any, arrays: Any, tiling: Any, seed: int, options: Any) -> Answers:
        """Return the answers to what was asked."""
        from ascendsim.explore.minimize import minimize_sync
        from ascendsim.explore.schedules import try_schedules

        tried = minimized = None
        if self.schedules is not None:
            tried = try_schedules(op, arrays, tiling, self.schedules, seed=seed, options=options)
        if self.minimize_sync:
            minimized = minimize_sync(op, arrays, tiling, seed=seed, options=options)
        return Answers(tried, minimized)


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of explore.schedules and explore.minimize, None where nothing was asked."""

    schedules: Any = None
    minimized: Any = None

    def to_json(self) -> dict[str, Any]:
        """Return the parts of the document of `ascendsim check`."""
        found: dict[str, Any] = {}
        if self.schedules is not None:
            found["schedules"] = self.schedules.to_json()
        if self.minimized is not None:
            found["sync"] = self.minimized.to_json()
            found["sync_added"] = [place.to_json() for place in self.minimized.added]
            found["sync_once"] = list(self.minimized.once)
            found["sync_racing"] = [hazard.to_json() for hazard in self.minimized.racing]
        return found

    def texts(self) -> list[str]:
        """Return the answers as text."""
        return [str(each) for each in (self.schedules, self.minimized) if each is not None]

    @property
    def wrong(self) -> bool:
        """True when an order that the tokens permit leaves other bytes."""
        return self.schedules is not None and self.schedules.differing > 0
