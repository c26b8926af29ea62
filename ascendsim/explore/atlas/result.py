"""The result of an atlas: the document that `ascendsim atlas --json` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendsim.explore.atlas.parting import parting
from ascendsim.explore.atlas.sides import Source
from ascendsim.explore.atlas.space import Space
from ascendsim.explore.atlas.survey import State, Survey
from ascendsim.explore.atlas.totals import Run, Totals
from ascendsim.numerics.differences import (
    BINS,
    BOUNDARY,
    CLASSES,
    FLUSH,
    NAN,
    NO_ULP,
    OVERFLOW,
    ROUNDING,
)

ZOOMED = (BOUNDARY, OVERFLOW, FLUSH, NAN, ROUNDING)
ZOOMS, AROUND = 3, 6  # runs of a class to look at closely, patterns on each side
MOST_ZOOMS = 8


@dataclass(frozen=True, slots=True)
class Atlas:
    """Every input, compared.

    totals : counts, runs and bins; examples : the kept runs with their neighbours, class by
    class; zooms : both results around the first runs; parting : for the first run of a class, the
    first instruction at which the sides part.
    """

    space: Space
    one: dict[str, Any]
    two: dict[str, Any] | None
    totals: Totals
    seconds: float
    examples: list[dict[str, Any]] = field(default_factory=list)
    zooms: list[dict[str, Any]] = field(default_factory=list)
    parting: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def mismatches(self) -> int:
        """How many inputs differ."""
        return sum(self.totals.counts)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `ascendsim atlas --json`."""
        totals = self.totals
        return {
            "op": self.one["name"],
            "dtype": self.space.x.name,
            "out_dtype": self.space.out.name,
            "attrs": self.one["attrs"],
            "fixed": {f"{name}_bits": bits for name, bits in self.space.fixed.items()},
            "against": self.two,
            "inputs": self.space.size,
            "seconds": self.seconds,
            "mismatches": self.mismatches,
            "classes": dict(zip(CLASSES, totals.counts, strict=True)),
            "runs": dict(zip(CLASSES, totals.run_counts, strict=True)),
            "exact": totals.exact,
            "parting": self.parting,
            "examples": self.examples,
            "checksum": f"{totals.checksum:016x}",
        }

    def profile(self) -> list[tuple[float, float, int, int]]:
        """Return (lowest x, highest x, worst ULP, differing inputs) of every bin, in order of x."""
        width, dtype = self.space.row // BINS, self.space.x
        bits = np.arange(BINS, dtype=np.uint64) * np.uint64(width)
        with np.errstate(invalid="ignore"):  # patterns of NaN
            ends = [
                (bits + np.uint64(offset)).astype(dtype.bits).view(dtype.numpy).astype(float)
                for offset in (0, width - 1)
            ]
        totals, rows = self.totals, []
        for k, (a, b) in enumerate(zip(*(each.tolist() for each in ends), strict=True)):
            if np.isfinite(a) and np.isfinite(b):
                counts = totals.worst.get(k, 0), totals.differing.get(k, 0)
                rows.append((min(a, b), max(a, b), *counts))
        return sorted(rows)


def made(survey: Survey, state: State) -> Atlas:
    """Return the result of a survey that has visited every input."""
    totals = state.totals
    one, two = survey.open()
    examples = [] if two is None else _examples(survey.space, one, two, totals)
    zooms = [] if two is None else list(_zooms(survey.space, one, two, totals))
    parts = {
        CLASSES[kind]: parting(survey, runs[0].start)
        for kind, runs in enumerate(totals.runs)
        if runs
    }
    survey.close()
    described = None if survey.two is None else survey.two.describe()
    head = (survey.space, survey.one.describe(), described, totals, state.seconds)
    return Atlas(*head, examples, zooms, parts)


def _examples(space: Space, one: Source, two: Source, totals: Totals) -> list[dict[str, Any]]:
    """Return the kept runs with the results just before and behind them."""
    half = space.row // 2
    kept = [(kind, run) for kind, runs in enumerate(totals.runs) for run in runs]
    before = [run.start - 1 if run.start % half else -1 for _, run in kept]
    behind = [run.stop + 1 if (run.stop + 1) % half else -1 for _, run in kept]
    beside = np.unique(np.array([index for index in before + behind if index >= 0], np.uint64))
    known: dict[int, dict[str, int]] = {}
    if beside.size:
        results = zip(
            beside.tolist(), one.at(beside).tolist(), two.at(beside).tolist(), strict=True
        )
        known = {i: {"out_bits": a, "other_bits": b} for i, a, b in results}
    return [
        _example(space, CLASSES[kind], run, known.get(first), known.get(last))
        for (kind, run), first, last in zip(kept, before, behind, strict=True)
    ]


def _zooms(space: Space, one: Source, two: Source, totals: Totals) -> Iterator[dict[str, Any]]:
    """Yield both results around the ends of the first runs, boundaries before other classes."""
    half, ends = space.row // 2, []
    for kind in ZOOMED:
        for run in totals.runs[kind][:ZOOMS]:
            ends += [(kind, index) for index in dict.fromkeys((run.start, run.stop))]
    taken: set[int] = set()
    for kind, index in ends:
        if index in taken or len(taken) >= 3 * MOST_ZOOMS:
            continue
        low = max(index - AROUND, index - index % half)
        high = min(index + AROUND, index - index % half + half - 1)
        indices = np.arange(low, high + 1, dtype=np.uint64)
        taken.update(range(index - 1, index + 2))
        results = zip(
            indices.tolist(), one.at(indices).tolist(), two.at(indices).tolist(), strict=True
        )
        points = [{**space.named(i), "out_bits": a, "other_bits": b} for i, a, b in results]
        yield {"class": CLASSES[kind], **space.named(index), "points": points}


def _example(space: Space, kind: str, run: Run, before: Any, after: Any) -> dict[str, Any]:
    named, last = space.named(run.start), space.named(run.stop)
    value = float(space.x.from_bits(named["x_bits"]))
    return {
        **named,
        "x": value,
        "out_bits": run.one,
        "other_bits": run.two,
        "ulp": None if run.ulp == NO_ULP else run.ulp,
        "class": kind,
        "count": run.stop - run.start + 1,
        "last_x_bits": last["x_bits"],
        "worst_ulp": None if run.worst == NO_ULP else run.worst,
        "before": before,
        "after": after,
    }
