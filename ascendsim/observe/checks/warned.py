"""memcheck: what instructions warn of while they are bound, as findings with the kernel's line.

The warning belongs to the bound call, which tiles and launches share; each record of it has a line
of its own. Calls past their tensors are told with their errors (`Call.beyond`) instead.
"""

from __future__ import annotations

from ascendsim.observe.checks.findings import Findings
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import Instr

MODEL = "memcheck:model-bits"

# warning of an instruction -> code of the finding
WARNED = {
    "overlap": "memcheck:overlap",
    "mask-lanes": "memcheck:mask-lanes",
    "compare-count-256": "memcheck:compare-count",
    "empty-call": "memcheck:empty-call",
    "vector-recip": MODEL,
}


class Warned:
    """Reports the warnings of calls; `told` are the codes that need no second telling."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.told: set[str] = set()

    def see(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Report what the call was warned of when it was bound."""
        for code, text in instr.call.warned:
            found = MODEL if code.startswith("model-") else WARNED.get(code)
            if found is None:
                continue
            self.told.add(code)
            shared = _shared(touched) if code == "overlap" else None
            written = [(each.start, each.stop) for each in touched if each.writes]
            span = shared or next(iter(written), None)
            self.findings.add(
                found,
                instr,
                text,
                memory="" if span is None else "UB",
                span=span,
            )


def _shared(touched: tuple[Touched, ...]) -> tuple[int, int] | None:
    """Return the first and behind the last byte that a source shares with what is written."""
    pairs = ((a, b) for a in touched if a.writes for b in touched if not b.writes)
    return next((span for span in (a.meets(b) for a, b in pairs) if span), None)
