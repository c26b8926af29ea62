"""Find the blocks of a launch that do the same, from their records.

One block of each class is recorded without data, with a block number that remembers every
question the kernel asked of it (isa/symbolic.py). The blocks that answer all of them alike form
the class; its last block is recorded plainly as well and must leave the same stream, up to where
in GM it starts, as must the first block of the launch. If one does not, nothing is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ascendsim.core import AivCore
from ascendsim.isa.symbolic import BlockNumber, Question, holds
from ascendsim.launch.blocks import end_block, prepared_core, run_block
from ascendsim.launch.job import Job
from ascendsim.tensor import GmAddress


@dataclass(frozen=True, slots=True)
class BlockClass:
    """Blocks that leave the same stream.

    stream, last : the recorders of the first and the last of them (None when there is one).
    """

    blocks: tuple[int, ...]
    stream: Any
    last: Any


def block_classes(
    job: Job,
    recorder: Callable[[], Any],
    same: Callable[[Any, Any], bool],
    share: bool = True,
    at_end: Callable[[AivCore], None] = lambda core: None,
) -> list[BlockClass]:
    """Return the classes of `job`'s blocks, in the order of their first block.

    Parameters
    ----------
    recorder : makes an observer that is the stream of a block; its `tape` is a method that takes
        (call, waits, signals, scalar) in place of records, or None
    same : tells whether two streams are equal up to their start in GM
    share : False records every block on its own (the slow truth)
    at_end : sees the core when all is recorded
    """
    if share:
        found = _shared_classes(job, recorder, same, at_end)
        if found is not None:
            return found
    with prepared_core(job, executing=False) as (core, arguments):
        classes = [
            BlockClass((b,), _record(job, core, arguments, b, recorder(), None), None)
            for b in range(job.block_dim)
        ]
        at_end(core)
        return classes


def _shared_classes(
    job: Job,
    recorder: Callable[[], Any],
    same: Callable[[Any, Any], bool],
    at_end: Callable[[AivCore], None],
) -> list[BlockClass] | None:
    """Return the classes, or None when a plain recording contradicts one of them."""
    classes: list[BlockClass] = []
    remaining = list(range(job.block_dim))
    with prepared_core(job, executing=False) as (core, arguments):
        while remaining:
            block = remaining[0]
            path: list[Question] = []
            number = BlockNumber(block, path)
            stream = _record(job, core, arguments, block, recorder(), number)
            members = [b for b in remaining if holds(path, b)]
            last = None
            if len(members) > 1 or not classes:
                last = _record(job, core, arguments, members[-1], recorder(), None)
                if not same(stream, last):
                    return None
            classes.append(BlockClass(tuple(members), stream, last if len(members) > 1 else None))
            taken = set(members)
            remaining = [b for b in remaining if b not in taken]
        at_end(core)
    return classes


def _record(
    job: Job,
    core: AivCore,
    arguments: list[GmAddress],
    block: int,
    observer: Any,
    number: BlockNumber | None,
) -> Any:
    core.begin_block(block, (observer,))
    core.number, core.tape = number, observer.tape
    run_block(job, core, block, arguments)
    end_block(core)
    return observer
