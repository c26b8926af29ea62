"""memcheck: bytes of a GM tensor that no block touches (mssanitizer: unused memory).

Of the tensors that the kernel names with SetGlobalBuffer; a hint that the tiling leaves something
out, or that an allocation is larger than it need be. Of an output the bytes must be written, of the
others (strict only) read or written.
Source: asc-devkit docs, on-board debugging with the sanitizer (documented).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ascendsim.observe.checks.findings import Findings
from ascendsim.observe.checks.ranges import merged
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import Instr


class Unused:
    """Which bytes of each GM tensor were touched, by all blocks together."""

    MANAGED: Collection[str] = ("SetGlobalBuffer",)

    def __init__(self, findings: Findings, outputs: Collection[str] = ()) -> None:
        self.findings, self.outputs = findings, outputs
        self.named: dict[int, Instr] = {}
        self.used: dict[int, tuple[Any, np.ndarray]] = {}

    def manage(self, instr: Instr) -> None:
        """Take note of a tensor that the kernel means to use."""
        holder = instr.call.accesses[0].holder
        if holder.name not in self.outputs:
            self.named.setdefault(id(holder), instr)

    def access(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Take note of what a call touches."""
        for each in touched:
            if each.holder is not None:
                _, used = self.used.setdefault(
                    id(each.holder), (each.holder, np.zeros(each.holder.nbytes, bool))
                )
                for start, stop in each.spans():
                    used[start:stop] = True

    def end(self) -> None:
        """Report the tensors of which bytes are left."""
        for key, instr in self.named.items():
            holder = instr.call.accesses[0].holder
            _, used = self.used.get(key, (holder, np.zeros(holder.nbytes, bool)))
            left = np.flatnonzero(~used)
            if left.size:
                self.findings.add(
                    "memcheck:unused-memory",
                    instr,
                    f"{left.size} of the {holder.nbytes} bytes of {holder.name} are neither read "
                    f"nor written by any block",
                    memory=holder.name,
                    span=(int(left[0]), int(left[-1]) + 1),
                )


class Unwritten:
    """Which bytes of each output no block stored; `told` are the warnings that this makes idle."""

    MANAGED: Collection[str] = ("SetGlobalBuffer",)

    def __init__(self, findings: Findings, outputs: Collection[str]) -> None:
        self.findings, self.outputs = findings, outputs
        self.named: dict[str, Instr] = {}
        self.told: set[str] = set()

    def manage(self, instr: Instr) -> None:
        """Take note of where the kernel names an output first."""
        holder = instr.call.accesses[0].holder
        if holder.name in self.outputs:
            self.named.setdefault(holder.name, instr)

    def end(self) -> None:
        """Report the outputs that were not written as a whole."""
        for name, instr in self.named.items():
            holder = instr.call.accesses[0].holder
            gaps = _gaps([*holder.writes, *holder.shared_writes], holder.nbytes)
            left = sum(stop - start for start, stop in gaps)
            if left:
                self.told.add(f"coverage {name}")
                self.findings.add(
                    "memcheck:unused-memory",
                    instr,
                    f"{left} of the {holder.nbytes} bytes of output {name} are written by no block",
                    memory=name,
                    span=(gaps[0][0], gaps[-1][1]),
                    way_out="let the tiling cover the output, its tail too",
                )


def _gaps(writes: list[tuple[int, int]], nbytes: int) -> list[tuple[int, int]]:
    """Return the ranges of [0, nbytes) that no write touches."""
    if not writes:
        return [(0, nbytes)] if nbytes else []
    starts, stops = merged(*np.array(writes, np.int64).T)
    edges = np.clip(np.stack([np.r_[0, stops], np.r_[starts, nbytes]], 1), 0, nbytes)
    return [(int(a), int(b)) for a, b in edges if a < b]
