"""memcheck, strict: bytes of a GM tensor that no block touches (mssanitizer: unused memory).

Of the tensors that the kernel names with SetGlobalBuffer; a hint that the tiling leaves something
out, or that an allocation is larger than it need be.
Source: asc-devkit docs, on-board debugging with the sanitizer (documented).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ascendsim.observe.checks.findings import Findings
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import Instr


class Unused:
    """Which bytes of each GM tensor were touched, by all blocks together."""

    MANAGED: Collection[str] = ("SetGlobalBuffer",)

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.named: dict[int, Instr] = {}
        self.used: dict[int, tuple[Any, np.ndarray]] = {}

    def manage(self, instr: Instr) -> None:
        """Take note of a tensor that the kernel means to use."""
        self.named.setdefault(id(instr.call.accesses[0].holder), instr)

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
