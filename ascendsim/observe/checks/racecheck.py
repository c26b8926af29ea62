"""racecheck: accesses to the same bytes that nothing orders, by vector clocks.

Each pipe works through its instructions in program order, but an instruction is only known to be
done where something says so: a token (flag, queue, mutex), a barrier, SyncAll. `clocks[p][q]` is
how many instructions of pipe q are done before the next one of p starts. The scalar unit waits for
each of its own accesses and issues everything else after them. What the compiler orders (V-V and
everything with S, option auto_sync) or the chip (V-V on 950) is taken as ordered.
Once a race is reported its two instructions count as ordered, so that one missing flag is one
finding and not all that follows from it.
Source: asc-devkit docs, intra-core synchronisation (documented); order of S by its code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ascendsim.enums import PIPE
from ascendsim.observe.checks.findings import Findings, named
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import Call, Instr, Token

#: instructions of a pipe that are looked back at, where nothing orders a pipe at all
MAX_UNORDERED = 2048

S, V, MTE2, MTE3 = range(4)
PIPES = {PIPE.PIPE_S: S, PIPE.PIPE_V: V, PIPE.PIPE_MTE2: MTE2, PIPE.PIPE_MTE3: MTE3}
_OTHERS = [[q for q in (S, V, MTE2, MTE3) if q != p] + [p] for p in (S, V, MTE2, MTE3)]
_NAMES = ("S", "V", "MTE2", "MTE3")
_GRAVITY = ("raw", "waw", "war")
#: the calls of a queue that make the edge of an event
_QUEUES = dict.fromkeys(("MTE2_V", "V_MTE3", "MTE2_MTE3"), "EnQue and DeQue")
_QUEUES |= dict.fromkeys(("V_MTE2", "MTE3_V", "MTE3_MTE2"), "FreeTensor and AllocTensor")
_WORDS = {
    "raw": "reads bytes that {} writes",
    "waw": "writes bytes that {} writes, too",
    "war": "writes bytes that {} reads",
}


class Issued(NamedTuple):
    """An instruction of a pipe: its number there, what it touches, what was done before it."""

    number: int
    instr: Instr
    touched: tuple[Touched, ...]
    clock: list[int]


class Conflict(NamedTuple):
    """Two accesses to the same bytes, at least one of which writes."""

    kind: str
    old: Issued
    memory: str
    span: tuple[int, int]


class Race:
    """The clocks of one block.

    auto_sync : the compiler orders accesses of the scalar unit; ordered_v : V is in order
    """

    MANAGED = None  # any call may wait or signal

    def __init__(self, findings: Findings, *, auto_sync: bool, ordered_v: bool) -> None:
        self.findings = findings
        self.auto_sync, self.ordered_v = auto_sync, ordered_v
        self.counts = [0] * 4
        self.forgotten = [0] * 4  # numbers of the newest that are not looked at any more
        self.clocks = [[0] * 4 for _ in range(4)]
        self.tokens: dict[int, list[int]] = {}
        self.issued: tuple[deque[Issued], ...] = tuple(deque(maxlen=MAX_UNORDERED) for _ in PIPES)

    def manage(self, instr: Instr) -> None:
        """Take what a call waits for and signals into account; it touches no bytes."""
        call = instr.call
        if instr.waits:
            self._wait(instr.waits)
        if call.pipe is PIPE.PIPE_ALL or call.name == "PipeBarrier":
            self._barrier(call)
        for token in instr.signals:
            source = PIPES[token.source]
            clock = self.clocks[source].copy()
            clock[source] = self.counts[source]
            self.tokens[token.serial] = clock

    def _wait(self, tokens: tuple[Token, ...]) -> None:
        for token in tokens:
            clock = self.tokens.pop(token.serial, None)
            if clock is not None:
                _join(self.clocks[PIPES[token.destination]], clock)

    def _barrier(self, call: Call) -> None:
        """All instructions so far of the pipe (of all pipes) are done before its next ones."""
        if call.pipe is PIPE.PIPE_ALL:
            for clock in self.clocks:
                clock[:] = self.counts
        elif call.pipe in PIPES:
            pipe = PIPES[call.pipe]
            self.clocks[pipe][pipe] = self.counts[pipe]

    def access(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Check what a call reads and writes."""
        pipe = PIPES[instr.call.pipe]
        clock = self.clocks[pipe]
        if pipe != S:  # issued after all that the scalar unit did and waited for
            _join(clock, self.clocks[S])
            clock[S] = self.counts[S]
        if pipe == S or (pipe == V and self.ordered_v):
            clock[pipe] = self.counts[pipe]
        counts = self.counts
        for other in _OTHERS[pipe]:
            done = clock[other]
            if counts[other] > done:
                if done < self.forgotten[other] and not (self.auto_sync and S in (pipe, other)):
                    self._out_of_sight(other)
                if _overlap(done, self.issued[other], touched):
                    self._compare(pipe, other, instr, touched)
        counts[pipe] += 1
        # as Issued(...), without its layer of Python: this runs for every instruction
        known = (counts[pipe], instr, touched, clock.copy())
        issued = self.issued[pipe]
        if len(issued) == MAX_UNORDERED:
            self.forgotten[pipe] = issued[0].number
        issued.append(tuple.__new__(Issued, known))

    def _out_of_sight(self, other: int) -> None:
        """Say that an instruction was not compared with all that may still run."""
        self.findings.limits["checks-limit-races"] = (
            f"{_NAMES[other]} runs more than {MAX_UNORDERED} instructions that nothing orders with "
            f"others: races with earlier ones are not looked for; order them, or take fewer tiles"
        )

    def _compare(self, pipe: int, other: int, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Look for conflicts with the instructions of `other` that may still run."""
        clock, issued = self.clocks[pipe], self.issued[other]
        found = _conflicts(clock[other], issued, touched)
        if not found:
            return
        if not (self.auto_sync and S in (pipe, other)):
            for conflict in found:
                self._report(pipe == other, instr, conflict)
        newest = max((each.old for each in found), key=lambda old: old.number)
        _join(clock, newest.clock)
        clock[other] = max(clock[other], newest.number)

    def _report(self, intra: bool, instr: Instr, conflict: Conflict) -> None:
        old = conflict.old.instr
        theirs = f"{named(old)} (line {self.findings.place(old.where)[1]})"
        missing, way_out = _missing(old, instr, intra)
        self.findings.add(
            f"racecheck:{conflict.kind}-{'intra' if intra else 'inter'}-pipe",
            instr,
            f"{named(instr)} {_WORDS[conflict.kind].format(theirs)}: {missing}",
            memory=conflict.memory,
            span=conflict.span,
            partner=old,
            way_out=way_out,
        )


def _missing(old: Instr, new: Instr, intra: bool) -> tuple[str, str]:
    """Say what would order two calls, as a fact and as advice."""
    first, second = (each.call.pipe.name.removeprefix("PIPE_") for each in (old, new))
    if intra:
        barrier = f"PipeBarrier(PIPE_{first})"
        return f"no {barrier} orders them", f"put {barrier} between the two"
    event = f"{first}_{second}"
    advice = f"SetFlag(HardEvent.{event}, id) after the first, WaitFlag before the second"
    queue = _QUEUES.get(event)
    if queue is None:
        return f"no flag {event} orders the pipes", advice
    return f"no flag or queue edge {event} orders the pipes", f"{queue} of a queue; or {advice}"


def _join(clock: list[int], other: list[int]) -> None:
    for pipe, number in enumerate(other):
        if number > clock[pipe]:
            clock[pipe] = number


def _overlap(done: int, issued: deque[Issued], touched: tuple[Touched, ...]) -> bool:
    """Tell whether extents meet at all: they hardly ever do."""
    for number, _, others, _ in reversed(issued):
        if number <= done:
            return False
        for theirs in others:
            start, stop, writes = theirs.start, theirs.stop, theirs.writes
            for mine in touched:
                if mine.start < stop and start < mine.stop and (writes or mine.writes):
                    return True
    return False


def _conflicts(done: int, issued: deque[Issued], touched: tuple[Touched, ...]) -> list[Conflict]:
    """Return the newest conflict of each operand, one per older instruction, the gravest kind."""
    found: dict[int, Conflict] = {}
    for mine in touched:
        conflict = next(_with(mine, done, issued), None)
        if conflict is None:
            continue
        number = conflict.old.number
        known = found.get(number)
        if known is None or _GRAVITY.index(conflict.kind) < _GRAVITY.index(known.kind):
            found[number] = conflict
    return list(found.values())


def _with(mine: Touched, done: int, issued: deque[Issued]) -> Iterator[Conflict]:
    """Yield the conflicts of one operand, newest first."""
    for old in reversed(issued):
        if old.number <= done:
            return
        for theirs in old.touched:
            if mine.start >= theirs.stop or theirs.start >= mine.stop:
                continue
            if not (mine.writes or theirs.writes) or _commute(mine, theirs):
                continue
            span = mine.meets(theirs)
            if span is not None:
                kind = ("raw" if theirs.writes else "war") if not mine.writes else ""
                kind = kind or ("waw" if theirs.writes else "war")
                yield Conflict(kind, old, mine.memory, span)


def _commute(mine: Touched, theirs: Touched) -> bool:
    """Two atomic copies of the same operation may come in either order."""
    return mine.atomic == theirs.atomic != ""
