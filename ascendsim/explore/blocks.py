"""The classes of a launch's blocks, from half the records that `launch.block_classes` makes.

The first block of a class is recorded in full, with a symbolic number. Blocks that answer all
questions of its path alike take the same way through the kernel, and where they touch GM is linear
in their number (isa/symbolic.py). So the last block of a class is recorded only until it has
touched every tensor: that much must agree with the first block, and tells how far behind it the
last one lies. Where it does not agree, all is left to `block_classes`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from ascendsim.core import AivCore
from ascendsim.isa.symbolic import BlockNumber, Question, holds
from ascendsim.launch import BlockClass, Job, block_classes
from ascendsim.launch.blocks import prepared_core, run_block
from ascendsim.observe.timeline import StepRecorder, same_stream
from ascendsim.observe.timeline.steps import Transfer

Recorder = Callable[[], StepRecorder]


class Moved(NamedTuple):
    """Where a block reads and writes that does what a recorded one does, elsewhere in GM."""

    reads: list[Transfer]
    writes: list[Transfer]


class _EnoughError(BaseException):
    """Ends a recording from within the kernel; no Exception, or it would count as its failure."""


def classes_of(job: Job, recorder: Recorder) -> list[BlockClass]:
    """Return the classes of `job`'s blocks in the order of their first block.

    `last` of a class is a `Moved`, not a stream.
    """
    found = []
    remaining = list(range(job.block_dim))
    with prepared_core(job, executing=False) as (core, arguments):
        while remaining:
            block, path = remaining[0], list[Question]()
            core.begin_block(block, (stream := recorder(),))
            core.number, core.tape = BlockNumber(block, path), stream.tape
            run_block(job, core, block, arguments)
            members = [each for each in remaining if holds(path, each)]
            last = None
            if len(members) > 1 or not found:
                last = _moved(stream, _beginning(job, core, arguments, members[-1], stream))
                if last is None:
                    break
            found.append(BlockClass(tuple(members), stream, last if len(members) > 1 else None))
            taken = set(members)
            remaining = [each for each in remaining if each not in taken]
    return found if not remaining else block_classes(job, recorder, same_stream)


class _Beginning:
    """A tape that ends the recording after `steps` steps."""

    def __init__(self, like: StepRecorder, steps: int) -> None:
        self.stream = StepRecorder(like.soc, like.auto_sync)
        self.steps = steps

    def append(self, *what: Any) -> None:
        """Append the step of one call."""
        self.stream.append(*what)
        if len(self.stream.kinds) >= self.steps:
            raise _EnoughError


def _beginning(
    job: Job, core: AivCore, arguments: list[Any], block: int, like: StepRecorder
) -> StepRecorder:
    """Record `block` until it has touched every tensor that `like` touches."""
    touched = [*like.reads, *like.writes]
    firsts = {each.tensor: each.step for each in sorted(touched, key=_step, reverse=True)}
    beginning = _Beginning(like, max(firsts.values(), default=0) + 1)
    core.begin_block(block, (beginning.stream,))
    core.tape = beginning.append
    with suppress(_EnoughError):
        run_block(job, core, block, arguments)
    return beginning.stream


def _step(transfer: Transfer) -> int:
    return transfer.step


def _moved(like: StepRecorder, beginning: StepRecorder) -> Moved | None:
    """Return the places of the block that begins like this; None when it begins otherwise."""
    size = len(beginning.kinds)
    columns = ("kinds", "pipes", "waits")
    if any(getattr(like, c)[:size] != getattr(beginning, c) for c in columns):
        return None
    if [like.table[w] for w in like.works[:size]] != [beginning.table[w] for w in beginning.works]:
        return None
    shifts: dict[str, int] = {}
    for direction in ("reads", "writes"):
        for one, other in zip(
            getattr(like, direction), getattr(beginning, direction), strict=False
        ):
            shift = other.start - one.start
            same = _elsewhere(one) == _elsewhere(other)
            if not same or shifts.setdefault(one.tensor, shift) != shift:
                return None
    if {each.tensor for each in (*like.reads, *like.writes)} - shifts.keys():
        return None
    places = (
        [replace(each, start=each.start + shifts[each.tensor]) for each in listed]
        for listed in (like.reads, like.writes)
    )
    return Moved(*places)


def _elsewhere(each: Transfer) -> tuple[Any, ...]:
    """Return all of a transfer but where it starts."""
    return each.step, each.tensor, each.blocks, each.length, each.aligned, each.allocates
