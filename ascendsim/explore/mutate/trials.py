"""What judges a mutant beside the kernel's own tests: the checks, and its bits on seeded inputs.

A trial is a small launch that has what faults need to show: several blocks, several tiles per
block, a tail, a count that no power of two divides. Its UB is made small for that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ascendsim.enums import PIPE
from ascendsim.errors import AscendError, RequestError
from ascendsim.explore.inputs import seeded_inputs
from ascendsim.explore.minimize import SEEDED_INPUTS
from ascendsim.host import Op, Tiling
from ascendsim.host.job import make_job
from ascendsim.launch import Job, Readers, launch
from ascendsim.observe.checks import ERROR, TOOLS, Checks
from ascendsim.options import Options
from ascendsim.record import Instr

Shape = tuple[int, ...] | Mapping[str, tuple[int, ...]]
Key = tuple[str, str, int]  # code, file and line of what a check found
Outputs = Mapping[str, np.ndarray]

CORES, TILES = 2, 3  # blocks, and tiles of the first one, at least
AUTO_SYNC = ("on", "off")
MOST_TYPES = 8  # combinations of element types that are tried
_MOST_PLACES = 1000  # that are looked at for a witness, of one output on one input
_UB_BYTES = tuple(32 * number for number in (71, 139, 283, 571, 1153, 2273, 4561))
_ELEMENTS = (1605, 3205, 6405, 12805, 1600, 3200, 2048, 4096, 16384)
_SHAPES: tuple[Shape, ...] = (*((n,) for n in _ELEMENTS), (21, 77), (64, 64))


@dataclass(frozen=True, slots=True)
class Trial:
    """A launch by its request: element types, shape, chip, and the UB that tiling is told."""

    dtypes: Mapping[str, str]
    shape: Shape
    soc: str
    ub: int | None

    def tiling(self, op: Op) -> Tiling:
        """Return the tiling of this launch."""
        return op.tiling(self.shape, dict(self.dtypes), soc=self.soc, cores=CORES, ub=self.ub)

    def job(self, op: Op, auto_sync: str = "on") -> Job:
        """Return the job on the first of the seeded inputs."""
        (arrays,) = self.inputs(op, 1)
        return make_job(op, arrays, self.tiling(op), None, 0, Options(auto_sync=auto_sync))

    def inputs(self, op: Op, count: int = SEEDED_INPUTS) -> list[Outputs]:
        """Return the first of the seeded inputs, by default all."""
        types = op.definition.choose_dtypes(self.dtypes)
        wanted = {name: types[name] for name in op.definition.inputs}
        return list(seeded_inputs(wanted, self.shape, 0, count))

    def outputs(self, op: Op) -> Iterator[Outputs]:
        """Yield the outputs of every seeded input, in step mode: no plan is kept or used."""
        tiling = self.tiling(op)
        for arrays in self.inputs(op):
            job = make_job(op, arrays, tiling, None, 0, Options())
            yield launch(job, Readers()).outputs

    def said(self, op: Op, auto_sync: str) -> dict[Key, None]:
        """Return what the checks find on one input and the launch warns of, errors first.

        Raises
        ------
        AscendError
            When the run raises what no check knows.
        """
        job = self.job(op, auto_sync=auto_sync)
        checks = Checks(TOOLS, job.options, defined=tuple(job.inputs))
        result = launch(job, Readers(checks=checks))
        found = sorted(checks.all(), key=lambda each: each.severity != ERROR)
        keys = [(each.code, *_place(each.where)) for each in found]
        warned = (text.partition(": ")[0] for text in result.warnings)
        return dict.fromkeys([*keys, *((code, "", 0) for code in warned)])


def _place(where: tuple[str, int] | None) -> tuple[str, int]:
    return ("", 0) if where is None else (Path(where[0]).name, where[1])


class _Reach:
    """An observer that counts tiles, and notes the lines of the Casts that lose bits."""

    def __init__(self) -> None:
        self._copies: Counter[tuple[str, int]] = Counter()
        self.blocks: set[int] = set()
        self.narrowing: set[tuple[str, int]] = set()

    def before(self, instr: Instr) -> None:
        """Do nothing."""

    def after(self, instr: Instr) -> None:
        """Take a record."""
        call, where = instr.call, instr.where
        self.blocks.add(instr.block)
        if call.pipe is PIPE.PIPE_MTE3 and instr.block == 0:
            self._copies[where.file, where.line] += 1
        if call.name == "Cast":
            stored = next(each.dtype for each in call.accesses if each.writes)
            read = next(each.dtype for each in call.accesses if not each.writes)
            if stored.nbytes < read.nbytes or (stored.kind, read.kind) == ("int", "float"):
                self.narrowing.add((Path(where.file).name, where.line))

    @property
    def rank(self) -> tuple[bool, bool]:
        """Return how much of what a trial should have is there."""
        tiles = max(self._copies.values(), default=0)
        return tiles >= TILES, len(self.blocks) >= CORES


def find_trials(
    op: Op, soc: str | None, shape: Shape | None
) -> tuple[list[Trial], list[tuple[str, int]]]:
    """Return a trial per combination of element types, and the lines of the Casts that lose bits.

    shape : of all inputs, or by input; None lets it be found

    Raises
    ------
    AscendError
        When the kernel runs with none that is tried; the error is that of the last one.
    """
    trials, narrowing, last = [], set(), None
    chip = soc or op.definition.socs[0]
    for types in op.definition.combinations[:MOST_TYPES]:
        named = {name: types[name].name for name in op.definition.inputs}
        try:
            trial, seen = _best(op, named, chip, shape)
        except AscendError as error:
            last = error
            continue
        trials.append(trial)
        narrowing |= seen
    if not trials:
        raise last or RequestError(f"{op.name} takes no element types")
    return trials, sorted(narrowing)


def _best(
    op: Op, dtypes: Mapping[str, str], soc: str, shape: Shape | None
) -> tuple[Trial, set[tuple[str, int]]]:
    """Return the first trial with all that is wanted, else the first of those with most of it.

    The smallest UB in which the kernel runs decides: in a larger one tiles are fewer.
    """
    last: AscendError | None = None
    for ub in (*_UB_BYTES, None):
        best: tuple[Trial, _Reach] | None = None
        for size in (shape,) if shape is not None else _SHAPES:
            trial, seen = Trial(dtypes, size, soc, ub), _Reach()
            try:
                launch(trial.job(op), Readers((seen,)))
            except AscendError as error:
                last = error
                continue
            if best is None or seen.rank > best[1].rank:
                best = trial, seen
            if all(seen.rank):
                break
        if best is not None:
            return best[0], best[1].narrowing
    raise last or RequestError(f"{op.name} does not run")


def witness(op: Op, trial: Trial, want: list[Outputs], got: list[Outputs]) -> dict[str, Any] | None:
    """Return the plainest element that differs, with the inputs there; None when none does."""
    found: list[tuple[Any, dict[str, Any]]] = []
    differing = 0
    for arrays, right, made in zip(trial.inputs(op), want, got, strict=True):
        places = list(_apart(right, made))
        differing += bool(places)
        for tensor, at in places:
            beside = {name: a for name, a in arrays.items() if a.size == right[tensor].size}
            values = [a.reshape(-1)[at] for a in (*beside.values(), right[tensor], made[tensor])]
            shown = {
                "tensor": tensor,
                "index": at,
                "got": bits_of(made[tensor], at),
                "want": bits_of(right[tensor], at),
                "inputs": {name: shown_of(a, at) for name, a in beside.items()},
                "dtype": right[tensor].dtype.name,
            }
            found.append((_strange(values), shown))
    if not found:
        return None
    return min(found, key=lambda each: each[0])[1] | {"of": SEEDED_INPUTS, "differing": differing}


def _apart(right: Outputs, made: Outputs) -> Iterator[tuple[str, int]]:
    """Yield output and index of the elements that differ, the first of each output."""
    for tensor, want in right.items():
        for at in np.flatnonzero(_words(want) != _words(made[tensor]))[:_MOST_PLACES]:
            yield tensor, int(at)


def _strange(values: list[Any]) -> tuple[int, bool, int]:
    """Return how little values show: not finite, then hardly apart, then long to write."""
    *_, want, got = numbers = [float(value) for value in values]
    close = abs(want - got) <= abs(want) / 16
    strange = sum(not math.isfinite(each) for each in numbers)
    return strange, close, sum(len(str(each)) for each in values)


def shown_of(array: np.ndarray, at: int) -> str:
    """Return an element as a number with its bits."""
    return f"{array.reshape(-1)[at]!s} = {bits_of(array, at)}"


def bits_of(array: np.ndarray, at: int) -> str:
    """Return the bits of an element."""
    words = _words(array)
    return f"{int(words[at]) if at < words.size else 0:#0{2 + 2 * words.itemsize}x}"


def _words(array: np.ndarray) -> np.ndarray:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"u{flat.dtype.itemsize}")
