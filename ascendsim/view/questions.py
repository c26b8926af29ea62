"""Questions about the end of a run: who stored this byte, why is this lane so, what stored to it.

A name is that of a GM tensor (an output: `out`), where all recorded blocks count, or of a buffer in
UB, which every block has for itself. The stepper answers the same for any moment of a block.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import dataclass

from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import RequestError
from ascendsim.observe.outputs import Output, bits_of
from ascendsim.observe.recorder import BlockRecording, Delta, Entry
from ascendsim.record import GM, UB
from ascendsim.view.index import Index, flat, whole
from ascendsim.view.lane_graph import across, copy_out, sides
from ascendsim.view.stepper import Change, Stepper
from ascendsim.view.why import MAX_CAUSES, Cause, Spot, cause_of

MAX_STORES = 16  # earlier stores to an element that `why` lists
Recordings = Mapping[int, BlockRecording]


@dataclass(frozen=True, slots=True)
class Writer:
    """A call that stored a byte: `position` in its `block`, `name`, the kernel's file and line."""

    block: int
    position: int
    name: str
    pipe: str
    file: str
    line: int

    @property
    def text(self) -> str:
        """The kernel's line."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        where = f"block {self.block} [{self.position}] {self.name} on {self.pipe}"
        return f"{where}, line {self.line}: {self.text}"


class Questions:
    """The recorded blocks of a run and its outputs, asked at the end of the run."""

    def __init__(self, recordings: Recordings, outputs: Mapping[str, Output]) -> None:
        if not recordings:
            raise RequestError('nothing was recorded: launch with record="bytes"')
        self._recordings, self._outputs = recordings, outputs

    def who_wrote(self, name: str, byte: int, block: int | None, slot: int) -> Writer | None:
        """Return the last call that stored byte `byte` of a tensor, of a slot, or of UB."""
        byte = whole(byte, f"{name}: byte")
        if self._in_gm(name):
            if name in self._outputs:
                _inside(name, byte, self._outputs[name].nbytes)
            space, start, chosen = name, byte, self._blocks(block)
        else:
            at = self._at_end(block)
            space, chosen = UB, [at[0]]
            if name == UB:
                _inside(name, byte, at[1].ub.size)
            start = byte if name == UB else at[1].address(name, byte, slot)
        for number in reversed(chosen):
            entries = list(self._recordings[number].entries)
            for position in range(len(entries) - 1, -1, -1):
                if _stores(entries[position], space, start):
                    return _writer(number, position, entries[position])
        return None

    def why(self, name: str, lane: Index, dtype: object, block: int | None, slot: int) -> Cause:
        """Return the calls that an element of an output, or a lane of a buffer, depends on."""
        if not self._in_gm(name):
            return self._at_end(block)[1].why(name, whole(lane, "lane"), dtype, slot)
        lane, size = self._element(name, lane, dtype)
        chosen = {number: self._recordings[number] for number in self._blocks(block)}
        number, position = self._last(chosen, name, lane, size)
        at = Stepper(chosen[number]).goto(position)
        instr = at.entries[position].instr
        src, dst = sides(instr)
        causes: tuple[Cause, ...] = ()  # without a source a value of the kernel's own
        if not src.writes:
            causes = (cause_of(at, Spot(across(dst, src, lane * size), size), [MAX_CAUSES]),)
        bits, call = causes[0].bits if causes else None, instr.call.name
        change = _covering(number, position, at.entries[position], name, lane * size, size)
        if change is not None:
            bits = change.after
            operation = str(instr.call.fields.get("atomic", "")).partition("SetAtomic")[2]
            if operation:
                changes = self.watch(name, lane, None, block, 0)
                causes = (*causes, _there(change, f"{name}[{lane}]", changes))
                call += f" (atomic {operation.lower()} to what was there)"
        return Cause(position, call, f"{name}[{lane}]", bits, instr.scalar, causes)

    def _last(
        self, chosen: dict[int, BlockRecording], name: str, lane: int, size: int
    ) -> tuple[int, int]:
        """Return block and position of the store whose bits an element of an output keeps.

        Blocks that wait for one another do not end in their order: what memory holds decides.
        """
        number, position = copy_out(chosen, name, lane)
        entries = self._recordings[number].entries
        change = _covering(number, position, entries[position], name, lane * size, size)
        final = bits_of(self._outputs[name], lane)
        if change is None or change.after == final or len(chosen) == 1:
            return number, position
        kept = [c for c in self.watch(name, lane, None, None, 0) if c.after == final]
        return (kept[-1].block, kept[-1].position) if kept else (number, position)

    def watch(
        self, name: str, lane: Index, dtype: object, block: int | None, slot: int
    ) -> list[Change]:
        """Return every recorded call that stored to an element of an output, or to a lane."""
        if not self._in_gm(name):
            return self._at_end(block)[1].watch(name, whole(lane, "lane"), dtype, slot)
        lane, size = self._element(name, lane, dtype)
        return [
            _change(number, position, entry, delta, lane * size, size)
            for number in self._blocks(block)
            for position, entry in enumerate(self._recordings[number].entries)
            for delta in entry.deltas
            if delta.space == name and delta.start < (lane + 1) * size and lane * size < delta.stop
        ]

    def _in_gm(self, name: str) -> bool:
        return name in self._outputs or name in {
            access.holder.name
            for recording in self._recordings.values()
            for entry in recording.entries
            for access in entry.instr.call.accesses
            if access.space == GM
        }

    def _element(self, name: str, lane: Index, dtype: object) -> tuple[int, int]:
        """Return the flat index of an element of an output, and its bytes."""
        if name not in self._outputs:
            known = ", ".join(self._outputs)
            raise RequestError(f"{name} is no output and never stored to; there are {known}")
        array = self._outputs[name]
        own = as_dtype(array.dtype)
        if dtype is not None and as_dtype(dtype) is not own:
            raise RequestError(f"{name} holds {own}; leave dtype= away")
        return flat(name, lane, array.shape), own.nbytes

    def _blocks(self, block: int | None) -> list[int]:
        if block is None:
            return sorted(self._recordings)
        if block not in self._recordings:
            known = _told(sorted(self._recordings))
            raise RequestError(f"block {block} was not recorded; blocks {known} were")
        return [block]

    def _at_end(self, block: int | None) -> tuple[int, Stepper]:
        """Return the block whose UB is meant, and a stepper at its end."""
        chosen = self._blocks(block)
        if len(chosen) > 1:
            known = _told(chosen)
            raise RequestError(f"every block has a UB of its own: say block=, one of {known}")
        at = Stepper(self._recordings[chosen[0]])
        return chosen[0], at.goto(len(at))


def _told(blocks: list[int]) -> str:
    whole = blocks == list(range(blocks[0], blocks[-1] + 1)) and len(blocks) > 2
    return f"{blocks[0]} to {blocks[-1]}" if whole else ", ".join(map(str, blocks))


def _inside(name: str, byte: int, size: int) -> None:
    if not 0 <= byte < size:
        raise RequestError(f"{name} has bytes 0..{size - 1:#x}, not {byte:#x}")


def _stores(entry: Entry, space: str, byte: int) -> bool:
    return any(d.space == space and d.start <= byte < d.stop for d in entry.deltas)


def _writer(block: int, position: int, entry: Entry) -> Writer:
    call, where = entry.instr.call, entry.instr.where
    pipe = call.pipe.name.removeprefix("PIPE_")
    return Writer(block, position, call.name, pipe, where.file, where.line)


def _covering(
    block: int, position: int, entry: Entry, name: str, start: int, size: int
) -> Change | None:
    """Return what a call did to a whole element of a GM tensor, None when it stored a part."""
    for delta in entry.deltas:
        if delta.space == name and delta.start <= start and start + size <= delta.stop:
            return _change(block, position, entry, delta, start, size)
    return None


def _there(last: Change, place: str, changes: list[Change]) -> Cause:
    """Return what an element held before an atomic copy, with the other recorded stores to it."""
    others = [c for c in changes if (c.block, c.position) != (last.block, last.position)]
    shown = [
        Cause(c.position, f"block {c.block} {c.name}", place, c.after, None, ())
        for c in others[-MAX_STORES:]
    ]
    if len(others) > len(shown):
        more = f"{len(others) - len(shown)} more stores to"
        shown.insert(0, Cause(None, more, place, None, None, ()))
    return Cause(None, "before the copy", place, last.before, None, tuple(shown))


def _change(block: int, position: int, entry: Entry, delta: Delta, start: int, size: int) -> Change:
    first = start - delta.start
    if first < 0 or first + size > len(delta.after):
        raise RequestError(f"[{position}] stores a part of the element: ask who_wrote() by byte")
    words = (side[first : first + size] for side in (delta.before, delta.after))
    before, after = (int.from_bytes(word, "little") for word in words)
    return Change(position, entry.instr.call.name, before, after, block)
