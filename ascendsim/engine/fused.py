"""Run a launch as loops over elements, GM to GM, without any traffic in UB.

A launch is fusable when everything that reaches GM is computed, element by element, from the same
element of its inputs (dataflow.py); what is not names the pair of operands that forbids it. The
loops come from the plan alone, so neither the kernel's name nor its shape matters. Each compiled
loop is held against replay once for each plan: all that the first and the last block store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendsim.engine.generated import is_ready, loop_function
from ascendsim.engine.plan import Plan
from ascendsim.engine.program import Loop, loops_of
from ascendsim.engine.program_text import NotFusableError, parse
from ascendsim.engine.replay import bases_of, run_blocks
from ascendsim.engine.stream import NoPlanError
from ascendsim.engine.threads import in_parallel, threads_for

#: pieces of a loop that threads take start at multiples of so many elements
GRAIN = 4096


@dataclass(slots=True, eq=False)
class Fused:
    """The loops of a plan, and what they need of GM.

    reach : bytes of each tensor that the loops touch; checked : held against replay already;
    ready : the loops were compiled already, by this process or an earlier one, when first asked
    """

    loops: tuple[Loop, ...]
    reach: Mapping[str, int]
    scalars: tuple[np.ndarray, ...]
    checked: bool = False
    functions: list[Callable[[int, int, int, int], None]] = field(default_factory=list)
    ready: bool = False


def fused_of(plan: Plan, sizes: Mapping[str, int]) -> Fused | str:
    """Return the loops of a plan, or why there are none; `sizes` are bytes of each GM tensor."""
    known: Any = plan.derived.get("fused")
    if known is None:
        try:
            if plan.checks:
                raise NoPlanError("an instruction checks its data (Gather), which loops do not")
            loops = tuple(loops_of(plan, sizes))
            scalars = tuple(np.array(loop.scalars) for loop in loops)
            ready = all(is_ready(loop.text) for loop in loops)
            known = Fused(loops, _reach(loops), scalars, ready=ready)
        except NoPlanError as reason:
            known = str(reason)
        plan.derived["fused"] = known
    return known


def compiled_loops(plan: Plan, fused: Fused) -> Fused | str:
    """Compile the loops; return why there are none if an instruction does not work by lanes."""
    if not fused.functions:
        try:
            fused.functions = [loop_function(loop.text) for loop in fused.loops]
            fused.ready = True
        except NotFusableError as reason:
            plan.derived["fused"] = str(reason)
            return str(reason)
    return fused


def run_fused(plan: Plan, fused: Fused, gm: Mapping[str, int]) -> None:
    """Run the compiled loops; `gm` is the absolute address of each tensor."""
    count = threads_for(plan.traffic)
    for loop, scalars, function in zip(fused.loops, fused.scalars, fused.functions, strict=True):
        bases = np.array([gm[name] for name in loop.tensors], np.int64)
        where = (bases.ctypes.data, scalars.ctypes.data)
        if count == 1:
            for start, elements in loop.ranges.tolist():
                function(*where, start, elements)
        else:
            in_parallel(_each(function, where), [(part,) for part in _parts(loop.ranges, count)])


def difference(
    plan: Plan, gm: Mapping[str, int], template: np.ndarray, outputs: Mapping[str, np.ndarray]
) -> str:
    """Replay the first and the last block that store; say where `outputs` differ, "" nowhere.

    outputs : the bytes of each output, as the loops left them
    """
    blocks = np.concatenate([plan.touched[name].writes[:, 2] for name in outputs])
    for block in sorted({int(blocks.min(initial=0)), int(blocks.max(initial=0))}):
        where = dict(gm)
        kept = {}
        for name in outputs:
            spans = plan.touched[name].writes
            spans = spans[spans[:, 2] == block]
            low, high = int(spans[:, 0].min(initial=1 << 62)), int(spans[:, 1].max(initial=0))
            memory = np.zeros(max(high - low, 1), np.uint8)
            kept[name] = (spans, low, memory)
            where[name] = memory.ctypes.data - low
        run_blocks(plan, plan.blocks[block : block + 1], bases_of(plan, where, template))
        for name, (spans, low, memory) in kept.items():
            for start, stop, _ in spans.tolist():
                stop = min(stop, outputs[name].size)
                ours, theirs = outputs[name][start:stop], memory[start - low : max(stop - low, 0)]
                if ours.tobytes() != theirs.tobytes():
                    at = start + int(np.flatnonzero(ours != theirs)[0])
                    return f"byte {at} of {name} differs from replay, in block {block}"
    return ""


def _reach(loops: tuple[Loop, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for loop in loops:
        stop = int(loop.ranges.sum(axis=1).max(initial=0))
        for line in parse(loop.text):
            if "tensor" in line.fields:
                name = loop.tensors[line.fields["tensor"]]
                found[name] = max(found.get(name, 0), stop * line.fields["bits"] // 8)
    return found


def _each(
    function: Callable[[int, int, int, int], None], where: tuple[int, int]
) -> Callable[[np.ndarray], None]:
    def run(ranges: np.ndarray) -> None:
        for start, elements in ranges.tolist():
            function(*where, start, elements)

    return run


def _parts(ranges: np.ndarray, count: int) -> list[np.ndarray]:
    """Cut ranges into `count` lists of about as many elements each."""
    share = -(-int(ranges[:, 1].sum()) // count)
    share = -(-share // GRAIN) * GRAIN
    parts: list[list[tuple[int, int]]] = [[]]
    room = share
    for start, elements in ranges.tolist():
        while elements:
            now = min(elements, room)
            parts[-1].append((start, now))
            start, elements, room = start + now, elements - now, room - now
            if not room:
                parts.append([])
                room = share
    return [np.array(part, np.int64).reshape(-1, 2) for part in parts if part]
