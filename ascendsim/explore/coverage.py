"""Do the blocks of a launch write every byte of the outputs exactly once? Decided on records.

Blocks of one class leave the same stream up to where in GM it starts, and that start is linear in
the block's number (isa/symbolic.py pins whatever is not). Two recorded blocks of a class therefore
give the writes of all of them. Where the stream does not say which bytes a block wrote (copies of
several blocks with gaps, elements stored by the scalar unit), every block is recorded.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ascendsim.launch import BlockClass, Job
from ascendsim.launch.blocks import prepared_core, run_block
from ascendsim.launch.report import coverage_text
from ascendsim.observe.timeline.steps import SCALAR, StepRecorder
from ascendsim.record import GM, Instr

Spans = dict[str, np.ndarray]  # tensor to rows of (first byte, byte behind the last)


def coverage_gaps(job: Job, classes: Sequence[BlockClass]) -> str:
    """Say which outputs are not written exactly once, "" when all are.

    Parameters
    ----------
    classes : as `launch.recorded` returns them
    """
    doubt = any(_hides_writes(each.stream) for each in classes)
    spans = recorded_writes(job) if doubt else shared_writes(classes)
    nothing = np.empty((0, 2), np.int64)
    shared = {w.tensor for each in classes for w in each.stream.writes if w.shared}
    found = []
    for name, (shape, dtype) in job.outputs.items():
        written = spans.get(name, nothing)
        plain, again = (nothing, written) if name in shared else (written, nothing)
        text = coverage_text(name, math.prod(shape) * dtype.nbytes, plain, again)
        found += [text] if text else []
    return "; ".join(found)


def shared_writes(classes: Sequence[BlockClass]) -> Spans:
    """Return the writes of all blocks from the first and the last block of each class."""
    found: dict[str, list[np.ndarray]] = defaultdict(list)
    for each in classes:
        for tensor, spans in _writes_of(each.stream).items():
            shift = _shift(each, tensor)
            blocks = np.array(each.blocks, np.int64) - each.blocks[0]
            moved = spans[None] + (blocks * shift)[:, None, None]
            found[tensor].append(moved.reshape(-1, 2))
    return {tensor: np.concatenate(parts) for tensor, parts in found.items()}


def recorded_writes(job: Job) -> Spans:
    """Return the writes of all blocks, each recorded on its own (the slow truth)."""
    seen = _Writes()
    with prepared_core(job, executing=False) as (core, arguments):
        for block in range(job.block_dim):
            core.begin_block(block, (seen,))
            run_block(job, core, block, arguments)
    return {tensor: np.array(spans, np.int64) for tensor, spans in seen.spans.items()}


class _Writes:
    """An observer that keeps which bytes of GM were stored."""

    def __init__(self) -> None:
        self.spans: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def before(self, instr: Instr) -> None:
        """Nothing to see before the call."""

    def after(self, instr: Instr) -> None:
        """Note the ranges that a store to GM touches."""
        for access in instr.call.accesses:
            if access.space == GM and access.writes:
                self.spans[access.holder.name] += instr.call.ranges(access)


def _hides_writes(stream: StepRecorder) -> bool:
    return SCALAR in stream.kinds or any(write.blocks > 1 for write in stream.writes)


def _writes_of(stream: StepRecorder) -> Spans:
    """Return the spans that a block wrote, those that touch end to start as one."""
    by_tensor: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for write in stream.writes:
        by_tensor[write.tensor].append((write.start, write.start + write.nbytes))
    found = {}
    for tensor, listed in by_tensor.items():
        spans = np.array(sorted(listed), np.int64)
        breaks = np.flatnonzero(spans[1:, 0] != spans[:-1, 1])
        firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(spans) - 1)
        found[tensor] = np.stack([spans[firsts, 0], spans[lasts, 1]], 1)
    return found


def _shift(blocks: BlockClass, tensor: str) -> int:
    """Return by how many bytes one block's writes lie behind those of the block before it."""
    if blocks.last is None:
        return 0
    first = next(write.start for write in blocks.stream.writes if write.tensor == tensor)
    last = next(write.start for write in blocks.last.writes if write.tensor == tensor)
    shift, rest = divmod(last - first, blocks.blocks[-1] - blocks.blocks[0])
    assert rest == 0, "where a block starts is linear in its number"
    return shift
