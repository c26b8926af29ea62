"""Public bug reports as small kernels: a broken one that is caught, and its repaired twin.

A case is a folder `museum/ID` beside the kernels, with `case.py` (CASE) and two kernel folders,
`broken` and `fixed`. The broken kernel counts as caught when a check or an error names its fault,
when it gives the wrong bits that were reported, or when it does so in another order of its calls
that its tokens permit. The repaired one must be clean and give the right bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ascendsim.errors import AscendError, RequestError
from ascendsim.explore.schedules import Schedules, schedules_of
from ascendsim.host import load
from ascendsim.host.job import make_job
from ascendsim.host.loader import load_module, make_package, search_path
from ascendsim.launch import Job, Readers, launch
from ascendsim.observe.checks import TOOLS, Checks
from ascendsim.options import Options
from ascendsim.view.findings import finding_line

FOLDER, CASE_FILE = "museum", "case.py"
BITS, ORDER = "bits", "order"
ORDERS = 12  # of the calls of a block, for faults of synchronisation


@dataclass(frozen=True, slots=True)
class Case:
    """A report, and what makes it visible.

    report : where it was published; evidence : T, the values are the reporter's; D, derived from
        the cause that was reported; told : what was observed there, in a line
    caught_by : BITS, ORDER (in another order of the calls), a finding's or warning's code, or the
        name of an error
    wrong : outputs of the broken kernel as reported (for ORDER those of another order of its
        calls); right : outputs of the repaired one
    """

    title: str
    report: str
    evidence: str
    told: str
    soc: str
    inputs: Mapping[str, np.ndarray]
    caught_by: str
    right: Mapping[str, np.ndarray]
    wrong: Mapping[str, np.ndarray] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    ub: int | None = None


@dataclass(frozen=True, slots=True)
class Half:
    """What one of the two kernels did.

    said : code (or name of the error) to text of everything that was found, warned of or raised
    """

    outputs: Mapping[str, np.ndarray]
    said: Mapping[str, str]
    orders: Schedules | None


@dataclass(frozen=True, slots=True)
class Told:
    """The answer for one case."""

    id: str
    case: Case
    caught: bool
    got: str
    clean: bool
    fixed: str

    def to_json(self) -> dict[str, Any]:
        """Return an entry of the document of `ascendsim museum --json`."""
        case = self.case
        return {
            "id": self.id,
            "caught": self.caught,
            "reported": case.told,
            "got": self.got,
            "by": case.caught_by,
            "fixed_clean": self.clean,
            "fixed": self.fixed,
            "title": case.title,
            "report": case.report,
            "evidence": case.evidence,
            "soc": case.soc,
        }


def words(dtype: Any, *patterns: int) -> np.ndarray:
    """Return values of a numpy type with these bits."""
    size = np.dtype(dtype).itemsize
    return np.array(patterns, f"u{size}").view(dtype)


def find_cases(kernels: Iterable[str | os.PathLike[str]] = ()) -> dict[str, Path]:
    """Return {ID: folder} of all cases on the search path, in the order of letter and number."""
    found: dict[str, Path] = {}
    for base in search_path(kernels):
        for folder in sorted((base / FOLDER).glob(f"*/{CASE_FILE}")):
            found.setdefault(folder.parent.name, folder.parent)
    return dict(sorted(found.items(), key=lambda item: (item[0][:1], len(item[0]), item[0])))


def load_case(folder: Path) -> Case:
    """Return the case of a folder.

    Raises
    ------
    RequestError
        When it cannot be loaded.
    """
    case = getattr(load_module(make_package(folder), folder / CASE_FILE), "CASE", None)
    if not isinstance(case, Case):
        raise RequestError(f"{folder / CASE_FILE} does not set CASE = Case(...)")
    return case


def run_museum(
    wanted: str | None = None, kernels: Iterable[str | os.PathLike[str]] = ()
) -> list[Told]:
    """Run all cases, or the one that is asked for.

    Raises
    ------
    RequestError
        When there is no such case.
    """
    cases = find_cases(kernels)
    if wanted is not None and wanted not in cases:
        raise RequestError(f"museum has no case {wanted!r}: {', '.join(cases) or 'none at all'}")
    chosen = cases if wanted is None else {wanted: cases[wanted]}
    return [run_case(name, folder) for name, folder in chosen.items()]


def run_case(name: str, folder: Path) -> Told:
    """Run both kernels of a case and judge them."""
    case = load_case(folder)
    broken, fixed = (_run(case, folder / half) for half in ("broken", "fixed"))
    caught, got = _caught(case, broken)
    clean, text = _clean(case, fixed)
    return Told(name, case, caught, got, clean, text)


def _run(case: Case, folder: Path) -> Half:
    op = load(folder)
    options = Options.of(settings=case.options)
    try:
        shapes = {name: array.shape for name, array in case.inputs.items()}
        types = {name: array.dtype.name for name, array in case.inputs.items()}
        tiling = op.tiling(shapes, types, soc=case.soc, ub=case.ub)
        job = make_job(op, case.inputs, tiling, None, 0, options)
        checks = Checks(TOOLS, options, defined=tuple(job.inputs))
        result = launch(job, Readers(checks=checks))
    except AscendError as error:
        return Half({}, {type(error).__name__: str(error)}, None)
    said = {finding.code: finding_line(finding) for finding in checks.all()}
    for warning in result.warnings:
        said.setdefault(warning.partition(": ")[0], warning)
    return Half(result.outputs, said, None if "stopped" in said else _orders(case, job))


def _orders(case: Case, job: Job) -> Schedules | None:
    """Try other orders of the calls where the fault is one of order."""
    of_order = case.caught_by == ORDER or case.caught_by.startswith("racecheck:")
    return schedules_of(job, ORDERS) if of_order else None


def _caught(case: Case, broken: Half) -> tuple[bool, str]:
    """Tell whether the broken kernel was caught as the case says, and what happened."""
    if case.caught_by == BITS:
        if not broken.outputs:
            return False, _all(broken.said)
        same = all(_same(broken.outputs[name], want) for name, want in case.wrong.items())
        return same, _first_apart(broken.outputs, case.right)
    if case.caught_by == ORDER:
        if broken.orders is None or broken.orders.witness is None:
            return False, _all(broken.said) or "no order differs"
        tensor, element, _, _, got = broken.orders.witness.difference
        want = case.wrong.get(tensor)
        same = want is not None and _word(want, element) == got
        return same, f"{broken.orders.hazard}: {broken.orders.witness}"
    found = broken.said.get(case.caught_by)
    if found is None:
        return False, _all(broken.said) or "nothing was found"
    if any(not _same(broken.outputs[name], want) for name, want in case.wrong.items()):
        return False, f"{found}; but {_first_apart(broken.outputs, case.wrong)}"
    if broken.orders is not None and broken.orders.witness is not None:
        return True, f"{found}; in another order {broken.orders.witness}"
    return True, found


def _clean(case: Case, fixed: Half) -> tuple[bool, str]:
    """Tell whether the repaired kernel is clean and right, and what it gave."""
    if fixed.said:
        return False, _all(fixed.said)
    if fixed.orders is not None and (fixed.orders.differing or fixed.orders.races):
        return False, f"other orders differ: {fixed.orders.hazard}"
    for name, want in case.right.items():
        if not _same(fixed.outputs[name], want):
            return False, _first_apart(fixed.outputs, case.right)
    name, want = next(iter(case.right.items()))
    return True, f"{name}[0] = {_shown(fixed.outputs[name], 0)}"


def _first_apart(got: Mapping[str, np.ndarray], right: Mapping[str, np.ndarray]) -> str:
    """Return the first element that is not right, and how many there are."""
    for name, want in right.items():
        apart = np.flatnonzero(_bits(got[name]) != _bits(want))
        if apart.size:
            at = int(apart[0])
            return (
                f"{name}[{at}] = {_shown(got[name], at)}, right is {_shown(want, at)} "
                f"({apart.size} of {want.size} elements wrong)"
            )
    return "all bits are right"


def _shown(array: np.ndarray, at: int) -> str:
    value = np.asarray(array).ravel()[at]
    return f"{value!s} = {_word(array, at):#0{2 + 2 * value.dtype.itemsize}x}"


def _all(said: Mapping[str, str]) -> str:
    return "; ".join(said.values())


def _same(got: np.ndarray, want: np.ndarray) -> bool:
    same_kind = got.dtype == want.dtype and got.shape == want.shape
    return same_kind and bool((_bits(got) == _bits(want)).all())


def _word(array: np.ndarray, at: int) -> int:
    return int(_bits(array)[at])


def _bits(array: np.ndarray) -> np.ndarray:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"u{flat.dtype.itemsize}")
