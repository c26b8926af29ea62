"""The registers of a core that calls set and later calls obey, as its records tell of them.

Every call says in `sets` which registers hold what once it is done, so that a reader of a stream
knows them at each moment without a core. They are new for each block.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ascendsim.record import Call

NORMAL, COUNTER = "normal", "counter"


@dataclass(frozen=True, slots=True)
class Registers:
    """What the registers hold at one moment.

    mask_mode : "normal" (masks choose lanes of each repeat) or "counter" (they count elements)
    mask : the mask register: 128 lanes as bits, or a number of elements in counter mode; None where
        no later call can rely on it: the kernel did not set it, or a call left something of its own
    deq_scale : the scale of SetDeqScale (a half); None before it was called
    atomic : the call that makes copies to GM atomic, "" for plain stores
    pad_value : raw bits of the pad register; None before a DataCopyPad with isPad set it
    """

    mask_mode: str = NORMAL
    mask: int | None = None
    deq_scale: float | None = None
    atomic: str = ""
    pad_value: int | None = None

    def after(self, calls: Iterable[Call]) -> Registers:
        """Return the registers when these calls are done."""
        found: dict[str, Any] = {}
        for call in calls:
            found.update(call.sets)
        return replace(self, **found) if found else self

    def to_json(self) -> dict[str, Any]:
        """Return the registers as JSON: the mask and the pad value as hexadecimal text."""
        found = asdict(self)
        for name in ("mask", "pad_value"):
            found[name] = None if found[name] is None else hex(found[name])
        return found
