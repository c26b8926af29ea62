"""The plan of a launch: everything that its blocks execute, for any data of the same shape.

Blocks that do the same share their entries; only where in GM each stands differs, by a fixed step
from block to block (launch/classes.py finds these classes, and proves them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ascendsim.engine.footprint import Footprint, footprint, independent, stale_bytes
from ascendsim.engine.lower import Entry, Lowering
from ascendsim.engine.stream import NoPlanError, Stream, gm_place, same_stream
from ascendsim.engine.words import CHECK, ROW_WORDS

# columns of `Plan.entries` and `Plan.blocks`
ROW, PLACE, STEP = range(3)
FIRST, LAST, NUMBER = range(3)
MAX_ENTRIES = 4_000_000  # 128 MB of tables


class Class(Protocol):
    """Blocks that leave the same stream: the first and (if there are several) the last one's."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """The blocks, in order."""

    @property
    def stream(self) -> Stream:
        """What the first of them does."""

    @property
    def last(self) -> Stream | None:
        """What the last of several does."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a launch executes, as tables.

    rows : int64 (rows, ROW_WORDS), see lower.py, as are `relative`, `parameters` and `inner`
    entries : int64 (entries, 3): row, place in GM, step of that place from block to block
    scalars : float64 (entries,)
    blocks : int64 (blocks, 3), in program order: first and last entry, number within its class
    classes : (blocks, first entry, last entry), and `calls` the call that each entry begins
    spaces : names of the GM tensors, the first with number lower.CONSTANTS + 1
    touched : what the launch reads and writes of each GM tensor
    independent : no block reads or writes what another one writes
    traffic : bytes read from and written to GM
    spare, derived : UBs that a replay works on; what the fused engine made of the plan
    """

    rows: np.ndarray
    relative: np.ndarray
    parameters: np.ndarray
    inner: np.ndarray
    entries: np.ndarray
    scalars: np.ndarray
    blocks: np.ndarray
    classes: tuple[tuple[tuple[int, ...], int, int], ...]
    calls: tuple[Any, ...]
    spaces: tuple[str, ...]
    constants: np.ndarray
    touched: Mapping[str, Footprint]
    independent: bool
    ub_bytes: int
    traffic: int
    spare: list[Any] = field(default_factory=list)
    derived: dict[str, Any] = field(default_factory=dict)

    @property
    def checks(self) -> bool:
        """Whether an instruction may refuse data."""
        return bool((self.rows[:, CHECK] != 0).any())


def make_plan(classes: Sequence[Class], tensors: Mapping[str, int], ub_bytes: int) -> Plan:
    """Return the plan of recorded blocks.

    Parameters
    ----------
    classes : the blocks of the launch, recorded by Stream
    tensors : bytes of each GM tensor, in the order of the kernel's arguments

    Raises
    ------
    NoPlanError
        When a call does more than rows can say, or the launch is too long.
    """
    lowering = Lowering(tensors)
    entries: list[Entry] = []
    calls: list[Any] = []
    steps: list[int] = []
    found: list[tuple[tuple[int, ...], int, int]] = []
    places: dict[int, tuple[int, int]] = {}
    for each in classes:
        first = len(entries)
        body = lowering.entries(each.stream)
        fills = [lowering.fill(*part) for part in stale_bytes(each.stream, body, ub_bytes)]
        calls += [None] * len(fills) + _calls(each.stream, body)
        entries += fills + body
        steps += [0] * len(fills) + _steps(each, body)
        found.append((each.blocks, first, len(entries)))
        places |= {b: (len(found) - 1, b - each.blocks[0]) for b in each.blocks}
        if len(entries) > MAX_ENTRIES:
            raise NoPlanError(
                f"the launch executes more than {MAX_ENTRIES} calls in blocks that differ"
            )
    blocks = [(*found[places[b][0]][1:], places[b][1]) for b in sorted(places)]
    table = [(e.row, e.place, s) for e, s in zip(entries, steps, strict=True)]
    plan_entries = np.array(table, np.int64).reshape(-1, 3)
    touched = footprint(calls, plan_entries, found, tensors)
    return Plan(
        **_tables(lowering),
        entries=plan_entries,
        scalars=np.array([e.scalar for e in entries], np.float64),
        blocks=np.array(blocks, np.int64).reshape(-1, 3),
        classes=tuple(found),
        calls=tuple(calls),
        spaces=tuple(tensors),
        touched=touched,
        independent=independent(touched),
        ub_bytes=ub_bytes,
        traffic=sum(each.traffic for each in touched.values()),
    )


def _tables(lowering: Lowering) -> dict[str, Any]:
    return {
        "rows": np.array(lowering.rows, np.int64).reshape(-1, ROW_WORDS),
        "relative": np.array(lowering.relative, np.int8).reshape(-1, ROW_WORDS),
        "parameters": np.array(lowering.parameters, np.int64),
        "inner": np.array(lowering.inner, np.int64),
        "constants": lowering.constants,
    }


def _calls(stream: Stream, body: list[Entry]) -> list[Any]:
    """Return the call that each entry begins; None where it continues one."""
    numbers = [-1, *(entry.number for entry in body)]
    return [
        None if number == before else stream.calls[number] for before, number in pairwise(numbers)
    ]


def _steps(each: Class, body: list[Entry]) -> list[int]:
    """Return how far the place of each entry moves from one block of the class to the next.

    A place in GM is linear in the number of the block, by the way in which block numbers are
    followed (isa/symbolic.py); two blocks of the class determine it.
    """
    if each.last is None:
        return [0] * len(body)
    assert same_stream(each.stream, each.last)
    distance = each.blocks[-1] - each.blocks[0]
    steps = [0] * len(body)
    for position, entry in enumerate(body):
        if entry.in_gm:
            one, other = each.stream.calls[entry.number], each.last.calls[entry.number]
            before, after = gm_place(one.row), gm_place(other.row)
            (steps[position], rest), *_ = (
                divmod(after[name] - before[name], distance) for name in before
            )
            if rest:
                raise NoPlanError(f"{one.name}: its place in GM is not linear in the block number")
    return steps
