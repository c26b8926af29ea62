"""Schedule the steps of one block on four in-order pipes.

The scalar unit issues every step in program order. A pipe starts an instruction when it is free,
the instruction is issued and the token that the pipe waits for has come; a token comes when all
earlier instructions of its pipe are complete. Where the stream repeats and the pipes stand at the
start of a period exactly as they stood a few before, the periods in between are not walked: they
take the same time (cycles are exact sums, see QUANTUM).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendsim.observe.timeline.steps import (
    ALL_PIPES,
    BARRIER,
    MTE2,
    SCALAR,
    SIGNAL,
    VECTOR,
    WAIT,
    WRITE,
    S,
    V,
)

Emit = Callable[[int, int, float, float], None]
MIN_PERIODS = 4  # a stream that repeats less often is walked
ISSUE_STALL = ALL_PIPES  # the cause of a stall that no token explains
MAX_CYCLE = 6  # pipes that wait for each other may take turns: a state returns after a few periods


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of a block with their costs in cycles, one array entry per step.

    busy, latency : cycles; waits : distance back to the signal; periods : where the stream
    repeats, as (start, length, count) in order; issue : scalar cycles per step; access : scalar
    cycles of GetValue and SetValue; read_latency : cycles until a read is complete.
    """

    kinds: Sequence[int]
    pipes: Sequence[int]
    busy: Sequence[float]
    latency: Sequence[float]
    waits: Sequence[int]
    periods: Sequence[tuple[int, int, int]]
    issue: float
    access: float
    read_latency: float


@dataclass(slots=True)
class State:
    """Where the pipes stand: cycles, and what was counted so far.

    ready : when a pipe takes its next instruction; done : when all its instructions are complete;
    covered : up to when its busy time is counted. stalls : cycles by (pipe, whom it waited for: a
    pipe's token, or ISSUE_STALL). exposed : cycles of read latency that V waited for. by_scalar :
    how often a time was set by the scalar unit.
    """

    scalar: float = 0.0
    ready: list[float] = field(default_factory=lambda: [0.0] * 3)
    done: list[float] = field(default_factory=lambda: [0.0] * 3)
    covered: list[float] = field(default_factory=lambda: [0.0] * 3)
    busy: list[float] = field(default_factory=lambda: [0.0] * 4)
    stalls: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))
    tokens: dict[int, float] = field(default_factory=dict)
    exposed: float = 0.0
    by_scalar: int = 0

    @property
    def end(self) -> float:
        """Return when everything is complete."""
        return max(self.scalar, *self.done)


def walk(
    program: Program, emit: Emit | None = None, marks: Sequence[int] = ()
) -> tuple[State, list[float]]:
    """Schedule all steps; return the end state and when MTE2 reached each of `marks` (steps).

    With `emit` (step, pipe, start, complete) nothing is skipped.
    """
    state, times, at = State(), [], 0
    stops = sorted({*marks, len(program.kinds)})
    for stop in stops:
        for start, length, count in [] if emit else program.periods:
            first = start + -(-max(at - start, 0) // length) * length
            whole = (min(start + length * count, stop) - first) // length
            if whole >= MIN_PERIODS:
                _steps(program, state, at, first, None)
                at = _repeat(program, state, first, length, whole)
        _steps(program, state, at, stop, emit)
        at = stop
        times.append(state.ready[MTE2])
    return state, times


def _repeat(program: Program, state: State, first: int, length: int, count: int) -> int:
    """Walk periods until one starts as one a few before it, then skip whole such cycles.

    Returns where the walk stands: fewer than a cycle of periods may be left.
    """
    history: list[Any] = []
    for number in range(count):
        at = first + number * length
        now = _snapshot(state, at)
        for cycle, before in enumerate(reversed(history), 1):
            if _steady(before, now):
                cycles = (count - number) // cycle
                _jump(state, before[1], now[1], cycles, cycle * length)
                return at + cycles * cycle * length
        history = [*history[1 - MAX_CYCLE :], now]
        _steps(program, state, at, at + length, None)
    return first + count * length


def _snapshot(state: State, at: int) -> tuple[Any, Any]:
    """Return (how the pipes stand to each other, the absolute times and counters).

    A scalar unit that has run ahead of all pipes (its issue lies before anything they could start)
    is not part of how they stand.
    """
    base = max(state.ready)
    ahead = state.scalar < min(state.ready)
    relative = (
        tuple(t - base for t in (*state.ready, *state.done, *state.covered)),
        tuple((at - step, t - base) for step, t in sorted(state.tokens.items())),
        None if ahead else state.scalar - base,
    )
    counters = (
        base,
        state.scalar,
        tuple(state.busy),
        dict(state.stalls),
        state.exposed,
        state.by_scalar,
    )
    return relative, counters


def _steady(before: Any, now: Any) -> bool:
    """Return True when the next period will take what this one took.

    A scalar unit that is ahead must not lose its lead, and must have set no time: how far it is
    ahead is not part of how the pipes stand.
    """
    if now[0] != before[0]:
        return False
    ahead = now[0][-1] is None
    lead_kept = now[1][1] - before[1][1] <= now[1][0] - before[1][0]
    return not ahead or (lead_kept and now[1][5] == before[1][5])


def _jump(state: State, before: Any, now: Any, periods: int, length: int) -> None:
    """Move the state on by `periods` times what happened since `before`."""
    time = (now[0] - before[0]) * periods
    state.scalar += (now[1] - before[1]) * periods
    for times in (state.ready, state.done, state.covered):
        times[:] = [t + time for t in times]
    state.busy[:] = [b + (b - a) * periods for a, b in zip(before[2], now[2], strict=True)]
    for cause, cycles in now[3].items():
        state.stalls[cause] += (cycles - before[3].get(cause, 0.0)) * periods
    state.exposed += (now[4] - before[4]) * periods
    state.by_scalar += (now[5] - before[5]) * periods
    state.tokens = {step + periods * length: t + time for step, t in state.tokens.items()}


def _steps(program: Program, state: State, start: int, stop: int, emit: Emit | None) -> None:
    kinds, pipes, waits = program.kinds, program.pipes, program.waits
    ready, done, tokens = state.ready, state.done, state.tokens
    for step in range(start, stop):
        state.scalar += program.issue
        kind, pipe = kinds[step], pipes[step]
        if VECTOR <= kind <= WRITE:
            begin = _begin(state, pipe)
            ready[pipe] = begin + program.busy[step]
            complete = ready[pipe] + program.latency[step]
            _cover(state, pipe, begin, complete)
            if emit is not None:
                emit(step, pipe, begin, complete)
        elif kind == SIGNAL:
            tokens[step] = _signal(state, done[pipe] if pipe < S else 0.0)
        elif kind == WAIT:
            signal = step - waits[step]
            _wait(state, pipe, pipes[signal], tokens.pop(signal, 0.0), program.read_latency)
        elif kind == BARRIER:
            _barrier(state, pipe)
        elif kind == SCALAR:
            state.scalar += program.access
            state.busy[S] += program.access
            if emit is not None:
                emit(step, S, state.scalar - program.access, state.scalar)
    state.busy[S] += program.issue * (stop - start)


def _begin(state: State, pipe: int) -> float:
    ready = state.ready[pipe]
    if state.scalar <= ready:
        return ready
    state.by_scalar += 1
    state.stalls[pipe, ISSUE_STALL] += state.scalar - ready
    return state.scalar


def _signal(state: State, done: float) -> float:
    """Return when a token comes: its pipe is done with all before, and the signal is issued."""
    if state.scalar <= done:
        return done
    state.by_scalar += 1
    return state.scalar


def _cover(state: State, pipe: int, begin: float, complete: float) -> None:
    """Count busy time; instructions of a pipe that overlap in flight count once."""
    covered = state.covered[pipe]
    if complete > covered:
        state.busy[pipe] += complete - max(begin, covered)
        state.covered[pipe] = complete
    if complete > state.done[pipe]:
        state.done[pipe] = complete


def _wait(state: State, pipe: int, source: int, token: float, latency: float) -> None:
    if pipe == S:
        state.by_scalar += 1
        idle = max(token - state.scalar, 0.0)
        state.scalar += idle
    else:
        idle = max(token - state.ready[pipe], 0.0)
        state.ready[pipe] += idle
    if idle:
        state.stalls[pipe, source] += idle
        if (pipe, source) == (V, MTE2):
            state.exposed += min(idle, latency)


def _barrier(state: State, pipe: int) -> None:
    if pipe != ALL_PIPES:
        state.ready[pipe] = max(state.ready[pipe], state.done[pipe])
        return
    state.by_scalar += 1
    last = max(state.scalar, *state.done)
    state.ready[:] = [last] * 3


def find_periods(marks: Any, start: int, stop: int) -> list[tuple[int, int, int]]:
    """Return where the fingerprints in [start, stop) repeat: (start, length, count).

    Tries the distances between equal steps around the middle, shortest first, and takes the one
    that covers most.
    """
    part = np.asarray(marks[start:stop])
    size = part.size
    if size < 16:
        return []
    middle = size // 2
    places = np.flatnonzero(part == part[middle])
    candidates = np.unique(places[places > middle] - middle)[:64]
    best = (0, 0, 0)
    for length in candidates:
        equal = part[:-length] == part[length:]
        if not equal[min(middle, equal.size - 1)]:
            continue
        breaks = np.flatnonzero(~equal)
        left = int(breaks[breaks < middle].max(initial=-1)) + 1
        right = int(breaks[breaks >= middle].min(initial=equal.size))
        count = (right - left) // int(length) + 1
        if count >= MIN_PERIODS and count * length > best[1] * best[2] * 1.01:
            best = (left, int(length), count)
    return [(start + best[0], best[1], best[2])] if best[1] else []
