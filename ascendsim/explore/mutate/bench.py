"""What mutants are judged with: the kernel as it is has run, and says what can judge, how long.

Three runs say that: its tests on a copy without a fault, its trials, and its tests on a copy whose
kernel cannot be loaded, which they must not pass.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascendsim.errors import AscendError
from ascendsim.explore.mutate.copies import Layout, mutated
from ascendsim.explore.mutate.jobs import NO_TESTS
from ascendsim.explore.mutate.score import CHECKS, Judged
from ascendsim.explore.mutate.server import TIMEOUT
from ascendsim.explore.mutate.source import ONLY_TESTED, Mutant
from ascendsim.explore.mutate.syncs import KIND as DROP_SYNC
from ascendsim.explore.mutate.workers import Ended, Workers

MOST_SECONDS = 3600  # that the kernel's own tests, or its trials, may take as it is
LEAST_SECONDS, TIMES = 10, 4  # a mutant has this long, and so many times what the kernel takes
_UNLOADABLE = b"raise ImportError('ascendsim mutate: a kernel that cannot be loaded')\n"
_TESTS, _TRIALS, _BROKEN = "tests", "trials", "broken"


@dataclass(frozen=True, slots=True)
class Bench:
    """What mutants are judged with.

    tests : files that judge, () for none; seconds : limits of a run of the tests and of a trial
    kept : where the trials of the kernel as it is are kept, None when it runs in none
    notes : what kept a judge away; narrowing : file and line of the Casts that lose bits
    lists : tensors in its tensor lists, in the trials
    """

    layout: Layout
    workers: Workers
    base: Path
    tests: tuple[str, ...]
    seconds: tuple[float, float]
    kept: Path | None
    notes: tuple[str, ...]
    lists: dict[str, int]
    narrowing: frozenset[tuple[str, int]]

    def judge(self, numbered: tuple[int, Mutant]) -> Judged:
        """Return what becomes of one mutant."""
        number, mutant = numbered
        place = self.base / f"mutant{number}"
        copy = self.layout.made(place, mutated(self.layout.folder, mutant))
        try:
            if self.tests:
                ended = _tested(self.workers, self.layout, place, self.tests, self.seconds[0])
                if ended.how == TIMEOUT:
                    return Judged(mutant, TIMEOUT)
                if ended.answer is None or ended.answer["exit"]:
                    return Judged(mutant, _first(ended), text=_text(ended))
            return self._tried(mutant, copy)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _tried(self, mutant: Mutant, copy: Path) -> Judged:
        """Return what the checks and the seeded inputs say."""
        if self.kept is None or mutant.file in ONLY_TESTED:
            return Judged(mutant, None, compared=False)
        auto_sync = "off" if mutant.kind == DROP_SYNC else "on"
        given: dict[str, Any] = {"folder": str(copy), "file": str(self.kept)}
        given |= {"auto_sync": auto_sync, "lists": self.lists}
        ended = self.workers.run("judge", given, self.seconds[1])
        if ended.answer is None:
            return Judged(mutant, f"{CHECKS}{ended.how}", text=_text(ended))
        if ended.answer["checks"] is not None:
            return Judged(mutant, f"{CHECKS}{ended.answer['checks']}")
        witness = ended.answer["witness"]
        return Judged(mutant, "bits" if witness and not self.tests else None, witness)


def bench_of(layout: Layout, workers: Workers, base: Path, trials_of: dict[str, Any]) -> Bench:
    """Run the kernel as it is and return what its mutants are judged with.

    trials_of : chip (soc), shape and numbers of tensors (lists) of its trials

    Raises
    ------
    AscendError
        When its own tests fail, or it has none and does not run.
    """
    kept = base / "kept"
    ended = _runs(layout, workers, base, trials_of | {"file": str(kept)})
    tests, notes = _judging(layout, ended)
    trials = ended[_TRIALS].answer or {"error": f"its trials: {_text(ended[_TRIALS])}"}
    if "error" in trials:
        if not tests:
            raise AscendError(f"{layout.folder} has no tests, and does not run: {trials['error']}")
        notes.append(f"no checks and no comparison of bits: {trials['error']}")
    seconds = [_limit(ended[name]) if name in ended else 0.0 for name in (_TESTS, _TRIALS)]
    return Bench(
        layout=layout,
        workers=workers,
        base=base,
        tests=tests,
        seconds=(seconds[0], seconds[1]),
        kept=None if "error" in trials else kept,
        notes=tuple(notes),
        lists=trials_of["lists"],
        narrowing=frozenset((file, line) for file, line in trials.get("narrowing", ())),
    )


def _runs(layout: Layout, workers: Workers, base: Path, given: dict[str, Any]) -> dict[str, Ended]:
    """Run the kernel in all ways; stop at once when its tests fail."""
    tests = layout.tests()
    copies = {_TESTS: {}, _BROKEN: {"op_kernel.py": _UNLOADABLE}} if tests else {}
    for name, changed in copies.items():
        layout.made(base / name, changed)

    def run(name: str) -> Ended:
        if name == _TRIALS:
            return workers.run("survey", {"folder": str(layout.folder)} | given, MOST_SECONDS)
        return _tested(workers, layout, base / name, tests, MOST_SECONDS)

    names, ended = [*copies, _TRIALS], {}
    for number, each in workers.each(run, names):
        ended[names[number]] = each
        if names[number] == _TESTS:
            _check_tests(layout, each)
    return ended


def _check_tests(layout: Layout, ended: Ended) -> None:
    if ended.answer is None or ended.answer["exit"] not in (0, NO_TESTS):
        raise AscendError(
            f"{layout.folder}: its own tests fail without any fault, so they cannot judge: "
            f"{_first(ended)}: {_text(ended)}"
        )


def _judging(layout: Layout, ended: dict[str, Ended]) -> tuple[tuple[str, ...], list[str]]:
    """Return the test files that can judge, and why they are fewer than there are."""
    tests = tuple(layout.tests())
    if not tests:
        return (), []
    files = ", ".join(tests)
    if ended[_TESTS].answer["exit"] == NO_TESTS:
        return (), [f"{files}: pytest finds no test to run there"]
    broken = ended[_BROKEN].answer
    if broken is not None and broken["exit"] == 0:
        return (), [
            f"{files}: they pass without a kernel that can be loaded, so they do not reach it and "
            "judge nothing"
        ]
    return tests, []


def _tested(
    workers: Workers, layout: Layout, place: Path, tests: Sequence[str], seconds: float
) -> Ended:
    copy = layout.inside(place, layout.folder)
    given = {
        "here": str(layout.inside(place, layout.here)),
        "path": layout.path(place),
        "environment": layout.environment(place),
        "files": [str(copy / name) for name in tests],
    }
    return workers.run("tests", given, seconds)


def _limit(ended: Ended) -> float:
    taken = ended.answer.get("seconds", 0.0) if ended.answer is not None else 0.0
    return LEAST_SECONDS + TIMES * taken


def _first(ended: Ended) -> str:
    """Return the first test that failed, or what happened to all of them."""
    if ended.answer is None:
        return ended.how
    return ended.answer["first"] or f"pytest exits {ended.answer['exit']}"


def _text(ended: Ended) -> str:
    if ended.answer is not None and ended.answer["text"]:
        return ended.answer["text"]
    lines = [line for line in ended.printed.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ended.how
