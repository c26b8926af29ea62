"""The mutation score of a kernel: which faults its own tests notice, or the checks, or nobody.

    from ascendsim.explore.mutate import mutate
    print(mutate("./leaky_relu"))

The tests run first, on a copy with one fault in it. What they let pass, the checks look at, and 16
seeded inputs say whether a bit differs. A kernel without tests is judged by these two alone. With
a synchronisation left out the checks run with auto_sync=off, where the compiler does not put it
back (the default of `check` is on); what they find in the kernel as it is never counts.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ascendsim.errors import AscendError, RequestError
from ascendsim.explore.mutate.copies import Layout, mutated
from ascendsim.explore.mutate.faults import check_kinds, mutants
from ascendsim.explore.mutate.jobs import NO_TESTS
from ascendsim.explore.mutate.score import CHECKS, Judged, Score
from ascendsim.explore.mutate.server import TIMEOUT
from ascendsim.explore.mutate.source import Mutant
from ascendsim.explore.mutate.syncs import KIND as DROP_SYNC
from ascendsim.explore.mutate.trials import Shape
from ascendsim.explore.mutate.workers import Ended, Workers
from ascendsim.host import Op
from ascendsim.host.loader import find_folder

Progress = Callable[[int, int], None]
MOST_SECONDS = 3600  # that the kernel's own tests, or its trials, may take as it is
_LEAST_SECONDS, _TIMES = 10, 4  # a mutant has this long, and so many times what the kernel takes
_UNLOADABLE = b"raise ImportError('ascendsim mutate: a kernel that cannot be loaded')\n"


@dataclass(frozen=True, slots=True)
class _Bench:
    """What mutants are judged with.

    tests : files that judge, () for none; seconds : limits of a run of the tests and of a trial
    kept : where the trials of the kernel as it is are kept, None when it runs in none
    """

    layout: Layout
    workers: Workers
    base: Path
    tests: tuple[str, ...]
    seconds: tuple[float, float]
    kept: Path | None
    notes: tuple[str, ...]
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
                    return Judged(mutant, "timeout")
                if ended.answer is None or ended.answer["exit"]:
                    return Judged(mutant, _first(ended), text=_text(ended))
            return self._tried(mutant, copy)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _tried(self, mutant: Mutant, copy: Path) -> Judged:
        """Return what the checks and the seeded inputs say."""
        if self.kept is None:
            return Judged(mutant, None, compared=False)
        auto_sync = "off" if mutant.kind == DROP_SYNC else "on"
        given = {"folder": str(copy), "file": str(self.kept), "auto_sync": auto_sync}
        ended = self.workers.run("judge", given, self.seconds[1])
        if ended.answer is None:
            return Judged(mutant, f"{CHECKS}{ended.how}")
        if ended.answer["checks"] is not None:
            return Judged(mutant, f"{CHECKS}{ended.answer['checks']}")
        witness = ended.answer["witness"]
        return Judged(mutant, "bits" if witness and not self.tests else None, witness)


def mutate(
    op: Op | str | os.PathLike[str],
    *,
    kinds: Iterable[str] = (),
    soc: str | None = None,
    shape: Shape | None = None,
    jobs: int | None = None,
    kernels: Sequence[str | os.PathLike[str]] = (),
    progress: Progress | None = None,
) -> Score:
    """Put faults into a kernel, one at a time, and say who notices.

    Parameters
    ----------
    op : a kernel as `load` takes it; its folder is copied and never written to
    kinds : classes of faults (faults.KINDS), () for all
    soc, shape : chip of the trials, and shape (one for all inputs, or by input; None: found)
    jobs : mutants that are judged at once, default one per CPU
    progress : takes (mutants judged, mutants)

    Raises
    ------
    RequestError
        When the kernel, a kind or the number of jobs is unknown, or pytest is not installed.
    AscendError
        When the kernel's own tests fail as it is, or it runs neither in them nor in a trial.
    """
    folder = op.folder if isinstance(op, Op) else find_folder(op, kernels)
    count = (os.cpu_count() or 1) if jobs is None else jobs
    _check(count)
    kinds = check_kinds(kinds)
    layout, found = Layout.of(folder, kernels), mutants(folder, kinds)
    tick = progress or (lambda done, total: None)
    with tempfile.TemporaryDirectory(prefix="ascendsim-mutate-") as name:
        base = Path(name).resolve()
        with Workers(count, base) as workers:
            bench = _bench(layout, workers, base, soc, shape)
            left = [each for each in found if _is_fault(each, bench.narrowing)]
            judged: dict[int, Judged] = {}
            for at, told in workers.each(bench.judge, list(enumerate(left))):
                judged[at] = told
                tick(len(judged), len(left))
    rows = tuple(judged[at] for at in range(len(left)))
    return Score(folder, bench.tests, kinds, rows, bench.notes)


def _check(jobs: int) -> None:
    if jobs < 1:
        raise RequestError(f"jobs = {jobs}: use 1 or more")
    if not hasattr(os, "fork"):
        raise RequestError("mutants are judged in processes that fork, which this system lacks")


def _is_fault(mutant: Mutant, narrowing: frozenset[tuple[str, int]]) -> bool:
    return not mutant.narrows or (mutant.file, mutant.narrows) in narrowing


def _bench(
    layout: Layout,
    workers: Workers,
    base: Path,
    soc: str | None,
    shape: Shape | None,
) -> _Bench:
    """Run the kernel as it is: its tests, its trials, and its tests without a kernel."""
    tests, kept = tuple(layout.tests()), base / "kept"
    if tests and find_spec("pytest") is None:
        raise RequestError(
            f"{layout.folder} has tests, and pytest is not installed: pip install pytest"
        )
    given = {"folder": str(layout.folder), "soc": soc, "shape": shape, "file": str(kept)}
    work: list[Callable[[], Ended]] = [lambda: workers.run("survey", given, MOST_SECONDS)]
    for name, changed in (("asis", {}), ("broken", {"op_kernel.py": _UNLOADABLE})):
        if tests:
            layout.made(base / name, changed)
            work.append(
                lambda name=name: _tested(workers, layout, base / name, tests, MOST_SECONDS)  # type: ignore[misc]
            )
    ended = dict(workers.each(lambda each: each(), work))
    limits, notes = [0.0, 0.0], []
    if tests:
        tests, reason = _judging(layout, tests, ended[1], ended[2])
        notes += [reason] if reason else []
        limits[0] = _limit(ended[1])
    trials = ended[0].answer or {"error": f"it did not end ({ended[0].printed.strip()[-200:]})"}
    if "error" in trials:
        notes.append(f"no checks and no comparison of bits: {trials['error']}")
        if not tests:
            raise AscendError(f"{layout.folder} has no tests, and does not run: {trials['error']}")
    else:
        limits[1] = _limit(ended[0])
    narrowing = frozenset((file, line) for file, line in trials.get("narrowing", ()))
    usable = None if "error" in trials else kept
    seconds = limits[0], limits[1]
    return _Bench(layout, workers, base, tests, seconds, usable, tuple(notes), narrowing)


def _judging(
    layout: Layout, tests: tuple[str, ...], as_is: Ended, broken: Ended
) -> tuple[tuple[str, ...], str]:
    """Return the tests that can judge, and why they are fewer than there are.

    Raises
    ------
    AscendError
        When they fail without a fault.
    """
    if as_is.answer is not None and as_is.answer["exit"] == NO_TESTS:
        return (), f"{', '.join(tests)}: pytest finds no test to run there"
    if as_is.answer is None or as_is.answer["exit"]:
        raise AscendError(
            f"{layout.folder}: its own tests fail without any fault, so they cannot judge: "
            f"{_first(as_is)}: {_text(as_is)}"
        )
    if broken.answer is not None and broken.answer["exit"] == 0:
        return (), (
            f"{', '.join(tests)}: they pass without a kernel that can be loaded, so they do not "
            "reach it and judge nothing"
        )
    return tests, ""


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
    return _LEAST_SECONDS + _TIMES * ended.answer["seconds"]


def _first(ended: Ended) -> str:
    """Return the first test that failed, or what happened to all of them."""
    if ended.answer is None:
        return ended.how
    return ended.answer["first"] or f"pytest exits {ended.answer['exit']}"


def _text(ended: Ended) -> str:
    if ended.answer is not None and ended.answer["text"]:
        return ended.answer["text"]
    lines = [line for line in ended.printed.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
