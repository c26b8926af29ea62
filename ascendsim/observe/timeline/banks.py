"""UB bank conflicts of one repeat, from the real addresses.

910B-class: 16 bank groups, group = (address >> 5) & 15; a group reads or writes one row of 32 bytes
per cycle. 950: 16 banks in 8 groups, bank = (address >> 5) & 15, group = bank & 7; a bank reads one
row, a group two rows per cycle; equal addresses merge. A read and a write in one bank did not show
in any measured layout and is left out (assumed).
Source: asc-devkit docs, two pages on avoiding UB bank conflicts (documented).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.record import Call

BANKS = 16
GROUPS_950 = 8


def cycles_per_repeat(call: Call, arch: str) -> int:
    """Return the cycles that the busiest bank needs for one repeat (1 without conflicts)."""
    shape = call.geometry
    reads: list[int] = []
    writes: list[int] = []
    for access in call.accesses:
        if access.element:
            blocks = [access.start + b for b in shape.repeat_blocks(access)]  # type: ignore[union-attr]
            (writes if access.writes else reads).extend(blocks)
    if arch == "3510":
        return max(_busiest_950(set(reads)), _most(_bank(a) % GROUPS_950 for a in writes), 1)
    return max(_most(map(_bank, reads)), _most(map(_bank, writes)), 1)


def _bank(address: int) -> int:
    return address // DATABLOCK_BYTES % BANKS


def _most(places: Iterable[int]) -> int:
    return max(Counter(places).values(), default=0)


def _busiest_950(reads: set[int]) -> int:
    banks = [_bank(a) for a in reads]
    in_group = _most(b % GROUPS_950 for b in banks)
    return max(_most(banks), -(-in_group // 2))
