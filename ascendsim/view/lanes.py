"""The pieces of a block's timeline that traces and pictures draw, and the tokens between them.

A pipe runs its instructions in order, but a copy into UB is complete only one latency after MTE2
has taken the next one. A piece is therefore drawn as two parts that never overlap others of its
lane: `start` to `stop`, while the pipe is occupied, and `stop` to `until`, the part of the latency
that no later copy hides. Both together are the busy cycles of the pipe.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ascendsim.observe.timeline import Timeline, same_stream
from ascendsim.observe.timeline.schedule import State, walk
from ascendsim.observe.timeline.steps import PIPE_NAMES
from ascendsim.record import GM, Access, Call, Instr

LANES = ("S", "MTE2", "V", "MTE3")  # data-path order


@dataclass(frozen=True, slots=True)
class Piece:
    """One instruction on its pipe; cycles from the start of its block."""

    step: int
    pipe: str
    name: str
    start: float
    stop: float
    until: float
    complete: float
    instr: Instr | None


def pieces_of(timeline: Timeline, block: int = 0) -> list[Piece]:
    """Return the pieces of a block in program order."""
    time = timeline.launch.blocks[timeline.class_of(block)]
    slices = list(timeline.slices(block))
    following: dict[str, float] = {}
    found = []
    for part in reversed(slices):
        work = time.works[time.index[part.step]]
        stop = part.stop - work.latency
        until = max(stop, min(part.stop, following.get(part.pipe, part.stop)))
        following[part.pipe] = part.start
        name = part.instr.call.name if part.instr else work.name
        found.append(
            Piece(part.step, part.pipe, name, part.start, stop, until, part.stop, part.instr)
        )
    return found[::-1]


def links_of(timeline: Timeline, block: int, pieces: list[Piece]) -> Iterator[tuple[Piece, Piece]]:
    """Give the two ends of every token: the last piece before it and the first one behind it.

    A token that has no instruction on one side (the first buffers are free, nothing follows the
    last copy) is no link.
    """
    recorder = timeline.launch.blocks[timeline.class_of(block)].stream.recorder
    lanes: dict[str, list[Piece]] = defaultdict(list)
    for piece in pieces:
        lanes[piece.pipe].append(piece)
    steps = {pipe: [piece.step for piece in lane] for pipe, lane in lanes.items()}
    for signal, wait in timeline.arrows(block):
        source, target = (PIPE_NAMES[recorder.pipes[step]] for step in (signal, wait))
        before = bisect_left(steps.get(source, []), signal) - 1
        after = bisect_left(steps.get(target, []), wait)
        if before >= 0 and after < len(lanes.get(target, ())):
            yield lanes[source][before], lanes[target][after]


def block_states(timeline: Timeline) -> list[State]:
    """Return where the pipes of each class of blocks stand at its end."""
    stretch = timeline.stretch
    return [walk(time.program(stretch))[0] for time in timeline.launch.blocks]


def block_starts(timeline: Timeline) -> dict[int, tuple[int, float]]:
    """Return the core of every block, and the cycle at which it starts there.

    Blocks go to the cores in turn; one of a later round starts when those before it have ended.
    """
    ends: dict[int, float] = {}
    for time, state in zip(timeline.launch.blocks, block_states(timeline), strict=True):
        ends |= dict.fromkeys(time.stream.blocks, state.end)
    clock = [0.0] * timeline.launch.cores
    starts = {}
    for block in sorted(ends):
        core = block % timeline.launch.cores
        starts[block] = (core, clock[core])
        clock[core] += ends[block]
    return starts


def representatives(timeline: Timeline) -> list[int]:
    """Return one block for each different stream, in order.

    Classes keep apart what a kernel asked about its block number; two of them may leave the same
    stream.
    """
    found: list[Any] = []
    for time in timeline.launch.blocks:
        stream = time.stream
        if not any(
            o.hits == stream.hits and same_stream(o.recorder, stream.recorder) for o in found
        ):
            found.append(stream)
    return sorted(stream.blocks[0] for stream in found)


def operands(call: Call, scalar: Any, addressed: bool = True) -> str:
    """Return what a call works on: each operand with its buffer and bytes, and its parameters."""
    words = [f"{access.role}={_place(call, access, addressed)}" for access in call.accesses]
    words += [f"scalar={scalar}"] if scalar is not None else []
    words += [f"{name}={value}" for name, value in call.fields.items()]
    return " ".join(words)


def moved(call: Call) -> int:
    """Return how many bytes the call stores."""
    stored = (access for access in call.accesses if access.writes)
    return sum(stop - start for access in stored for start, stop in call.ranges(access))


def _place(call: Call, access: Access, addressed: bool) -> str:
    ranges = call.ranges(access) or [(access.start, access.start)]
    start, stop = min(a for a, _ in ranges), max(b for _, b in ranges)
    if access.space == GM:
        return f"{access.holder.name} GM" + (f"[{start:#x}, {stop:#x})" if addressed else "")
    return f"{access.holder.name} UB[{start:#x}, {stop:#x})"
