"""Which bytes reach HBM: L2 hits of repeated reads, shared reads, and the spill of writes.

A read hits when the same range was read before and all bytes that the whole chip moved since then
fit L2 (least recently used, by footprint). Bytes that every block reads miss once. Writes stay in
L2 as far as the allocated footprint fits; the rest reaches HBM.
Source of the footprint rule: fits two published studies (timing notes); grade assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from ascendsim.observe.timeline.steps import ReadKey, StepRecorder, Transfer


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of a launch.

    hits : per class, True for each read that L2 serves. misaligned, same_line : the bytes among
    `read_from_hbm` that start off 32 bytes, and that all blocks read in the same order.
    """

    read: int
    written: int
    read_from_hbm: int
    written_to_hbm: int
    hits: tuple[tuple[bool, ...], ...]
    misaligned: int
    same_line: int

    @property
    def spilled(self) -> float:
        """Share of the written bytes that reaches HBM."""
        return self.written_to_hbm / self.written if self.written else 0.0


def traffic_of(
    classes: list[tuple[StepRecorder, int]],
    shared: set[ReadKey],
    in_step: bool,
    cores: int,
    l2_bytes: int,
) -> Traffic:
    """Return the traffic of a launch.

    Parameters
    ----------
    classes : (stream of a block, number of such blocks)
    shared : ranges that all blocks read
    in_step : True when all blocks read them in the same order
    cores : blocks that run at once
    """
    read = written = missed = bypassed = footprint = misaligned = same_line = 0
    hits = []
    seen_shared: set[ReadKey] = set()
    for stream, blocks in classes:
        found = _hits(stream.reads, shared, seen_shared, cores, l2_bytes)
        hits.append(found)
        for transfer, hit in zip(stream.reads, found, strict=True):
            common = transfer.key in shared
            once = common and transfer.allocates
            times = 1 if once else blocks
            from_hbm = 0 if hit else transfer.nbytes * times
            missed += from_hbm
            misaligned += 0 if transfer.aligned else from_hbm
            same_line += from_hbm if common and in_step and not once else 0
            read += transfer.nbytes * blocks
            footprint += transfer.nbytes * times if transfer.allocates and not hit else 0
        for transfer in stream.writes:
            written += transfer.nbytes * blocks
            bypassed += 0 if transfer.allocates else transfer.nbytes * blocks
    allocated = written - bypassed
    spilled = min(allocated, max(0, footprint + allocated - l2_bytes))
    reached = bypassed + spilled
    return Traffic(read, written, missed, reached, tuple(hits), misaligned, same_line)


def _hits(
    reads: list[Transfer],
    shared: set[ReadKey],
    seen_shared: set[ReadKey],
    cores: int,
    l2_bytes: int,
) -> tuple[bool, ...]:
    last: dict[ReadKey, int] = {}
    moved = 0
    found = []
    for transfer in reads:
        key = transfer.key
        before = last.get(key)
        hit = before is not None and (moved - before) * cores <= l2_bytes
        if before is None and key in shared:
            hit = key in seen_shared
            seen_shared.add(key)
        found.append(hit and transfer.allocates)
        moved += transfer.nbytes
        last[key] = moved
    return tuple(found)
