"""From the streams of a launch to its time: all cores, HBM and L2, and a verdict.

A block's own time comes from its schedule with free memory. HBM, which all cores share, is a
second time; the two combine as the root of the sum of squares, phase by phase where reads turn from
L2 misses to hits. The schedule that is shown is the one whose HBM transfers are stretched until it
takes that long.
Source of the combination: the form that fits the published streaming kernels best (assumed).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from ascendsim.observe.timeline.cost import Work, quantized, read_work, write_work
from ascendsim.observe.timeline.schedule import Program, State, find_periods, walk
from ascendsim.observe.timeline.steps import WRITE, ReadKey, StepRecorder, fingerprints
from ascendsim.observe.timeline.traffic import Traffic, traffic_of
from ascendsim.soc import Soc

MAX_STRETCH = 1e6
BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class Stream:
    """The blocks of one class: their stream, their numbers, which of their reads hit L2."""

    recorder: StepRecorder
    blocks: tuple[int, ...]
    hits: tuple[bool, ...]


class BlockTime:
    """One class of blocks, scheduled: alone, and with HBM stretched by any factor."""

    def __init__(self, stream: Stream, soc: Soc, cores: int, spilled: float) -> None:
        self.stream, self.soc = stream, soc
        recorder = stream.recorder
        self.works: list[Work] = list(recorder.table)
        self.index: list[int] = list(recorder.works)
        # L2 takes the writes and spills behind the core's back, which slows reads only
        behind = 0.0 if recorder.reads else spilled
        known: dict[Any, int] = {}
        for t, hit in zip(recorder.reads, stream.hits, strict=True):
            key = (t.blocks, t.length, t.aligned, hit)
            if key not in known:
                known[key] = self._add(read_work(soc, *key, cores))
            self.index[t.step] = known[key]
        for t in recorder.writes:
            share = behind if t.allocates else 1.0
            into = (t.blocks, t.length, share)
            if into not in known:
                known[into] = self._add(write_work(soc, *into))
            self.index[t.step] = known[into]
        self.marks = self._phase_marks()
        self.periods = self._find_periods()

    def _add(self, work: Work) -> int:
        self.works.append(work)
        return len(self.works) - 1

    def _phase_marks(self) -> list[int]:
        """Return the steps at which reads turn from misses to hits or back."""
        reads, hits = self.stream.recorder.reads, self.stream.hits
        return [reads[k].step for k in range(1, len(reads)) if hits[k] != hits[k - 1]]

    def _find_periods(self) -> list[tuple[int, int, int]]:
        recorder = self.stream.recorder
        prints = fingerprints(recorder.kinds, recorder.pipes, self.index, recorder.waits)
        edges = [0, *self.marks, len(recorder.kinds)]
        return [
            period
            for start, stop in pairwise(edges)
            for period in find_periods(prints, start, stop)
        ]

    def program(self, stretch: float = 1.0, skip: bool = True) -> Program:
        """Return the steps with their costs when HBM transfers take `stretch` times as long."""
        recorder, soc = self.stream.recorder, self.soc
        busy = [
            w.busy if not w.stretch else quantized(max(w.busy, w.stretch * stretch))
            for w in self.works
        ]
        latency = [w.latency for w in self.works]
        return Program(
            recorder.kinds,
            recorder.pipes,
            [busy[w] for w in self.index],
            [latency[w] for w in self.index],
            recorder.waits,
            self.periods if skip else [],
            quantized(soc.get("scalar_issue_cycles", 2.5)),
            quantized(soc.get("scalar_element_cycles", 34.0) / 3),
            quantized(soc.mte2_latency_cycles),
        )

    @cached_property
    def alone(self) -> tuple[State, list[float]]:
        """The schedule with free memory, and when MTE2 reaches each phase."""
        return walk(self.program(), marks=self.marks)

    def stretched_to(self, cycles: float) -> float:
        """Return the stretch at which the block takes `cycles`."""
        low, high = 1.0, 2.0
        if not any(w.stretch for w in self.works) or self.alone[0].end >= cycles:
            return low
        while walk(self.program(high))[0].end < cycles and high < MAX_STRETCH:
            high *= 2.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            if walk(self.program(middle))[0].end < cycles:
                low = middle
            else:
                high = middle
            if high - low < 1e-6 * high:
                break
        return high


@dataclass(frozen=True, slots=True)
class Launch:
    """A scheduled launch: its blocks, the slowest of them, and what all cores share.

    cycles : of the slowest core; core_cycles : the same with free memory; hbm_cycles : of the
    bytes alone; rounds : blocks that the slowest core runs one after another.
    """

    soc: Soc
    blocks: tuple[BlockTime, ...]
    slowest: int
    traffic: Traffic
    cores: int
    rounds: float
    cycles: float
    core_cycles: float
    hbm_cycles: float


def schedule_launch(
    streams: Sequence[tuple[StepRecorder, tuple[int, ...]]],
    shared: tuple[set[ReadKey], bool],
    soc: Soc,
    cores: int,
) -> Launch:
    """Return the launch of all blocks on `cores` cores; `shared` as shared_reads gives it."""
    block_dim = sum(len(blocks) for _, blocks in streams)
    used = min(cores, block_dim)
    counted = [(recorder, len(blocks)) for recorder, blocks in streams]
    traffic = traffic_of(counted, *shared, used, soc.l2_bytes)
    times = tuple(
        BlockTime(Stream(recorder, blocks, hits), soc, used, traffic.spilled)
        for (recorder, blocks), hits in zip(streams, traffic.hits, strict=True)
    )
    per_core = _cycles_per_core(times, used, block_dim)
    slowest = max(range(len(times)), key=lambda k: times[k].alone[0].end)
    block = times[slowest].alone[0].end
    rounds = max(per_core) / block if block else 0.0
    hbm = _hbm_cycles(traffic, soc)
    cycles = _combined(times[slowest], rounds, hbm)
    return Launch(soc, times, slowest, traffic, used, rounds, cycles, max(per_core), hbm)


def _cycles_per_core(times: Sequence[BlockTime], cores: int, block_dim: int) -> list[float]:
    """Blocks go to the cores round robin, in rounds when there are more blocks than cores."""
    load = [0.0] * cores
    for time in times:
        for block in time.stream.blocks:
            load[block % cores] += time.alone[0].end
    return load


def _hbm_cycles(traffic: Traffic, soc: Soc) -> float:
    slow = traffic.misaligned * (soc.get("gm_misaligned_slowdown", 1.0) - 1.0)
    slow += traffic.same_line * (soc.get("gm_same_line_slowdown", 1.0) - 1.0)
    seconds = (traffic.read_from_hbm + slow) / soc.hbm_read
    seconds += traffic.written_to_hbm / soc.hbm_write
    return seconds * soc.clock_mhz * 1e6


def _combined(time: BlockTime, rounds: float, hbm: float) -> float:
    """Combine core and HBM time phase by phase; HBM time lies in the phases that miss."""
    state, marks = time.alone
    edges = [0.0, *marks[:-1], state.end] if time.marks else [0.0, state.end]
    hits = time.stream.hits
    first_hits = [hits[0]] if hits else [False]
    for k in range(1, len(hits)):
        if hits[k] != hits[k - 1]:
            first_hits.append(hits[k])
    spans = [b - a for a, b in pairwise(edges)]
    missing = sum(s for s, hit in zip(spans, first_hits, strict=True) if not hit)
    total = 0.0
    for span, hit in zip(spans, first_hits, strict=True):
        share = 0.0 if hit or not missing else hbm * span / missing
        total += math.hypot(span * rounds, share)
    if not missing:
        total = math.hypot(total, hbm)
    return total


def stretch_of(launch: Launch) -> float:
    """Return how much longer HBM transfers take, so that the slowest core takes its cycles."""
    if not launch.rounds:
        return 1.0
    return launch.blocks[launch.slowest].stretched_to(launch.cycles / launch.rounds)


def low_share(launch: Launch) -> float:
    """Return the share of the slowest block's busy cycles that rests on low-confidence costs."""
    time = launch.blocks[launch.slowest]
    recorder = time.stream.recorder
    total = low = 0.0
    for kind, index in zip(recorder.kinds, time.index, strict=True):
        work = time.works[index]
        if work.busy and kind <= WRITE:
            total += work.busy
            low += work.busy if work.low else 0.0
    return low / total if total else 0.0


def conflict_cycles(launch: Launch) -> float:
    """Return the cycles that bank conflicts cost on the slowest core."""
    time = launch.blocks[launch.slowest]
    return sum(time.works[w].conflict for w in time.index) * launch.rounds
