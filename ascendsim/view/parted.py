"""Two calls side by side: which stored bytes differ, and which later calls read such bytes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ascendsim.observe.recorder import Delta, Entry
from ascendsim.record import GM, UB, Instr

Wrong = tuple[Delta, Delta, np.ndarray]  # a range in both runs, the offsets that differ
_LANES = ("count", "mask", "repeatTimes", "blockCount", "blockLen")


def differing(one: Entry, two: Entry, images: tuple[np.ndarray, np.ndarray]) -> list[Wrong]:
    """Return the ranges of stored bytes that differ, with the offsets of those bytes.

    Where both calls stand on the same bytes of UB, what only one of them stored is held against
    what the other left there. Scratch that only one of the chips writes is no operand of the call.
    """
    stored = _operands(one, two), _operands(two, one)
    pairs: Iterable[tuple[Delta, ...]] = zip(*stored, strict=False)
    if _same_lanes(one.instr, two.instr):
        ranges = _union([*stored[0], *stored[1]])
        pairs = (
            tuple(Delta(UB, a, b"", image[a:b].tobytes()) for image in images) for a, b in ranges
        )
    found = []
    for a, b in pairs:
        size = min(len(a.after), len(b.after))
        left, right = (np.frombuffer(d.after, np.uint8, size) for d in (a, b))
        if (wrong := np.flatnonzero(left != right)).size:
            found.append((a, b, wrong))
    return found


def _operands(entry: Entry, other: Entry) -> tuple[Delta, ...]:
    """Return what a call stored, without scratch that its counterpart does not write."""
    hidden = entry.instr.call.hidden
    return entry.deltas if hidden == other.instr.call.hidden else entry.deltas[len(hidden) :]


def _same_lanes(one: Instr, two: Instr) -> bool:
    """Say whether two calls are asked to store the same lanes of UB.

    A comparison is, whatever its count: one chip cuts it to whole repeats, another does not.
    """
    sides = [
        next((a for a in i.call.accesses if a.writes and a.space == UB), None) for i in (one, two)
    ]
    if sides[0] is None or sides[1] is None or sides[0].start != sides[1].start:
        return False
    if sides[0].element == 0:
        return True
    fields = one.call.fields, two.call.fields
    return all(fields[0].get(key) == fields[1].get(key) for key in _LANES)


def _union(deltas: list[Delta]) -> list[tuple[int, int]]:
    """Return the ranges that the deltas cover together, in order and apart."""
    found: list[tuple[int, int]] = []
    for delta in sorted(deltas, key=lambda delta: delta.start):
        if found and delta.start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], delta.stop))
        else:
            found.append((delta.start, delta.stop))
    return found


def settle(pair: tuple[Entry, Entry], taint: dict[str, np.ndarray], wrong: list[Wrong]) -> None:
    """Clear the taint of what a call stored, then set that of the bytes that differ."""
    for entry in pair:
        for delta in entry.deltas:
            _bytes(taint, delta.space, delta.stop)[delta.start : delta.stop] = False
    for delta, _, offsets in wrong:
        _bytes(taint, delta.space, delta.stop)[delta.start + offsets] = True


def _bytes(taint: dict[str, np.ndarray], space: str, stop: int) -> np.ndarray:
    """Return the taint of each byte of a space, grown to `stop` bytes."""
    known = taint.get(space, np.zeros(0, bool))
    if known.size < stop:
        taint[space] = known = np.pad(known, (0, max(stop, 2 * known.size) - known.size))
    return known


def reads(instr: Instr, taint: dict[str, np.ndarray]) -> bool:
    """Say whether a call reads a byte that the taint (by space, a flag per byte) marks."""
    for access in instr.call.accesses:
        known = taint.get(access.holder.name if access.space == GM else UB)
        if access.writes or known is None:
            continue
        if any(known[start:stop].any() for start, stop in instr.call.ranges(access)):
            return True
    return False
