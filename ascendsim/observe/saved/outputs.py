"""Outputs in a file: whole, or those bytes that recorded blocks stored, with what a face shows.

A small output is whole, and so is any of a run whose every block was recorded, or none. Of another
one the file holds what its recorded blocks stored, the CRC of the whole, and what its face shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ascendsim.dtypes import dtype as as_dtype
from ascendsim.observe.held import HeldBytes, Range, bytes_in, joined, total
from ascendsim.observe.outputs import FIRST, Output, PartOfOutput, Shown, crc_of, shown_of
from ascendsim.observe.recorder import BlockRecording
from ascendsim.observe.saved.archive import Archive, Member
from ascendsim.observe.saved.values import name_of, number, type_of

WHOLE_BYTES = 1 << 20  # an output of no more is kept whole
_MOST_SIZE = 1 << 48


def saved_outputs(
    outputs: Mapping[str, Output], recordings: Mapping[int, BlockRecording], block_dim: int
) -> tuple[list[list[Any]], list[Member]]:
    """Return the rows of run.json and the members: [name, dtype, shape, part or null] each."""
    rows, members = [], []
    some = 0 < len(recordings) < block_dim
    for name, output in outputs.items():
        row: list[Any] = [name, as_dtype(output.dtype).name, list(output.shape)]
        if isinstance(output, PartOfOutput):
            memory: Any = output.held
        else:
            memory = np.ascontiguousarray(output).reshape(-1).view(np.uint8)
        if some and output.nbytes > WHOLE_BYTES:
            ranges = _stored(name, recordings)
            rows.append([*row, _part(output, ranges)])
            members.append(Member(f"out/{name}", bytes_in(memory, ranges)))
        else:
            rows.append([*row, None])
            members.append(Member(f"out/{name}", memory[:].tobytes()))
    return rows, members


def _stored(name: str, recordings: Mapping[int, BlockRecording]) -> list[Range]:
    """Return the ranges of an output that recorded calls stored."""
    return joined(
        (delta.start, delta.stop)
        for recording in recordings.values()
        for entry in recording.entries
        for delta in entry.deltas
        if delta.space == name
    )


def _part(output: Output, ranges: list[Range]) -> dict[str, Any]:
    shown = shown_of(output)
    numbers = {"crc32": crc_of(output), "nonzero": shown.nonzero, "nans": shown.nans}
    kept = [list(each) for each in ranges]
    return {**numbers, "first": np.ascontiguousarray(shown.first).tobytes().hex(), "ranges": kept}


def read_output(archive: Archive, row: list[Any]) -> tuple[str, Output]:
    """Return an output of a file.

    Raises
    ------
    ValueError, KeyError, TypeError, ...
        When the file does not hold what `saved_outputs` gives.
    """
    name, dtype, shape, part = row
    kind, sizes = type_of(dtype), tuple(number(size) for size in shape)
    member = f"out/{name_of(name)}"
    if part is None:
        flat = np.frombuffer(archive.bytes(member), kind.numpy)
        return name, flat.reshape(sizes).copy()
    nbytes = int(np.prod(sizes, dtype=object)) * kind.nbytes
    ranges = read_ranges(part["ranges"], nbytes)
    held = HeldBytes(name, nbytes, ranges, archive.bytes(member, total(ranges)))
    first = np.frombuffer(bytes.fromhex(part["first"]), kind.numpy)
    if len(first) != min(FIRST, nbytes // kind.nbytes):
        raise ValueError(f"{name} has not the first values that it says")
    counts = [number(part[key], 0, nbytes // kind.nbytes) for key in ("nonzero", "nans")]
    crc = number(part["crc32"], 0, 0xFFFFFFFF)
    return name, PartOfOutput(name, kind.numpy, sizes, crc, Shown(first, *counts), held)


def read_ranges(found: Any, size: int) -> list[Range]:
    """Return ranges of a tensor of `size` bytes, found to be in order and inside.

    Raises
    ------
    ValueError, TypeError
        When they are not.
    """
    ranges, least = [], 0
    number(size, 0, _MOST_SIZE)
    for start, stop in found:
        ranges.append((number(start, least, size), number(stop, start + 1, size)))
        least = stop + 1
    return ranges
