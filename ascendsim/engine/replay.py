"""Run a plan: on one thread, or on several when the launch is large and its blocks independent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ascendsim.engine.lower import CONSTANTS
from ascendsim.engine.plan import Plan
from ascendsim.engine.table import runner
from ascendsim.engine.threads import in_parallel, threads_for
from ascendsim.memory import UB_ALIGNMENT, aligned_bytes, pattern


class _State(NamedTuple):
    """What one thread works on: a UB, and the plan's rows with addresses in it.

    parameters : blocks that programs read, and write to; refused : 1 after data that an instruction
    refuses; address : of the rows
    """

    ub: np.ndarray
    rows: np.ndarray
    parameters: np.ndarray
    refused: np.ndarray
    address: int


def run_replay(plan: Plan, gm: Mapping[str, int], template: np.ndarray) -> bool:
    """Execute a plan; False when an instruction refused its data, so that GM holds no result.

    Parameters
    ----------
    gm : absolute address of each GM tensor
    template : what UB holds before a block starts (`first_content`)
    """
    bases = bases_of(plan, gm, template)
    count = 1
    if plan.independent and len(plan.blocks) > 1:
        count = min(threads_for(plan.traffic), len(plan.blocks))
    states = [_take(plan) for _ in range(count)]
    for state in states:
        state.refused[0] = 0
    try:
        in_parallel(
            runner(),
            [
                _arguments(state, plan, part, bases)
                for state, part in zip(states, _parts(plan.blocks, count), strict=True)
            ],
        )
        return not any(state.refused[0] for state in states)
    finally:
        plan.spare.extend(states)


def run_blocks(plan: Plan, blocks: np.ndarray, bases: np.ndarray) -> None:
    """Execute some rows of `plan.blocks` on this thread."""
    state = _take(plan)
    try:
        runner()(*_arguments(state, plan, blocks, bases))
    finally:
        plan.spare.append(state)


def bases_of(plan: Plan, gm: Mapping[str, int], template: np.ndarray) -> np.ndarray:
    """Return the address of each space of a plan."""
    bases = np.empty(CONSTANTS + 1 + len(plan.spaces), np.int64)
    bases[:2] = _address(template), _address(plan.constants)
    bases[2:] = [gm[name] for name in plan.spaces]
    return bases


@lru_cache(maxsize=8)
def first_content(fill: str, nbytes: int, seed: int) -> np.ndarray:
    """Return what UB holds before a block starts; see `memory.pattern`."""
    return pattern(fill, nbytes, seed)


def _arguments(state: _State, plan: Plan, blocks: np.ndarray, bases: np.ndarray) -> tuple[int, ...]:
    """Return what the compiled loop is called with; blocks and bases must stay alive meanwhile."""
    tables = _address(plan.entries), _address(plan.scalars)
    places = _address(blocks), len(blocks), _address(bases)
    return state.address, *tables, *places, _address(state.refused)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]  # half the time of array.ctypes.data


def _take(plan: Plan) -> _State:
    try:
        return plan.spare.pop()
    except IndexError:
        ub = aligned_bytes(plan.ub_bytes, UB_ALIGNMENT)
        parameters = plan.parameters.copy()
        parameters[plan.inner] += parameters.ctypes.data
        starts = np.array([0, ub.ctypes.data, parameters.ctypes.data], np.int64)
        rows = plan.rows + starts[plan.relative]
        return _State(ub, rows, parameters, np.zeros(1, np.int64), rows.ctypes.data)


def _parts(blocks: np.ndarray, count: int) -> list[np.ndarray]:
    edges = [len(blocks) * k // count for k in range(count + 1)]
    return [blocks[a:b] for a, b in pairwise(edges)]
