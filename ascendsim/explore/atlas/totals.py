"""What an atlas has found so far: sums, classes, runs, and how it grows chunk by chunk.

`compared` turns one chunk into a Part; `Totals.add` joins parts in order, so that a run that goes
on over the end of a chunk is one run. Totals are also the state that can be written and resumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ascendsim.dtypes import dtype as find_dtype
from ascendsim.explore.atlas.sides import Source
from ascendsim.explore.atlas.space import Space
from ascendsim.numerics.differences import BINS, CLASSES, KEPT_RUNS, scan, tally

FACTOR = 2654435761  # of the checksum
_WORD = (1 << 64) - 1


@dataclass(slots=True)
class Run:
    """A maximal run of inputs whose results differ, by index; `stop` is its last.

    one, two, ulp : results and distance at its first input (-1: NaN); worst : the largest distance.
    """

    start: int
    stop: int
    one: int
    two: int
    ulp: int
    worst: int


@dataclass(slots=True)
class Part:
    """What one stretch of inputs gave.

    counts, run_counts : by class; head, tail : class at the first and last input, -1 for none;
    runs : the first of each class; worst, differing : by bin, where there is any.
    """

    start: int
    stop: int
    checksum: int
    exact: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * len(CLASSES))
    run_counts: list[int] = field(default_factory=lambda: [0] * len(CLASSES))
    head: int = -1
    tail: int = -1
    runs: list[list[Run]] = field(default_factory=lambda: [[] for _ in CLASSES])
    worst: dict[int, int] = field(default_factory=dict)
    differing: dict[int, int] = field(default_factory=dict)


class Totals(Part):
    """The sum of all parts so far, one after another."""

    __slots__ = ()

    @classmethod
    def fresh(cls, start: int = 0) -> Totals:
        """Return the totals of nothing, for parts from index `start` on."""
        return cls(start, start, 0)

    def add(self, part: Part, row: int) -> None:
        """Join the next part; runs end at multiples of `row`."""
        assert part.start == self.stop, "parts are joined in order"
        joined = part.head if part.head == self.tail and part.start % row else -1
        for kind in range(len(CLASSES)):
            self._append(kind, part, kind == joined)
        # a chunk that is one run keeps its class at both ends
        self.tail = part.tail
        self.head = part.head if part.start == self.start else self.head
        self.checksum = (self.checksum + part.checksum) & _WORD
        self.exact += part.exact
        self.stop = part.stop
        for place, ulp in part.worst.items():
            self.worst[place] = max(self.worst.get(place, 0), ulp)
        for place, count in part.differing.items():
            self.differing[place] = self.differing.get(place, 0) + count

    def _append(self, kind: int, part: Part, joined: bool) -> None:
        runs = part.runs[kind]
        if joined:
            first, runs = runs[0], runs[1:]
            if self.run_counts[kind] <= KEPT_RUNS:
                last = self.runs[kind][-1]
                last.stop, last.worst = first.stop, max(last.worst, first.worst)
        room = KEPT_RUNS - len(self.runs[kind])
        self.runs[kind] += runs[:room]
        self.counts[kind] += part.counts[kind]
        self.run_counts[kind] += part.run_counts[kind] - joined

    def to_state(self) -> dict[str, Any]:
        """Return everything as JSON."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Totals:
        """Return the totals that `to_state` gave."""
        plain = dict(state)
        plain["runs"] = [[Run(**run) for run in runs] for runs in plain["runs"]]
        for name in ("worst", "differing"):
            plain[name] = {int(place): number for place, number in plain[name].items()}
        return cls(**plain)


def compared(space: Space, one: Source, two: Source | None, start: int, count: int) -> Part:
    """Compute a stretch of inputs and compare it; `two` is None for the checksum alone."""
    fmt = space.out
    known = one.checksum(start, count) if two is None else None
    if known is not None:
        return Part(start, start + count, known)
    bits = one.bits(start, count)
    checksum = _checksum(bits, space, start)
    part = Part(start, start + count, checksum)
    if two is None:
        return part
    before = two.exact
    others = two.bits(start, count)
    part.exact = two.exact - before
    tally(others, fmt.sign_bits, fmt.inf_bits, fmt.nan_bits(False))
    if not two.signed_zero:
        for each in (bits, others):
            each[each == fmt.sign_bits] = 0
    if not np.array_equal(bits, others):
        _scanned(part, space, bits, others)
    return part


def _checksum(bits: np.ndarray, space: Space, start: int) -> int:
    """Return sum(bits * (index * FACTOR + 1)) mod 2^64, NaN canonical; makes it so in `bits`."""
    fmt = space.out
    total, weighted = tally(bits, fmt.sign_bits, fmt.inf_bits, fmt.nan_bits(False))
    return ((start * int(total) + int(weighted)) * FACTOR + int(total)) & _WORD


def _scanned(part: Part, space: Space, bits: np.ndarray, others: np.ndarray) -> None:
    fmt, classes = space.out, len(CLASSES)
    shift = (space.row // BINS).bit_length() - 1
    layout = np.array(
        [
            *(part.start, space.row // 2),
            *(fmt.sign_bits, fmt.inf_bits, fmt.min_normal_bits),
            *(space.near, space.row - 1, shift),
        ],
        np.int64,
    )
    runs = np.empty((classes, KEPT_RUNS, 6), np.int64)
    counts, bins = np.zeros((3, classes), np.int64), np.zeros((2, BINS), np.int64)
    values = _values(bits, fmt.name), _values(others, fmt.name)
    scan(bits, others, *values, layout, runs, counts, bins)
    part.counts, part.run_counts = counts[0].tolist(), counts[1].tolist()
    part.head, part.tail = int(counts[2, 0]), int(counts[2, 1])
    for kind in range(classes):
        part.runs[kind] = [
            Run(part.start + first, part.start + last, *rest)
            for first, last, *rest in runs[kind, : part.run_counts[kind]].tolist()
        ]
    touched = np.flatnonzero(bins[1])
    part.worst = dict(zip(touched.tolist(), bins[0, touched].tolist(), strict=True))
    part.differing = dict(zip(touched.tolist(), bins[1, touched].tolist(), strict=True))


def _values(bits: np.ndarray, name: str) -> np.ndarray:
    """Return patterns as float32."""
    if name == "float32":
        return bits.view(np.float32)
    dtype = find_dtype(name)
    with np.errstate(invalid="ignore"):
        return bits.astype(dtype.bits).view(dtype.numpy).astype(np.float32)
