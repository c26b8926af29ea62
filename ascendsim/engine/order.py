"""What must be complete before what starts: the happens-before graph of a block's records.

Nodes are records; an edge says that its source is complete before its target starts. Edges come
from the order inside a pipe, from tokens (flags, queues, mutexes), from barriers, and from the
scalar unit, which issues in program order what runs on the pipes. Written apart from racecheck,
which works with vector clocks, so that each can be held against the other.
Sources: memory and synchronisation chapter of the manual (documented); that an instruction is
issued only after earlier scalar ones executed is read from the flags that exist (code).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ascendsim.enums import PIPE
from ascendsim.record import Call, Instr

PIPES = (PIPE.PIPE_S, PIPE.PIPE_V, PIPE.PIPE_MTE2, PIPE.PIPE_MTE3)
ORDERED_VECTOR = "3510"  # V -> V order is the chip's work; elsewhere the compiler's or kernel's


@dataclass(frozen=True, slots=True)
class Rules:
    """What orders instructions without a flag or barrier of the kernel.

    vector : an instruction of V is complete before the next one of V starts
    scalar : the compiler sets flags where GetValue and SetValue touch what a pipe touches
    """

    vector: bool
    scalar: bool

    @classmethod
    def of(cls, arch: str, auto_sync: bool) -> Rules:
        """Return the rules of an architecture; `auto_sync`: the compiler inserts V-V order."""
        return cls(auto_sync or arch == ORDERED_VECTOR, auto_sync)


class Edge(NamedTuple):
    """One cause of order: `source` (a position) is complete before the target starts."""

    source: int
    kind: str  # pipe, token, barrier, issue, compiler


class Removed(NamedTuple):
    """What is taken out of the order: positions of barriers, serial numbers of tokens."""

    barriers: frozenset[int] = frozenset()
    tokens: frozenset[int] = frozenset()


NOTHING = Removed()


@dataclass(frozen=True, slots=True)
class Order:
    """The graph: causes of each record, and all records before it, as a set of bits."""

    edges: list[tuple[Edge, ...]]
    before: list[int]

    def path(self, first: int, last: int) -> list[Edge]:
        """Return a shortest chain of edges from `first` to `last`, [] when there is none.

        Each edge names its source; the target is the source of the next one, in the end `last`.
        """
        came: dict[int, tuple[int, Edge]] = {}
        wave = [last]
        while wave and first not in came:
            found = []
            for target in wave:
                for edge in self.edges[target]:
                    if edge.source >= first and edge.source not in came:
                        came[edge.source] = target, edge
                        found.append(edge.source)
            wave = found
        chain: list[Edge] = []
        at = first
        while at in came and at != last:
            at, edge = came[at]
            chain.append(edge)
        return chain


@dataclass(slots=True)
class _Pipe:
    """What a pipe stands behind: its last gate, and what is not yet known to be complete."""

    gate: Edge | None = None  # a wait or barrier: later instructions start after it
    collector: Edge | None = None  # a signal or barrier: comes when all before it is complete
    loose: list[int] = field(default_factory=list)  # instructions since
    last: int | None = None  # the newest instruction, where each waits for the one before

    def complete(self) -> list[Edge]:
        """Return what is complete when everything of this pipe is."""
        known = [edge for edge in (self.gate, self.collector) if edge is not None]
        return [*known, *(Edge(i, "pipe") for i in self.loose)]

    def collect(self, edge: Edge) -> None:
        """Note a record that stands for all before it."""
        self.collector, self.loose = edge, []


def touches(call: Call) -> bool:
    """Tell whether a call reads or writes bytes."""
    return call.geometry is not None and bool(call.accesses)


def order_of(
    records: Sequence[Instr],
    conflicts: Sequence[int],
    rules: Rules,
    removed: Removed = NOTHING,
) -> Order:
    """Return the happens-before graph of the records of one block.

    Parameters
    ----------
    conflicts : for each record the earlier ones that share bytes with it (conflicts.py)
    removed : barriers and tokens that do not count
    """
    builder = _Builder(records, conflicts, rules, removed)
    edges = [builder.add(i) for i in range(len(records))]
    before: list[int] = []
    for causes in edges:
        bits = 0
        for edge in causes:
            bits |= before[edge.source] | 1 << edge.source
        before.append(bits)
    return Order(edges, before)


class _Builder:
    def __init__(
        self, records: Sequence[Instr], conflicts: Sequence[int], rules: Rules, removed: Removed
    ) -> None:
        self.records, self.conflicts, self.rules, self.removed = records, conflicts, rules, removed
        self.pipes = {pipe: _Pipe() for pipe in PIPES}
        self.signalled: dict[int, int] = {}
        self.scalar: Edge | None = None  # the last thing that the scalar unit waited for or did

    def add(self, at: int) -> tuple[Edge, ...]:
        """Return the causes of record `at`, and let later records know of it."""
        instr = self.records[at]
        causes = [] if self.scalar is None else [self.scalar]
        if at in self.removed.barriers:
            return tuple(causes)
        if instr.call.pipe is PIPE.PIPE_ALL:
            return tuple(causes + self._all_pipes(at))
        pipe = self.pipes[instr.call.pipe]
        if instr.call.name == "PipeBarrier":
            causes += pipe.complete()
            pipe.gate = Edge(at, "barrier")
            pipe.collect(pipe.gate)
        elif instr.signals:
            causes += pipe.complete()
            pipe.collect(Edge(at, "pipe"))
            self.signalled.update((token.serial, at) for token in instr.signals)
        else:
            causes += [] if pipe.gate is None else [pipe.gate]
            causes += self._waited(at, pipe) if instr.waits else self._instruction(at, pipe)
        return tuple(causes)

    def _all_pipes(self, at: int) -> list[Edge]:
        causes = [edge for pipe in self.pipes.values() for edge in pipe.complete()]
        self.scalar = Edge(at, "barrier")
        for pipe in self.pipes.values():
            pipe.gate = self.scalar
            pipe.collect(self.scalar)
        return causes

    def _waited(self, at: int, pipe: _Pipe) -> list[Edge]:
        pipe.gate = Edge(at, "pipe")
        if pipe is self.pipes[PIPE.PIPE_S]:
            self.scalar = Edge(at, "issue")
        serials = (token.serial for token in self.records[at].waits)
        kept = (s for s in serials if s not in self.removed.tokens and s in self.signalled)
        return [Edge(self.signalled[serial], "token") for serial in kept]

    def _instruction(self, at: int, pipe: _Pipe) -> list[Edge]:
        """Add an instruction; copies of one pipe start in order but need not end in it."""
        call = self.records[at].call
        if not touches(call):
            return []
        if call.pipe is PIPE.PIPE_S:
            self.scalar = Edge(at, "issue")
            pipe.loose = [at]
            return self._of_compiler(at) if self.rules.scalar else []
        if call.pipe is PIPE.PIPE_V and self.rules.vector:
            causes = [] if pipe.last is None else [Edge(pipe.last, "pipe")]
            pipe.last, pipe.loose = at, [at]
            return causes
        pipe.loose.append(at)
        return []

    def _of_compiler(self, at: int) -> list[Edge]:
        return [Edge(i, "compiler") for i in positions(self.conflicts[at])]


def positions(bits: int) -> list[int]:
    """Return the positions of the bits that are set, ascending."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def bits_of(chosen: Collection[int]) -> int:
    """Return the set of bits at these positions."""
    bits = 0
    for position in chosen:
        bits |= 1 << position
    return bits
