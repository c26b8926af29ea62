"""Run the blocks of a launch in other orders that their tokens permit, and compare GM bytes.

from ascendsim.explore.schedules import try_schedules
print(try_schedules(op, arrays, tiling, 50, options=asim.Options(auto_sync="off")))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.engine.conflicts import Race, conflicts, races
from ascendsim.engine.order import Order, Rules, order_of
from ascendsim.engine.schedules import Difference, Stage
from ascendsim.engine.sequences import sequences
from ascendsim.errors import KernelError, RequestError
from ascendsim.explore.witness import Hazard, Witness, decisive, differing, witness_of
from ascendsim.host import Op, Tiling, load
from ascendsim.host.job import make_job
from ascendsim.launch import Job
from ascendsim.launch.staging import staged
from ascendsim.options import Options
from ascendsim.view import sync_text


@dataclass(frozen=True, slots=True)
class Schedules:
    """The answer. Print it, or take it apart.

    n, differing : orders per block, and how many of them left other bytes in some block
    blocks : those that were tried; races : unordered pairs that share bytes, over all of them
    hazard : two instructions that suffice, None when nothing differs; witness : with which order
    """

    n: int
    differing: int
    blocks: tuple[int, ...]
    races: int
    hazard: Hazard | None
    witness: Witness | None

    def to_json(self) -> dict[str, Any]:
        """Return the `schedules` part of the document of `ascendsim check --json`."""
        witness = None
        if self.witness is not None and self.hazard is not None:
            witness = self.witness.to_json() | {"hazard": self.hazard.to_json()}
        return {
            "n": self.n,
            "differing": self.differing,
            "witness": witness,
            "races": self.races,
            "blocks": list(self.blocks),
        }

    def __str__(self) -> str:
        return sync_text.schedules(self)


def try_schedules(
    op: Op | str,
    arrays: Mapping[str, np.ndarray],
    tiling: Tiling,
    count: int,
    *,
    soc: str | None = None,
    blocks: Sequence[int] | None = None,
    seed: int = 0,
    options: Options | None = None,
) -> Schedules:
    """Run each of `blocks` (default: the first and the last) in `count` other orders.

    Whole instructions are put in another order, and some start before one that races with them is
    complete. With auto_sync=off two vector instructions of a 910B-class chip without a barrier
    between them have no order. Where few instructions race, all their orders are among the `count`.

    Raises
    ------
    RequestError
        When `count` is below 1, or there is no such block.
    UnsupportedError
        When blocks wait for one another, or a block has too many records.
    AscendError
        When the kernel breaks a rule.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise RequestError(f"schedules: {count!r} orders: use a number from 1 on")
    job = make_job(load(op), arrays, tiling, soc, seed, options or Options())
    return schedules_of(job, count, blocks, seed)


def schedules_of(
    job: Job, count: int, blocks: Sequence[int] | None = None, seed: int = 0
) -> Schedules:
    """Do what `try_schedules` says, for a job."""
    chosen = blocks_to_try(blocks, job.block_dim)
    parted: set[int] = set()
    found: tuple[Hazard, Witness] | None = None
    racing = 0
    for block in chosen:
        with staged(job, block) as stage:
            order, pairs = _races(stage, job.options)
            racing += len(pairs)
            here, parting = _tried(stage, order, pairs, count, seed)
            parted |= here
            if parting is not None and found is None:
                found = _least(stage, order, pairs, *parting)
    hazard, witness = found or (None, None)
    return Schedules(count, len(parted), chosen, racing, hazard, witness)


def blocks_to_try(blocks: Sequence[int] | None, block_dim: int) -> tuple[int, ...]:
    """Return the blocks asked for, checked; by default the first and the last."""
    if blocks is None:
        return tuple(sorted({0, block_dim - 1}))
    for block in blocks:
        if not 0 <= block < block_dim:
            raise RequestError(f"block {block}: the launch has blocks 0..{block_dim - 1}")
    return tuple(blocks)


def rules_of(stage: Stage, options: Options) -> Rules:
    """Return what orders instructions on the chip of a stage."""
    return Rules.of(stage.core.soc.arch, options.auto_sync == "on")


def _races(stage: Stage, options: Options) -> tuple[Order, list[Race]]:
    conflicting = conflicts(stage.records)
    order = order_of(stage.records, conflicting, rules_of(stage, options))
    return order, list(races(conflicting, order))


def _tried(
    stage: Stage, order: Order, pairs: list[Race], count: int, seed: int
) -> tuple[set[int], tuple[Witness, list[int]] | None]:
    """Return the numbers of the orders that differ, and what the first of them shows, with it."""
    want = stage.run(stage.program_order())
    if isinstance(want, Difference):
        raise KernelError(
            f"GetValue of {want.tensor} reads something else when the block runs again: what the "
            f"kernel does outside its calls is not repeatable; make it depend on its inputs only"
        )
    parted: set[int] = set()
    first = None
    tried = sequences(stage.records, order, count, seed, pairs)
    for number, (name, sequence) in enumerate(tried):
        found = differing(stage, want, sequence)
        if found is not None:
            parted.add(number)
            first = first or (Witness(0, name, found), sequence)
    return parted, first


def _least(
    stage: Stage, order: Order, pairs: list[Race], witness: Witness, sequence: list[int]
) -> tuple[Hazard, Witness]:
    """Return a single pair that differs when swapped, in program order or near the order found."""
    single = witness_of(stage, order, pairs, [{}])
    if single is None:
        near = decisive(stage, order, pairs, sequence)
        race, shown = pairs[0], witness
        if near is not None:
            race, shown = near[0], witness._replace(difference=near[1])
        single = race, shown
    return Hazard.of(stage, single[0]), single[1]
