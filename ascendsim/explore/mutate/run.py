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
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from ascendsim.errors import RequestError
from ascendsim.explore.mutate.bench import bench_of
from ascendsim.explore.mutate.copies import Layout
from ascendsim.explore.mutate.faults import check_kinds, mutants
from ascendsim.explore.mutate.score import Judged, Score
from ascendsim.explore.mutate.source import Mutant
from ascendsim.explore.mutate.trials import Shape
from ascendsim.explore.mutate.workers import Workers
from ascendsim.host import Op, load
from ascendsim.host.lists import with_counts
from ascendsim.host.loader import find_folder

Progress = Callable[[int, int], None]


def mutate(
    op: Op | str | os.PathLike[str],
    *,
    kinds: Iterable[str] = (),
    soc: str | None = None,
    shape: Shape | None = None,
    jobs: int | None = None,
    kernels: Sequence[str | os.PathLike[str]] = (),
    lists: Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> Score:
    """Put faults into a kernel, one at a time, and say who notices.

    Parameters
    ----------
    op : a kernel as `load` takes it; its folder is copied and never written to
    kinds : classes of faults (faults.KINDS), () for all
    soc, shape : chip of the trials, and shape (one for all inputs, or by input; None: found)
    jobs : mutants that are judged at once, default one per CPU
    lists : tensors in the tensor lists of the kernel, in the trials (default: those of op, or one)
    progress : takes (mutants judged, mutants)

    Raises
    ------
    RequestError
        When the kernel, a kind or the number of jobs is unknown, or pytest is not installed.
    AscendError
        When the kernel's own tests fail as it is, or it runs neither in them nor in a trial.
    """
    folder = op.folder if isinstance(op, Op) else find_folder(op, kernels)
    kinds, count = check_kinds(kinds), (os.cpu_count() or 1) if jobs is None else jobs
    layout, found = Layout.of(folder, kernels), mutants(folder, kinds)
    testing = bool(layout.tests())
    _check(folder, count, testing)
    counts = dict(lists or (op.lists if isinstance(op, Op) else {}))
    if counts:
        with_counts(load(folder), counts)  # says what is wrong with them
    tick = progress or (lambda done, total: None)
    with tempfile.TemporaryDirectory(prefix="ascendsim-mutate-") as name:
        base = Path(name).resolve()
        with Workers(min(count, max(len(found), 1)), base, testing) as workers:
            bench = bench_of(layout, workers, base, {"soc": soc, "shape": shape, "lists": counts})
            left = [each for each in found if _is_fault(each, bench.narrowing)]
            judged: dict[int, Judged] = {}
            for at, told in workers.each(bench.judge, list(enumerate(left))):
                judged[at] = told
                tick(len(judged), len(left))
    rows = tuple(judged[at] for at in range(len(left)))
    return Score(folder, bench.tests, kinds, rows, bench.notes)


def _check(folder: Path, jobs: int, testing: bool) -> None:
    if jobs < 1:
        raise RequestError(f"jobs = {jobs}: use 1 or more")
    if not hasattr(os, "fork"):
        raise RequestError("mutants are judged in processes that fork, which this system lacks")
    if testing and find_spec("pytest") is None:
        raise RequestError(f"{folder} has tests, and pytest is not installed: pip install pytest")


def _is_fault(mutant: Mutant, narrowing: frozenset[tuple[str, int]]) -> bool:
    return not mutant.narrows or (mutant.file, mutant.narrows) in narrowing
