"""The stream of a block as the scheduler reads it: one step per record.

A step is its kind, what it costs (an index into the works), and how many steps before it the token
was signalled that it waits for. Two streams are the same when these agree and their GM addresses
differ by one constant per tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ascendsim.enums import PIPE, CacheMode
from ascendsim.memory import GM_FAST_START
from ascendsim.observe.timeline.cost import Work, ub_copy_work, vector_work
from ascendsim.record import GM, Access, Call, Instr, Token
from ascendsim.soc import Soc

ISSUE, VECTOR, READ, WRITE, WAIT, SIGNAL, BARRIER, SCALAR = range(8)
V, MTE2, MTE3, S = range(4)
PIPE_NAMES = ("V", "MTE2", "MTE3", "S")
_PIPE = {PIPE.PIPE_V: V, PIPE.PIPE_MTE2: MTE2, PIPE.PIPE_MTE3: MTE3, PIPE.PIPE_S: S}
ALL_PIPES = 4
BARRIERS = ("PipeBarrier", "Destroy", "Reset")
Step = tuple[int, int, int, int]  # kind, pipe, work, distance back to the signal
_ISSUE, _SCALAR = (ISSUE, S, 0, 0), (SCALAR, S, 0, 0)
_READ, _WRITE = (READ, MTE2, 0, 0), (WRITE, MTE3, 0, 0)
ReadKey = tuple[str, int, int, int]


class Transfer(NamedTuple):
    """One copy to or from GM: which bytes, in how many blocks, and whether L2 allocates them."""

    step: int
    tensor: str
    start: int
    blocks: int
    length: int
    aligned: bool
    allocates: bool

    @property
    def key(self) -> ReadKey:
        """The bytes that are touched: tensor, start, blocks, length."""
        return self.tensor, self.start, self.blocks, self.length

    @property
    def nbytes(self) -> int:
        """Bytes moved."""
        return self.blocks * self.length


class StepRecorder:
    """An observer that keeps a block's stream as steps.

    steps : see Step; `kinds`, `pipes`, `works` and `waits` are its columns. table : the works.
    reads, writes : the copies with GM. instrs : the records, when `keep` is set (traces, pictures).
    """

    def __init__(self, soc: Soc, auto_sync: bool = True, keep: bool = False) -> None:
        self.soc, self.keep = soc, keep
        self.auto_sync = auto_sync and not soc.hardware_orders_v
        self.steps: list[Step] = []
        self._columns: list[list[int]] = [[], [], [], []]
        self.table: list[Work] = [Work("none", 0.0)]
        self.reads: list[Transfer] = []
        self.writes: list[Transfer] = []
        self.instrs: list[Instr] = []
        self.ub_used = 0
        self._known: dict[Any, Step] = {}  # the step of a vector call after another
        self._numbers: dict[Work, int] = {}
        self._signals: dict[int, int] = {}
        self._spans: dict[Call, list[tuple[Any, int, int]]] = {}
        self._last: Call | None = None  # the vector instruction before, if the pipe did not drain
        self._barrier = False

    @property
    def tape(self) -> Callable[..., None] | None:
        """What takes calls in place of records, None when records are kept."""
        return None if self.keep else self.append

    def before(self, instr: Instr) -> None:
        """Nothing to see before the call."""

    def after(self, instr: Instr) -> None:
        """Append the step of one record."""
        self.append(instr.call, instr.waits, instr.signals)
        if self.keep:
            self.instrs.append(instr)

    def append(
        self,
        call: Call,
        waits: tuple[Token, ...],
        signals: tuple[Token, ...],
        scalar: Any = None,
    ) -> None:
        """Append the step of one call."""
        steps = self.steps
        if waits:
            pipe = _PIPE[call.pipe]
            if pipe == V:
                self._last = None  # the pipe drains while it waits
            here = len(steps)
            steps.append((WAIT, pipe, 0, here - self._signals.pop(waits[0].serial, here)))
        elif signals:
            self._signals[signals[0].serial] = len(steps)
            steps.append((SIGNAL, _PIPE[call.pipe], 0, 0))
        elif call.execute is None:
            steps.append(self._other(call))
        elif call.pipe is PIPE.PIPE_V:
            key = (call, self._last, self._barrier)
            step = self._known.get(key)
            if step is None:
                step = self._known[key] = (VECTOR, V, self._vector(call), 0)
            self._last, self._barrier = call, False
            steps.append(step)
        else:
            steps.append(self._transfer(call, len(steps)))

    @property
    def kinds(self) -> list[int]:
        """The kind of each step."""
        return self._column(0)

    @property
    def pipes(self) -> list[int]:
        """The pipe of each step."""
        return self._column(1)

    @property
    def works(self) -> list[int]:
        """The index into `table` of each step."""
        return self._column(2)

    @property
    def waits(self) -> list[int]:
        """How many steps back the token was signalled that a step waits for, 0 for none."""
        return self._column(3)

    def _column(self, number: int) -> list[int]:
        if len(self._columns[0]) != len(self.steps):
            self._columns = [list(column) for column in zip(*self.steps, strict=True)]
        return self._columns[number]

    def _other(self, call: Call) -> Step:
        """Return the step of a call that stores no bytes."""
        if call.name in BARRIERS:
            pipe = _PIPE.get(call.pipe, ALL_PIPES)
            self._barrier = self._barrier or pipe in (V, ALL_PIPES)
            return BARRIER, pipe, 0, 0
        if call.name == "InitBuffer":
            self.ub_used = call.fields["ub"] + call.fields["num"] * call.fields["len32"]
        return _SCALAR if call.name == "GetValue" else _ISSUE

    def _transfer(self, call: Call, step: int) -> Step:
        """Return the step of a copy with GM, or of a scalar store."""
        if call.pipe == PIPE.PIPE_S:
            return _SCALAR
        into_gm = call.accesses[0].space == GM
        access = call.accesses[0 if into_gm else 1]
        transfer = Transfer(
            step,
            access.holder.name,
            access.start,
            call.geometry.blocks,  # type: ignore[union-attr]
            access.element,
            access.start % GM_FAST_START == 0 and access.block_stride % GM_FAST_START == 0,
            call.fields["l2"] == CacheMode.CACHE_MODE_NORMAL.name,
        )
        (self.writes if into_gm else self.reads).append(transfer)
        return _WRITE if into_gm else _READ

    def _vector(self, call: Call) -> int:
        """Return the work of a vector instruction after `_last`."""
        if call.name == "DataCopy":
            return self._work(ub_copy_work(call, self.soc))
        dependent = self._barrier or (self.auto_sync and self._touches_last(call))
        return self._work(vector_work(call, self.soc, dependent))

    def _touches_last(self, call: Call) -> bool:
        """Return True when `call` touches what the vector instruction before it stored."""
        if self._last is None:
            return False
        holder, start, stop = self._span_of(self._last)[0]
        return any(h is holder and a < stop and start < b for h, a, b in self._span_of(call))

    def _span_of(self, call: Call) -> list[tuple[Any, int, int]]:
        spans = self._spans.get(call)
        if spans is None:
            spans = self._spans[call] = [_span(call, access) for access in call.accesses]
        return spans

    def _work(self, work: Work) -> int:
        found = self._numbers.get(work)
        if found is None:
            found = self._numbers[work] = len(self.table)
            self.table.append(work)
        return found


def _span(call: Call, access: Access) -> tuple[Any, int, int]:
    ranges = call.ranges(access) or [(access.start, access.start)]
    return access.holder, min(a for a, _ in ranges), max(b for _, b in ranges)


def same_stream(a: StepRecorder, b: StepRecorder) -> bool:
    """Return True when two streams agree up to where in GM they start."""
    if (a.kinds, a.pipes, a.waits) != (b.kinds, b.pipes, b.waits):
        return False
    if a.table == b.table:
        alike = a.works == b.works
    else:
        alike = [a.table[w] for w in a.works] == [b.table[w] for w in b.works]
    if not alike:
        return False
    return _same_transfers(a.reads, b.reads) and _same_transfers(a.writes, b.writes)


def _same_transfers(a: list[Transfer], b: list[Transfer]) -> bool:
    shifts: dict[str, int] = {}
    for one, other in zip(a, b, strict=True):
        shift = other.start - one.start
        same = (one.tensor, one.blocks, one.length, one.aligned, one.allocates) == (
            other.tensor,
            other.blocks,
            other.length,
            other.aligned,
            other.allocates,
        )
        if not same or shifts.setdefault(one.tensor, shift) != shift:
            return False
    return True


def shared_reads(classes: Any) -> tuple[set[ReadKey], bool]:
    """Return the ranges that every block reads, and whether all read them in the same order.

    `classes` have `stream` and, for classes of several blocks, `last`, the stream of the last: what
    both read, all blocks between them read, since starts are linear in the block.
    """
    streams = [s for c in classes for s in (c.stream, c.last) if s is not None]
    if len(streams) < 2:
        return set(), False
    common = set.intersection(*({t.key for t in s.reads} for s in streams))
    orders = {tuple(t.key for t in s.reads if t.key in common) for s in streams}
    return common, len(orders) == 1


def fingerprints(kinds: list[int], pipes: list[int], works: list[int], waits: list[int]) -> Any:
    """Return one integer per step; equal integers cost and wait the same."""
    found = np.zeros(len(kinds), np.int64)
    for column in (kinds, pipes, works, waits):
        values = np.asarray(column, np.int64)
        found = found * (int(values.max(initial=0)) + 1) + values
    return found
