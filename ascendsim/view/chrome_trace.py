"""A timeline as Chrome trace JSON, for Perfetto and MindStudio Insight, written event by event.

One process per core, one thread per pipe; slices of a thread never overlap and their times are
whole nanoseconds. `profilingType` stands before the first bracket, or Insight takes the file for
something else. A token is a pair of events `s` and `t` of equal name, cat and id: Insight's reader
of operator traces knows these two phases and skips `f`, and Perfetto draws an arrow from `s` to `t`
as it does to `f`. Metadata events name and order processes and threads in both.
Source of the keys: Ascend/msinsight docs/en/design_documents/Compute.md; of the phases: its event
parser (simulation mode), read as stored text.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

from ascendsim.errors import RequestError
from ascendsim.observe.timeline import Timeline
from ascendsim.record import Call
from ascendsim.view.lanes import (
    LANES,
    Piece,
    block_starts,
    links_of,
    moved,
    operands,
    pieces_of,
    representatives,
)
from ascendsim.view.whole_file import whole_file

HEAD = '{"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 1, "traceEvents": [\n'
TAIL = "\n]}\n"
THREADS = {"S": "SCALAR", "MTE2": "MTE2", "V": "VECTOR", "MTE3": "MTE3"}
# names that both viewers know; those that the vendor's tool uses for these pipes
COLOURS = {"S": "startup", "MTE2": "yellow", "V": "rail_idle", "MTE3": "rail_animation"}
LATENCY = "thread_state_sleeping"
NS_PER_US = 1000


def save_trace(
    timeline: Timeline, path: str | os.PathLike[str], blocks: Iterable[int] | None = None
) -> None:
    """Write the trace to `path`, whole or not at all.

    Raises
    ------
    RequestError
        When there is no such block, or the file cannot be written.
    """
    with whole_file(path) as raw, io.TextIOWrapper(raw, "utf-8") as file:
        write_trace(timeline, file, blocks)


def write_trace(timeline: Timeline, file: TextIO, blocks: Iterable[int] | None = None) -> None:
    """Write the trace of `blocks` to `file`; by default one block of each kind.

    Raises
    ------
    RequestError
        When there is no such block.
    """
    starts = block_starts(timeline)
    chosen = representatives(timeline) if blocks is None else list(blocks)
    for block in chosen:
        if block not in starts:
            raise RequestError(f"block {block} is not in this launch of {len(starts)} blocks")
    encode = json.JSONEncoder(ensure_ascii=False).encode
    file.write(HEAD)
    between = ""
    for event in _events(timeline, chosen, starts):
        file.write(f"{between}{encode(event)}")
        between = ",\n"
    file.write(TAIL)


def _events(
    timeline: Timeline, blocks: list[int], starts: dict[int, tuple[int, float]]
) -> Iterator[dict[str, Any]]:
    for core in sorted({starts[block][0] for block in blocks}):
        yield from _names(core)
    token = 0
    for block in blocks:
        core, start = starts[block]
        first = timeline.launch.blocks[timeline.class_of(block)].stream.blocks[0]
        maker = _Maker(_process(core), start, timeline.launch.soc.clock_mhz, block, block == first)
        pieces = pieces_of(timeline, block)
        for piece in pieces:
            yield from maker.slices(piece)
        for source, target in links_of(timeline, block, pieces):
            token += 1
            yield from maker.flow(source, target, token)


def _process(core: int) -> str:
    return f"core{core}.veccore0"


def _names(core: int) -> Iterator[dict[str, Any]]:
    """Give the metadata of a core: names, and the order of the data path."""
    process = _process(core)
    head = {"ph": "M", "pid": process}
    yield head | {"name": "process_name", "args": {"name": process}}
    yield head | {"name": "process_sort_index", "args": {"sort_index": core}}
    for place, pipe in enumerate(LANES):
        thread = head | {"tid": THREADS[pipe]}
        yield thread | {"name": "thread_name", "args": {"name": THREADS[pipe]}}
        yield thread | {"name": "thread_sort_index", "args": {"sort_index": place}}


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the events of one block, which starts at `start` cycles on its core.

    `addressed`: the records are this block's own, so that their GM addresses are too.
    """

    process: str
    start: float
    mhz: float
    block: int
    addressed: bool
    known: dict[Any, tuple[str, int]] = field(default_factory=dict)

    def ns(self, cycles: float) -> int:
        """Return whole nanoseconds: viewers round start and length apart, which would overlap."""
        return round((self.start + cycles) / self.mhz * NS_PER_US)

    def slices(self, piece: Piece) -> Iterator[dict[str, Any]]:
        """Give the slice of an instruction, and that of the latency behind it."""
        event = self._slice(piece.pipe, piece.start, piece.stop)
        args: dict[str, Any] = {"block": self.block, "cycles": piece.stop - piece.start}
        if piece.instr is not None:
            call, where = piece.instr.call, piece.instr.where
            detail, nbytes = self._described(call, piece.instr.scalar)
            args = {"code": f"{where.file}:{where.line}", "detail": detail, "bytes": nbytes} | args
        if piece.complete > piece.stop:
            args["latency_cycles"] = piece.complete - piece.stop
        yield event | {"name": piece.name, "cname": COLOURS[piece.pipe], "args": args}
        waiting = self._slice(piece.pipe, piece.stop, piece.until)
        if waiting["dur"]:
            args = {"block": self.block, "cycles": piece.until - piece.stop, "of": piece.name}
            yield waiting | {"name": "latency", "cname": LATENCY, "args": args}

    def flow(self, source: Piece, target: Piece, token: int) -> Iterator[dict[str, Any]]:
        """Give both ends of a token's arrow; each lies within its slice."""
        names = THREADS[source.pipe], THREADS[target.pipe]
        head = {"name": "flow", "cat": "To".join(names), "id": token, "pid": self.process}
        begin = max(self.ns(source.start), self.ns(source.stop) - 1)
        yield head | {"ph": "s", "tid": names[0], "ts": begin / NS_PER_US}
        yield head | {"ph": "t", "tid": names[1], "ts": self.ns(target.start) / NS_PER_US}

    def _slice(self, pipe: str, start: float, stop: float) -> dict[str, Any]:
        first, last = self.ns(start), self.ns(stop)
        return {
            "ph": "X",
            "pid": self.process,
            "tid": THREADS[pipe],
            "ts": first / NS_PER_US,
            "dur": (last - first) / NS_PER_US,
        }

    def _described(self, call: Call, scalar: Any) -> tuple[str, int]:
        """Describe a call once: a stream holds the same few calls thousands of times."""
        found = self.known.get((call, scalar))
        if found is None:
            found = operands(call, scalar, self.addressed), moved(call)
            self.known[call, scalar] = found
        return found
