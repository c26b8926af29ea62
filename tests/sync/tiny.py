"""Tiny programs of one block, and every outcome that the hardware may give them.

A program is a list of steps over cells of 32 bytes. `body` turns it into a kernel; `outcomes` runs
it on a machine of its own: the scalar unit issues in program order, each pipe starts what is at the
head of its queue, an instruction that has started reads at some moment and stores at a later one,
and whatever may happen next is tried. It shares nothing with the code under test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from ascendsim.ascendc import *
from tests.kit import Ub, gm

LANES, CELLS = 8, 3  # float32 lanes of a cell; cells of UB, and of GM
MOST_STATES = 3000
SPOILED = "another value read"
EVENTS = ("MTE2_V", "V_MTE2", "V_MTE3", "MTE3_V", "MTE2_MTE3", "MTE3_MTE2", "V_S", "MTE2_S")
BARRIERS = ("V", "MTE2", "MTE3", "ALL")


class Step(NamedTuple):
    """One call: what it is, the pipe that runs it, its cells (of GM behind those of UB), a number.

    kind : in, out, adds, muls, add, get, set, wait, barrier
    """

    kind: str
    pipe: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    number: float = 0


class State(NamedTuple):
    """Where the machine stands.

    running : instructions that have started, with what they will store (b"": they have not read)
    sets : flags that come when the instructions named with them are done
    memory : the bytes of all cells
    """

    issued: int
    queues: tuple[tuple[str, tuple[int, ...]], ...]
    running: frozenset[tuple[int, bytes]]
    sets: frozenset[tuple[float, frozenset[int]]]
    flags: frozenset[float]
    memory: bytes


def body(steps):
    """Return the kernel of these steps."""

    def kernel(x, out):
        u = Ub(cells=(float32, LANES * CELLS))
        for step in steps:
            call(step, u["cells"], gm(x))

    return kernel


def call(step, ub, tensor):
    """Make the call of a step."""

    def local(cell):
        return ub[cell * LANES :]

    def cell_of_gm(cell):
        return tensor[(cell - CELLS) * LANES :]

    kind, number = step.kind, step.number
    if kind == "in":
        DataCopy(local(step.writes[0]), cell_of_gm(step.reads[0]), LANES)
    elif kind == "out":
        DataCopy(cell_of_gm(step.writes[0]), local(step.reads[0]), LANES)
    elif kind == "adds":
        Adds(local(step.writes[0]), local(step.reads[0]), number, LANES)
    elif kind == "muls":
        Muls(local(step.writes[0]), local(step.reads[0]), number, LANES)
    elif kind == "add":
        Add(local(step.writes[0]), *map(local, step.reads), LANES)
    elif kind == "get":
        local(step.reads[0]).GetValue(0)
    elif kind == "barrier":
        PipeBarrier(getattr(PIPE, f"PIPE_{step.pipe}"))
    else:
        flag = SetFlag if kind == "set" else WaitFlag
        flag(HardEvent[event_of(step)], int(number) % 8)


def event_of(step):
    return EVENTS[int(step.number) // 8]


def outcomes(steps, memory: bytes, vector_in_order: bool, whole: bool = False):
    """Return all that may be left in the cells of GM, or SPOILED where GetValue read another value.

    None when there are too many ways. memory : the bytes at the start, cells of UB first
    whole : an instruction reads and stores in one moment
    """
    steps = [*steps, Step("barrier", "ALL")]
    machine = _Machine(steps, vector_in_order, whole)
    machine.expected = machine.in_program_order(memory)
    pipes = tuple((pipe, ()) for pipe in ("V", "MTE2", "MTE3"))
    todo = [State(0, pipes, frozenset(), frozenset(), frozenset(), memory)]
    seen, found = set(todo), set()
    while todo:
        for state in machine.next_of(todo.pop()):
            if isinstance(state, str):
                found.add(state)
            elif len(seen) > MOST_STATES:
                return None
            elif state not in seen:
                seen.add(state)
                todo.append(state)
                if state.issued == len(steps):
                    found.add(state.memory[CELLS * LANES * 4 :])
    return found


class _Machine:
    def __init__(self, steps, vector_in_order, whole):
        self.steps, self.in_order, self.whole = steps, vector_in_order, whole
        self.expected: dict[int, bytes] = {}

    def in_program_order(self, memory):
        """Return what each GetValue reads when one step follows the other."""
        read = {}
        for at, step in enumerate(self.steps):
            if step.kind == "get":
                read[at] = _cell(memory, step.reads[0])[:4]
            elif step.writes:
                memory = _stored(memory, step.writes[0], _result(step, memory))
        return read

    def next_of(self, state):
        """Yield the states that may follow."""
        if state.issued < len(self.steps):
            yield from self._issue(state)
        for pipe, queue in state.queues:
            if queue:
                yield from self._start(state, pipe, queue)
        for each in state.running:
            yield from self._go_on(state, each)
        for each in state.sets:
            if not each[1] & {at for at, _ in state.running}:
                yield state._replace(sets=state.sets - {each}, flags=state.flags | {each[0]})

    def _go_on(self, state, each):
        """Let an instruction that has started read, or store what it made of it."""
        at, result = each
        others = state.running - {each}
        if not result:
            result = _result(self.steps[at], state.memory)
            if not self.whole:
                yield state._replace(running=others | {(at, result)})
                return
        memory = _stored(state.memory, self.steps[at].writes[0], result)
        yield state._replace(running=others, memory=memory)

    def _issue(self, state):
        at, queues = state.issued, dict(state.queues)
        step = self.steps[at]
        if step.kind == "barrier" and step.pipe == "ALL":
            if not any(queues.values()) and not state.running:
                yield state._replace(issued=at + 1)
        elif step.kind == "get":
            same = _cell(state.memory, step.reads[0])[:4] == self.expected[at]
            yield state._replace(issued=at + 1) if same else SPOILED
        elif step.kind == "wait" and step.pipe == "S":
            if step.number in state.flags:
                yield state._replace(issued=at + 1, flags=state.flags - {step.number})
        else:
            queues[step.pipe] += (at,)
            yield state._replace(issued=at + 1, queues=tuple(queues.items()))

    def _start(self, state, pipe, queue):
        at, step = queue[0], self.steps[queue[0]]
        busy = any(self.steps[other].pipe == pipe for other, _ in state.running)
        queues = tuple((p, q[1:] if p == pipe else q) for p, q in state.queues)
        left = state._replace(queues=queues)
        if step.kind == "barrier":
            if not busy:
                yield left
        elif step.kind == "set":
            ahead = frozenset(o for o, _ in state.running if self.steps[o].pipe == pipe)
            yield left._replace(sets=state.sets | {(step.number, ahead)})
        elif step.kind == "wait":
            if step.number in state.flags:
                yield left._replace(flags=state.flags - {step.number})
        elif not (busy and pipe == "V" and self.in_order):
            yield left._replace(running=state.running | {(at, b"")})


def _cell(memory, cell):
    return memory[cell * LANES * 4 : (cell + 1) * LANES * 4]


def _stored(memory, cell, result):
    start = cell * LANES * 4
    return memory[:start] + result + memory[start + len(result) :]


def _result(step, memory):
    values = [np.frombuffer(_cell(memory, cell), np.float32) for cell in step.reads]
    number = np.float32(step.number)
    if step.kind == "adds":
        return (values[0] + number).tobytes()
    if step.kind == "muls":
        return (values[0] * number).tobytes()
    return sum(values[1:], values[0]).tobytes()


UB_CELL = st.integers(0, CELLS - 1)
GM_CELL = st.integers(CELLS, 2 * CELLS - 1)
_DATA = st.one_of(
    st.builds(lambda a, b: Step("in", "MTE2", (a,), (b,)), GM_CELL, UB_CELL),
    st.builds(lambda a, b: Step("out", "MTE3", (a,), (b,)), UB_CELL, GM_CELL),
    st.builds(lambda a, b, c: Step("adds", "V", (a,), (b,), c), UB_CELL, UB_CELL, st.just(3)),
    st.builds(lambda a, b, c: Step("muls", "V", (a,), (b,), c), UB_CELL, UB_CELL, st.just(2)),
    st.builds(lambda a, b, c: Step("add", "V", (a, b), (c,)), UB_CELL, UB_CELL, UB_CELL),
    st.builds(lambda a: Step("get", "S", (a,)), UB_CELL),
)


@st.composite
def programs(draw, most=5):
    """Draw a program of at most `most` instructions, with flags and barriers between them."""
    steps = draw(st.lists(_DATA, min_size=2, max_size=most))
    for name in draw(st.lists(st.sampled_from(BARRIERS), max_size=1)):
        steps.insert(draw(st.integers(0, len(steps))), Step("barrier", name))
    events = draw(st.lists(st.sampled_from(EVENTS), max_size=4))
    for number, event in enumerate(events):
        source, destination = event.split("_")
        number += 8 * EVENTS.index(event)
        at = draw(st.integers(0, len(steps)))
        steps.insert(at, Step("set", source, number=number))
        behind = draw(st.integers(at + 1, len(steps)))
        steps.insert(behind, Step("wait", destination, number=number))
    return steps
