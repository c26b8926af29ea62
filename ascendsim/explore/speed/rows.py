"""The rows of `ascendsim bench`: one ratio each, with the target where there is one.

A ratio "a / b" says how many times faster a is than b. Targets stand in the `TARGETS` of an
operator's op_ref.py, {ratio: {type: number}}; "fused loop / C" has one for every operator.

Loops are compared as such: seconds of the loop alone, each into an array that is new each time; all
other contestants with the whole of their call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from ascendsim.dtypes import float32
from ascendsim.errors import RequestError
from ascendsim.explore.atlas.sides import KernelSide
from ascendsim.explore.atlas.space import space_of
from ascendsim.explore.atlas.survey import Survey, measured
from ascendsim.explore.speed import peers
from ascendsim.explore.speed.about import machine, versions
from ascendsim.explore.speed.c_loop import CLoop
from ascendsim.explore.speed.measure import Times, Work, alternated
from ascendsim.explore.speed.random_kernels import Size, random_kernel
from ascendsim.explore.speed.recording import recordings
from ascendsim.explore.speed.row import Row, compared
from ascendsim.explore.speed.subject import Subject, c_seconds, one_thread
from ascendsim.host import Op, find_ops, load
from ascendsim.host.lists import with_counts
from ascendsim.launch import Job, Readers, run
from ascendsim.observe.checks import TOOLS

FUSED_TARGET, FUSED_OVER_REPLAY = 0.9, 3.0
RANDOM_KERNELS, RANDOM_QUICK = (200, 300.0), (8, 8.0)  # how many, within how many seconds
RANDOM_SIZE = Size(1 << 18, 2048, 8)
QUICK_SECONDS = 20.0  # after them one round has to do
ELEMENTS, LAUNCH_ELEMENTS, LAUNCH_CORES = 1_000_000, 10_000, 48
RECORDED_ELEMENTS, EVERY_FLOAT32 = 100_000, 1 << 32
ATLAS_SECONDS = 60.0
PAIRS = (("step", "numpy"), ("replay", "numpy"), ("fused loop", "C"), ("fused", "C"))
CHECKED = "all checks / step"
LAUNCH_SECONDS = {"step": 1e-3, "replay": 0.15e-3}
#: stretches of x that stand for all of them: subnormal, small, around one and three, large, NaN
STRETCHES = (0, 0x30000000, 0x3F800000, 0x40000000, 0x60000000, 0x7F800000, 0xBF800000, 0xC0000000)

#: takes 1, or 0 for a single round
Step = Callable[[float], list["Row"]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What one run of the bench found."""

    machine: dict[str, Any]
    versions: dict[str, str]
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ascendsim bench --json`."""
        rows = [row.to_json() for row in self.rows]
        return {"machine": self.machine, "versions": self.versions, "rows": rows}


def bench(
    ops: Sequence[Op | str] = (),
    quick: bool = False,
    progress: Progress | None = None,
    kernels: tuple[str, ...] = (),
) -> Report:
    """Measure operators (default: all that are found and have a naive expression).

    Launches run on one thread. `quick` takes fewer and shorter rounds, and leaves the other
    simulators out for 16-bit types.

    Raises
    ------
    RequestError
        When an operator is unknown.
    """
    chosen = [with_counts(load(op, kernels), {}) for op in ops or find_ops(kernels)]
    if not ops:
        chosen = [op for op in chosen if hasattr(op.ref, "naive")]
    steps = [step for op in chosen for step in _steps(op, quick)]
    if not ops:
        steps.append(partial(_random, quick))
    tick = progress or (lambda done, total: None)
    rows: list[Row] = []
    began = time.monotonic()
    with one_thread():
        for done, step in enumerate(steps):
            tick(done, len(steps))
            hurried = quick and time.monotonic() - began > QUICK_SECONDS
            rows += step(0.0 if hurried else 1.0)
    tick(len(steps), len(steps))
    return Report(machine(), versions(), tuple(rows))


def _steps(op: Op, quick: bool) -> Iterator[Step]:
    """Yield the measurements of an operator; each makes some rows."""
    types = dict.fromkeys(c[op.definition.inputs[0]] for c in op.definition.combinations)
    for dtype in types:
        yield partial(_modes, Subject.of(op, dtype, ELEMENTS), quick)
    if float32 not in types:
        return
    targets = getattr(op.ref, "TARGETS", {})
    if any(name.endswith("launch") for name in targets):
        yield partial(_launches, op, 50 if quick else 300)
    if any(name.startswith("record=") for name in targets):
        yield partial(recordings, op, RECORDED_ELEMENTS, 9 if quick else 30)
    if CHECKED in targets:
        yield partial(_checked, op, 5 if quick else 15)
    if "fused loop / triad" in targets:
        yield partial(_large, op, 20_000_000 if quick else 100_000_000)
    for attrs in getattr(op.ref, "SWEPT_ATTRS", ()):
        yield partial(_sweep, op, attrs, 1 << (20 if quick else 25))


def _modes(subject: Subject, quick: bool, most: float) -> list[Row]:
    works, skipped = subject.ways()
    times = alternated(works, 5 if quick else 15, most * (1.0 if quick else 20.0))
    rows = [_row(subject, one, two, times, skipped) for one, two in PAIRS]
    values = list(subject.arrays.values())
    for name, peer in (("Pallas interpret", peers.pallas), ("Triton interpret", peers.triton)):
        if quick and (subject.dtype is not float32 or not most):
            continue
        work = peer(subject.op, values)
        if isinstance(work, str):
            rows.append(_row(subject, "step", name, {}, {name: work}))
            continue
        times = alternated({"step": works["step"], name: work}, 3, most * (1.0 if quick else 10.0))
        rows.append(_row(subject, "step", name, times, {}))
    return rows


def _row(
    subject: Subject, one: str, two: str, times: dict[str, Times], skipped: dict[str, str]
) -> Row:
    name = f"{one} / {two}"
    own = getattr(subject.op.ref, "TARGETS", {}).get(name, {})
    target = own.get(subject.dtype.name, FUSED_TARGET if name == "fused loop / C" else None)
    label = f"{subject.label}: {name}"
    missing = [f"{each}: {skipped[each]}" for each in (one, two) if each in skipped]
    if missing:
        return Row(label, None, target, note="; ".join(missing))
    return compared(label, target, {one: times[one], two: times[two]})


def _launches(op: Op, rounds: int, most: float) -> list[Row]:
    """Time small launches on many cores, against the time that they may take."""
    subject = Subject.of(op, float32, LAUNCH_ELEMENTS, LAUNCH_CORES)
    rows = []
    for mode, allowed in LAUNCH_SECONDS.items():
        name = f"{allowed * 1e3:g} ms / {mode} launch"
        target = getattr(op.ref, "TARGETS", {}).get(name, {}).get("float32")
        label = f"{subject.label}: {name} of {LAUNCH_ELEMENTS} on {LAUNCH_CORES} cores"
        ran = subject.launch(mode)
        if ran.mode != mode:
            rows.append(Row(label, None, target, note=f"ran as {ran.mode}: {ran.fallback}"))
            continue
        times = alternated({mode: partial(subject.launch, mode)}, rounds, 20 * most)[mode]
        seconds = {mode: (times.best, times.middle)}
        rows.append(Row(label, allowed / times.best, target, allowed / times.middle, seconds))
    return rows


def _checked(op: Op, rounds: int, most: float) -> list[Row]:
    """Time step mode with all four checks reading along against step mode alone."""
    subject = Subject.of(op, float32, ELEMENTS)
    works: dict[str, Work] = {
        "all checks": partial(subject.checked, TOOLS),
        "step": partial(subject.launch, "step"),
    }
    target = op.ref.TARGETS[CHECKED].get("float32")  # type: ignore[union-attr]
    times = alternated(works, rounds, 20 * most)
    return [compared(f"{subject.label}: {CHECKED}", target, times)]


def _large(op: Op, elements: int, most: float) -> list[Row]:
    """Time fused on arrays beyond every cache, against what memory allows."""
    subject = Subject.of(op, float32, elements)
    target = op.ref.TARGETS["fused loop / triad"].get("float32")  # type: ignore[union-attr]
    label = f"{subject.label}: fused loop / triad at {elements:.0e} elements".replace("e+0", "e")
    ran = subject.launch("fused")
    if ran.mode != "fused":
        return [Row(label, None, target, note=f"ran as {ran.mode}: {ran.fallback}")]
    del ran
    try:
        loop = CLoop(op, float32, {})
    except RequestError as error:
        return [Row(label, None, target, note=str(error))]
    one, two = list(subject.arrays.values())[:2]

    def triad() -> float:
        return c_seconds(lambda values, out: loop.triad(values[0], values[1], out), (one, two))

    works: dict[str, Work] = {"fused loop": subject.loops, "triad": triad}
    return [compared(label, target, alternated(works, 4, 30 * most))]


def _random(quick: bool, most: float) -> list[Row]:
    """Time the blocks of random kernels, fused and by replay; the row is the median ratio."""
    count, limit = RANDOM_QUICK if quick else RANDOM_KERNELS
    ratios, skipped, began = [], 0, time.monotonic()
    for seed in range(count):
        if time.monotonic() - began > limit * max(most, 0.5):
            break
        job = random_kernel(seed, size=RANDOM_SIZE)
        if run(job, Readers(), "fused").mode != "fused":
            skipped += 1
            continue
        works: dict[str, Work] = {m: partial(_blocks, job, m) for m in ("fused", "replay")}
        times = alternated(works, 5)
        ratios.append(times["replay"].best / times["fused"].best)
    label = "random elementwise kernels: fused / replay"
    note = f"median of {len(ratios)} kernels; {skipped} more did not run fused"
    return [Row(label, median(ratios) if ratios else None, FUSED_OVER_REPLAY, note=note)]


def _blocks(job: Job, mode: str) -> float:
    return run(job, Readers(), mode).result.seconds


def _sweep(op: Op, attrs: dict[str, str], count: int, most: float) -> list[Row]:
    """Time an atlas with checksum against a C loop, on stretches of x."""
    space = space_of(op, "float32", {})
    survey = Survey(space, KernelSide(str(op.folder), attrs=attrs, lists=op.lists), None)
    shown = "".join(f" {name}={value}" for name, value in attrs.items())
    target = getattr(op.ref, "TARGETS", {}).get("atlas / C", {}).get("float32")
    label = f"{op.name} float32{shown}: atlas / C"
    try:
        loop = CLoop(op, float32, attrs)
    except RequestError as error:
        return [Row(label, None, target, note=str(error))]
    ones = [np.float32(1)] * (len(op.definition.inputs) - 1)
    starts = [start - start % count for start in STRETCHES]

    def ours() -> list[int]:
        return [measured(survey, start, start + count).checksum for start in starts]

    def theirs() -> list[int]:
        return [loop.sweep(start, count, ones) for start in starts]  # type: ignore[arg-type]

    same = ours() == theirs()
    times = alternated({"atlas": ours, "C": theirs}, 5, 30 * most)
    survey.close()
    if not same:
        return [Row(label, None, target, note="the C loop gives another checksum")]
    every = f"{op.name} float32{shown}: {ATLAS_SECONDS:g} s / atlas of every x"
    return [compared(label, target, times), _every(every, times["atlas"], count * len(starts))]


def _every(label: str, times: Times, inputs: int) -> Row:
    """Return how long an atlas of every float32 takes at this rate, against what it may."""
    best, middle = (s * EVERY_FLOAT32 / inputs for s in (times.best, times.middle))
    allowed = ATLAS_SECONDS
    return Row(label, allowed / best, 1.0, allowed / middle, {"every x": (best, middle)})


__all__ = ["Report", "Row", "bench", "compared", "machine", "versions"]
