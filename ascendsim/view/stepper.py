"""Step through a recorded block, forwards and back.

The stepper stands between two calls. `position` counts the calls that are done; `ub` is UB at that
moment, byte for byte what a run stopped there would hold.

    run = asim.launch(op, arrays, tiling, record="bytes")
    at = run.stepper(block=0)
    at.until(name="CompareScalar")     # stands before the first CompareScalar
    at.view("tmpBuf")[0]; at.bits("tmpBuf")[0]
    at.next(); at.back(); at.goto(0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import RequestError
from ascendsim.observe.recorder import BlockRecording, Delta, Entry
from ascendsim.record import UB, Instr
from ascendsim.record.registers import Registers
from ascendsim.view.index import refuse_gm, whole
from ascendsim.view.mask import Mask
from ascendsim.view.ub_map import Place, Queues, UbMap, places_of, states_of, ub_map_of
from ascendsim.view.until import Hit, first, fitting, seek, split, tiles_of
from ascendsim.view.why import MAX_CAUSES, Cause, Spot, cause_of

if TYPE_CHECKING:
    from ascendsim.view.widget import StepperWidget


class Change(NamedTuple):
    """A call that stored to a lane: its position, and the lane's bits before and after."""

    position: int
    name: str
    before: int
    after: int
    block: int = 0


class Stepper:
    """A block's recording with a moment in time; `hit` is the lane that `until(holds=)` found."""

    def __init__(self, recording: BlockRecording) -> None:
        self.entries: list[Entry] = list(recording.entries)
        self.dropped = recording.dropped
        self.ub, self._start = recording.ub.copy(), recording.registers
        self.position = 0
        self.hit: Hit | None = None
        self._tiles = tiles_of(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Stepper(position {self.position} of {len(self)}: {self.describe()})"

    def _repr_html_(self) -> str:
        from ascendsim.view.html.stepper import stepper_html

        return stepper_html(self)

    @property
    def instr(self) -> Instr | None:
        """The call that `next` would do, None at the end."""
        return self.entries[self.position].instr if self.position < len(self) else None

    @property
    def done(self) -> Instr | None:
        """The call that was done last, None at the start."""
        return self.entries[self.position - 1].instr if self.position else None

    @property
    def tile(self) -> int:
        """The tile that the next call belongs to, from 0; -1 before the first."""
        return self._tiles[min(self.position, len(self) - 1)] if self.entries else -1

    def describe(self) -> str:
        """Return the next call in one line: name, pipe, phase, tile, and the kernel's line."""
        instr = self.instr
        if instr is None:
            return "end of the block"
        file, line, text = self.source()
        phase = instr.where.phase or "-"
        tile = f"tile {self.tile}" if self.tile >= 0 else "before tile 0"
        pipe = instr.call.pipe.name.removeprefix("PIPE_")
        return f"{instr.call.name} on {pipe}, {phase}, {tile}, {file}:{line}: {text}"

    def source(self) -> tuple[str, int, str]:
        """Return file, line and text of the kernel's line of the next call."""
        instr = self.instr
        if instr is None:
            return "", 0, ""
        return instr.where.file, instr.where.line, instr.where.text

    def next(self, count: int = 1) -> Stepper:
        """Do the next `count` calls (fewer at the end)."""
        return self.goto(min(self.position + count, len(self)))

    def back(self, count: int = 1) -> Stepper:
        """Undo the last `count` calls (fewer at the start)."""
        return self.goto(max(self.position - count, 0))

    def goto(self, position: int | None = None, **wanted: Any) -> Stepper:
        """Stand before call `position` (`len(self)` is the end), or the block's first that fits.

        wanted : as for `until`: goto(tile=1, phase="Compute")

        Raises
        ------
        RequestError
            When there is no such position or call; the stepper stays where it is.
        """
        if position is None:
            position = first(self.entries, self._tiles, wanted)
        position = whole(position, "position")
        if not 0 <= position <= len(self):
            raise RequestError(f"position {position} is outside 0..{len(self)}")
        while self.position < position:
            self._apply(self.entries[self.position].deltas, "after")
            self.position += 1
        while self.position > position:
            self.position -= 1
            self._apply(self.entries[self.position].deltas[::-1], "before")
        return self

    def until(
        self,
        predicate: Callable[[Instr], bool] | None = None,
        *,
        backwards: bool = False,
        **wanted: Any,
    ) -> bool:
        """Go on until the next call fits; return False at the end (or start), where nothing fits.

        With `holds=` go on until a call has made a lane hold that value which it did not hold
        before: the stepper then stands right behind that call, and `hit` is the lane.

        Parameters
        ----------
        predicate : takes the record of the call
        wanted : name=, pipe= ("V"), phase= ("Compute"), tile=, writes= (a buffer or GM tensor);
            holds= (a number, "nan", "-0.0", raw bits "0x3e2aaaab") with buffer= (or a GM tensor),
            lane=, slot= and dtype= to narrow it, dtype by default that of the storing call
        backwards : go back instead
        """
        words, held = split(wanted)
        fits = fitting(self.entries, self._tiles, words, predicate)
        self.hit = None
        if held is not None:
            self.hit = seek(self, held, fits, backwards)
            return self.hit is not None
        step = -1 if backwards else 1
        position = self.position + step
        while 0 <= position < len(self):
            if fits(position):
                self.goto(position)
                return True
            position += step
        self.goto(0 if backwards else len(self))
        return False

    def buffers(self) -> dict[str, Place]:
        """Return the buffers that InitBuffer has made up to now, by name."""
        return places_of(self.entries[: self.position])

    def queues(self) -> Queues:
        """Return the state of every slot of every queue: FREE, OCCUPIED, ENQUE or DEQUE."""
        return states_of(self.entries[: self.position], self.buffers())

    def registers(self) -> Registers:
        """Return what the mask registers, the scale of SetDeqScale and others hold now."""
        return self._start.after(entry.instr.call for entry in self.entries[: self.position])

    def map(self) -> UbMap:
        """Return a map of UB at this moment; print it, or let a notebook draw it."""
        return ub_map_of(self)

    def mask(self, buffer: str, count: int | None = None, slot: int = 0) -> Mask:
        """Return the bits of a buffer as the lanes of a mask, the first `count` or all."""
        name = f"{buffer}@{slot}" if slot else buffer
        return Mask.of(name, self._bytes(buffer, slot), count)

    def widget(self) -> StepperWidget:
        """Return a slider and buttons for this stepper (needs ipywidgets)."""
        from ascendsim.view.widget import StepperWidget

        return StepperWidget(self)

    def view(self, buffer: str, dtype: Any = None, slot: int = 0) -> np.ndarray:
        """Return a buffer's values at this moment (a copy).

        `dtype` defaults to the type that the kernel last used it with.

        Raises
        ------
        RequestError
            When there is no such buffer (yet) or slot.
        """
        kind = self._dtype(buffer, dtype)
        return self._bytes(buffer, slot).view(kind.numpy)

    def bits(self, buffer: str, dtype: Any = None, slot: int = 0) -> np.ndarray:
        """Return a buffer's raw bits at this moment (a copy)."""
        kind = self._dtype(buffer, dtype)
        return self._bytes(buffer, slot).view(kind.bits)

    def who_wrote(self, address: int, space: str = UB) -> int | None:
        """Return the position of the last call before now that stored byte `address`, or None."""
        for position in range(self.position - 1, -1, -1):
            for delta in self.entries[position].deltas:
                if delta.space == space and delta.start <= address < delta.stop:
                    return position
        return None

    def why(self, buffer: str, lane: int, dtype: Any = None, slot: int = 0) -> Cause:
        """Return the calls that a lane depends on at this moment, each with the lane's bits.

        The tree goes back to the tensors in GM; print it. The stepper stays where it is.
        """
        kind = self._dtype(buffer, dtype)
        start = self.address(buffer, whole(lane, "lane") * kind.nbytes, slot)
        here = self.position
        found = cause_of(self, Spot(start, kind.nbytes), [MAX_CAUSES])
        self.goto(here)
        return found

    def watch(self, buffer: str, lane: int, dtype: Any = None, slot: int = 0) -> list[Change]:
        """Return every call of the block that stored to a lane, with its bits before and after."""
        kind = self._dtype(buffer, dtype)
        start = self.address(buffer, whole(lane, "lane") * kind.nbytes, slot)
        return list(self._changes(start, kind.nbytes))

    def address(self, buffer: str, byte: int = 0, slot: int = 0) -> int:
        """Return where byte `byte` of a slot of a buffer stands in UB.

        Raises
        ------
        RequestError
            When there is no such buffer (yet), slot or byte.
        """
        byte, slot = whole(byte, "byte"), whole(slot, "slot")
        place = self._place(buffer, slot)
        if not 0 <= byte < place.nbytes:
            raise RequestError(f"{buffer} has bytes 0..{place.nbytes - 1:#x}, not {byte:#x}")
        return place.start + slot * place.nbytes + byte

    def _changes(self, start: int, nbytes: int) -> Iterator[Change]:
        here = self.position
        for position, entry in enumerate(self.entries):
            if any(
                d.space == UB and d.start < start + nbytes and start < d.stop for d in entry.deltas
            ):
                before = self.goto(position)._word(start, nbytes)
                after = self.goto(position + 1)._word(start, nbytes)
                yield Change(position, entry.instr.call.name, before, after, entry.instr.block)
        self.goto(here)

    def _word(self, start: int, nbytes: int) -> int:
        return int.from_bytes(self.ub[start : start + nbytes].tobytes(), "little")

    def _apply(self, deltas: tuple[Delta, ...], which: str) -> None:
        for delta in deltas:
            if delta.space == UB:
                self.ub[delta.start : delta.stop] = np.frombuffer(getattr(delta, which), np.uint8)

    def _place(self, buffer: str, slot: int) -> Place:
        known = self.buffers()
        if buffer not in known:
            refuse_gm(buffer, self.entries)
            raise RequestError(
                f"no buffer {buffer!r} at position {self.position}; there are "
                f"{', '.join(known) or 'none yet'}"
            )
        if not 0 <= slot < known[buffer].num:
            raise RequestError(f"{buffer} has slots 0..{known[buffer].num - 1}, not {slot}")
        return known[buffer]

    def _bytes(self, buffer: str, slot: int) -> np.ndarray:
        place = self._place(buffer, slot)
        start = place.start + slot * place.nbytes
        return self.ub[start : start + place.nbytes].copy()

    def _dtype(self, buffer: str, dtype: Any) -> DType:
        if dtype is not None:
            return as_dtype(dtype)
        for entry in reversed(self.entries[: self.position] or self.entries):
            for access in entry.instr.call.accesses:
                if access.space == UB and access.holder.name == buffer:
                    return access.dtype
        return as_dtype("uint8")
