"""The answer of `mutate`: every mutant with who noticed it, and the score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendsim.explore.mutate.source import Mutant
from ascendsim.launch.blocks import short_name
from ascendsim.view import mutants_text

CHECKS = "checks: "


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant and what became of it.

    killed_by : the first test that failed, "timeout", "checks: CODE" (or the name of an error),
        "bits" (of a kernel without tests); None: nobody noticed
    witness : an element whose bits differ (trials.witness); None: none does
    compared : False when no trial can tell, for lack of one or since none uses the file
    text : what the test that noticed said
    """

    mutant: Mutant
    killed_by: str | None
    witness: dict[str, Any] | None = None
    compared: bool = True
    text: str = ""

    @property
    def by(self) -> str:
        """Who noticed: "tests", "checks", "bits", or "" for nobody."""
        if self.killed_by is None or self.killed_by == "bits":
            return self.killed_by or ""
        return "checks" if self.killed_by.startswith(CHECKS) else "tests"


@dataclass(frozen=True, slots=True)
class Score:
    """All mutants of a kernel, in the order of files and lines. Print it, or take it apart.

    tests : the files that judged, () for none; notes : what kept a judge away
    """

    folder: Path
    tests: tuple[str, ...]
    kinds: tuple[str, ...]
    judged: tuple[Judged, ...]
    notes: tuple[str, ...] = ()

    @property
    def survivors(self) -> list[Judged]:
        """The mutants that nobody noticed."""
        return [each for each in self.judged if each.killed_by is None]

    @property
    def killed(self) -> int:
        """How many were noticed."""
        return len(self.judged) - len(self.survivors)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ascendsim mutate --json`."""
        kinds = {
            kind: {"mutants": count, "killed": count - self._left(kind)}
            for kind, count in Counter(each.mutant.kind for each in self.judged).items()
        }
        return {
            "op": self.folder.name,
            "tests": list(self.tests),
            "mutants": [self._json(each) for each in self.judged],
            "killed": self.killed,
            "of": len(self.judged),
            "kinds": kinds,
            "notes": list(self.notes),
        }

    def _left(self, kind: str) -> int:
        return sum(each.mutant.kind == kind for each in self.survivors)

    def _json(self, each: Judged) -> dict[str, Any]:
        mutant = each.mutant
        return {
            "kind": mutant.kind,
            "file": short_name(str(self.folder / mutant.file)),
            "line": mutant.line,
            "killed_by": each.killed_by,
            "before": mutant.before,
            "after": mutant.after,
            "text": each.text,
            "differs": each.witness,
        }

    def __str__(self) -> str:
        return mutants_text.score(self)
