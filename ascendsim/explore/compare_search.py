"""Where two sides part: both are recorded, and the rules behind a step are tried out one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ascendsim.explore.compare_rules import Difference
from ascendsim.explore.compare_sides import Both, Recordings, Running
from ascendsim.explore.outputs import Outputs
from ascendsim.host import Tiling
from ascendsim.options import Options
from ascendsim.record import GM, Instr
from ascendsim.view.diff import Diff, Step, diff_runs

RECORDED = 1 << 18  # elements up to which every block is recorded


@dataclass(slots=True)
class Search:
    """Record both sides and find where they part."""

    sides: Both
    runs: Both
    arrays: Any
    outputs: Outputs
    kind: str
    blocks: tuple[int, ...] = ()

    def parted(self, options: Options | None = None) -> tuple[Step | None, tuple[Step, ...]]:
        """Return the first call whose bytes differ, and those behind the first element.

        options : of side b, in place of its own.
        """
        one, two = (self._recorded(number, options) for number in (0, 1))
        self.blocks = tuple(sorted(one))
        if not one or not two:  # no call at all
            return None, ()
        lane: tuple[Step, ...] = ()
        if self.outputs.element is not None:
            lane = Diff(None, (), "", (one, two)).lane(*self.outputs.element[::-1])
        if self.kind == "own":
            return (lane[0] if lane else None), lane
        return diff_runs(one, two).first, lane

    def _recorded(self, number: int, options: Options | None) -> Recordings:
        side, (tiling, result) = self.sides[number], self.runs[number]
        size = sum(array.size for array in result.outputs.values())
        blocks = None if size <= RECORDED else [self._block(side, tiling)]
        chosen = options if options is not None and number else side.side.options
        recordings: Recordings = side.recorded(tiling, self.arrays, blocks, chosen)
        return recordings

    def _block(self, side: Running, tiling: Tiling) -> int:
        """Return the block that stores the first element that differs."""
        if self.outputs.element is None:
            return 0
        writer = _Writer(*self.outputs.element)
        side.run(tiling, self.arrays, (writer,))
        return writer.block

    def behind(
        self, step: Step | None, rules: list[Difference], first: bool
    ) -> tuple[Difference, ...]:
        """Return the rules behind a step: those that its instruction relied on.

        Of several, those without which side b does there as side a does.
        """
        if step is None:
            return ()
        candidates = [rule for rule in rules if step.name in rule.instructions]
        if len(candidates) < 2:
            return tuple(candidates)
        options = self.sides[1].side.options
        proven = []
        for rule in candidates:
            if rule.forced:
                found, lane = self.parted(replace(options, **{rule.option: rule.forced}))
                now = found if first else (lane[0] if lane else None)
                if now is None or (now.position, now.bits) != (step.position, step.bits):
                    proven.append(rule)
        return tuple(proven or candidates)


class _Writer:
    """An observer that notes the last block that stored an element of an output."""

    def __init__(self, output: str, index: int) -> None:
        self.output, self.index, self.block = output, index, 0

    def before(self, instr: Instr) -> None:
        """Nothing to see before."""

    def after(self, instr: Instr) -> None:
        """Note the block when the call stored the element."""
        call = instr.call
        for access in call.accesses:
            if access.writes and access.space == GM and access.holder.name == self.output:
                byte = self.index * access.dtype.nbytes
                if any(start <= byte < stop for start, stop in call.ranges(access)):
                    self.block = instr.block
