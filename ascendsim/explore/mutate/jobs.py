"""What a child of a server does (server.py): run tests, find trials, judge a mutant.

Arguments and answers are JSON, since they travel between processes; what the trials of the kernel
as it is gave is kept in a file of our own making.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ascendsim import soc as socs
from ascendsim.errors import AscendError
from ascendsim.explore.mutate.trials import AUTO_SYNC, Trial, find_trials, witness
from ascendsim.host import load
from ascendsim.host.lists import with_counts

_NEEDED = ("ml_dtypes", "ascendsim.api", "ascendsim.launch.plans", "ascendsim.host.aclnn")
NO_TESTS = 5  # pytest's exit code
_LINE = 200  # characters of an error


def prepare(empty: str) -> None:
    """Import what children need, so that each starts with it: the chips, pytest's plugins, too.

    empty : a directory without tests; a run of pytest there is what loads its plugins ("": none)
    """
    for name in _NEEDED:
        importlib.import_module(name)
    for chip in socs.NAMES:
        socs.load(chip)
    if empty:
        import pytest

        pytest.main(["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", empty, empty])
    gc.freeze()  # a child's collection would touch, and so copy, all of this


class _First:
    """A plugin of pytest that keeps the first failure: its test, and what was raised."""

    def __init__(self) -> None:
        self.name, self.text, self.passed = "", "", 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take the report of a test."""
        self.passed += report.when == "call" and report.passed
        self._take(report)

    def pytest_collectreport(self, report: Any) -> None:
        """Take the report of a file that is read."""
        self._take(report)

    def _take(self, report: Any) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid.rpartition("/")[2] or report.nodeid
            crash = getattr(report.longrepr, "reprcrash", None)
            lines = [line for line in str(report.longrepr).splitlines() if line.startswith("E  ")]
            text = crash.message if crash else lines[-1][1:] if lines else str(report.longrepr)
            text = (text.strip().splitlines() or [""])[0]
            self.text = f"{_syntax_place(lines)}{text}"[:_LINE]


def _syntax_place(lines: list[str]) -> str:
    """Return `file:line: ` where a syntax error of a test file names it, else ""."""
    found = re.findall(r'^E +File "(.+)", line (\d+)$', "\n".join(lines), re.M)
    return f"{Path(found[-1][0]).name}:{found[-1][1]}: " if found else ""


def run_tests(
    here: str, path: list[str], environment: dict[str, str], files: list[str]
) -> dict[str, Any]:
    """Run test files as `python -m pytest -x -q` does there; return how it went."""
    import pytest

    os.chdir(here)
    os.environ.update(environment)
    sys.path[:0] = path
    sys.dont_write_bytecode = True
    first, started = _First(), time.monotonic()
    code = int(pytest.main(["-x", "-q", *files], plugins=[first]))
    seconds = time.monotonic() - started
    known = {"first": first.name, "text": first.text, "passed": first.passed}
    return known | {"exit": code, "seconds": seconds}


def survey(
    folder: str, soc: str | None, shape: Any, file: str, lists: dict[str, int]
) -> dict[str, Any]:
    """Find the trials of the kernel as it is and keep what they give in `file`."""
    try:
        op = with_counts(load(Path(folder)), lists)
        trials, narrowing = find_trials(op, soc, _shape(shape))
        started = time.monotonic()
        kept = [
            (
                trial,
                list(trial.outputs(op)),
                {mode: trial.said(op, mode) for mode in AUTO_SYNC},
            )
            for trial in trials
        ]
    except AscendError as error:
        return {"error": str(error)}
    Path(file).write_bytes(pickle.dumps(kept))
    seconds = time.monotonic() - started
    shapes = [
        {"dtypes": dict(t.dtypes), "shape": t.shape, "soc": t.soc, "ub": t.ub} for t in trials
    ]
    return {"trials": shapes, "narrowing": narrowing, "seconds": seconds}


def _shape(given: Any) -> Any:
    """Return a shape that travelled as JSON: of lists."""
    if isinstance(given, dict):
        return {name: tuple(each) for name, each in given.items()}
    return None if given is None else tuple(given)


def judge(folder: str, file: str, auto_sync: str, lists: dict[str, int]) -> dict[str, Any]:
    """Say what the checks find in a mutant and not in the kernel as it is, and which bits differ.

    file : what `survey` kept
    """
    kept = pickle.loads(Path(file).read_bytes())
    try:
        op = with_counts(load(Path(folder)), lists)
        for trial, _, known in kept:
            fresh = [key for key in trial.said(op, auto_sync) if key not in known[auto_sync]]
            if fresh:
                return {"checks": fresh[0][0], "witness": None}
        return {"checks": None, "witness": _first_witness(op, kept)}
    except AscendError as error:
        return {"checks": type(error).__name__, "witness": None}


def _first_witness(op: Any, kept: list[tuple[Trial, list[Any], Any]]) -> dict[str, Any] | None:
    for trial, want, _ in kept:
        found = witness(op, trial, want, list(trial.outputs(op)))
        if found is not None:
            return found
    return None


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "tests": run_tests,
    "survey": survey,
    "judge": judge,
}
