"""UB at one moment: which buffer has which bytes, who owns them, what the next call touches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ascendsim.observe.recorder import Entry
from ascendsim.record import UB, Instr

if TYPE_CHECKING:
    from ascendsim.view.stepper import Stepper

_STATES = {"AllocTensor": "OCCUPIED", "EnQue": "ENQUE", "DeQue": "DEQUE", "FreeTensor": "FREE"}
Span = tuple[int, int]
_CELLS = 64  # characters of the bar: with its labels it fits into 80 columns
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLOURS = ("blue", "green", "yellow", "magenta", "cyan", "red")


class Place(NamedTuple):
    """A buffer of the block: `num` slots of `nbytes` bytes from UB byte `start` on."""

    name: str
    kind: str
    start: int
    nbytes: int
    num: int


class Queues(dict[str, list[str]]):
    """The states of the slots by queue: a dict to every reader, which a notebook draws."""

    def _repr_html_(self) -> str:
        from ascendsim.view.html.queues import queues_html

        return queues_html(self)


@dataclass(frozen=True, slots=True, repr=False)
class UbMap:
    """A map of UB.

    nbytes : of the whole UB. places : the buffers in the order of their addresses. states : of the
    slots of each queue. call : the next one's name, "" at the end of the block. reads, writes :
    the byte ranges (start, stop) that it reads and stores; slot : the one that it takes or gives
    away when it is a call of a queue.
    """

    nbytes: int
    places: tuple[Place, ...]
    states: Mapping[str, list[str]]
    call: str = ""
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()
    slot: Span | None = None

    @property
    def used(self) -> int:
        """The byte behind the last buffer."""
        return max((place.start + place.num * place.nbytes for place in self.places), default=0)

    def state(self, place: Place, slot: int) -> str:
        """Return what a slot is: FREE, OCCUPIED, ENQUE, DEQUE; the kind of a TBuf."""
        return self.states[place.name][slot] if place.name in self.states else place.kind

    def touched(self, place: Place) -> str:
        """Return what the next call does to a buffer: "reads", "writes", both or ""."""
        whole = place.start, place.start + place.num * place.nbytes
        words = [
            word
            for word, spans in (("reads", self.reads), ("writes", self.writes))
            if any(start < whole[1] and whole[0] < stop for start, stop in spans)
        ]
        return ", ".join(words)

    def __repr__(self) -> str:
        from ascendsim.view import text

        title = f"next call: {self.call}" if self.call else "end of the block"
        if not self.places:
            return f"UB, {self.nbytes} bytes: no buffer yet; {title}\n"
        free = f"{self.nbytes - self.used} of {self.nbytes} bytes free"
        head = f"UB[0x0, {self.used:#x}), {free}; a FREE slot in small letters\n"
        return head + text.rendered(self._bars()) + text.table(title, _COLUMNS, self._rows())

    def _bars(self) -> Any:
        """Return the bar of the used bytes, a letter per buffer, and the rows of what is touched.

        It is coloured where the output is a terminal.
        """
        from rich.text import Text

        bar, styles = ["."] * _CELLS, [""] * _CELLS
        for number, place in enumerate(self.places):
            for slot in range(place.num):
                start = place.start + slot * place.nbytes
                first, last = _cells((start, start + place.nbytes), self.used)
                free = self.state(place, slot) == "FREE"
                shown = letter(number).lower() if free else letter(number)
                bar[first:last] = shown * (last - first)
                style = _COLOURS[number % len(_COLOURS)] + ("" if free else " reverse")
                styles[first:last] = [style] * (last - first)
        drawn = Text("        |", no_wrap=True)
        for style, cells in groupby(zip(styles, bar, strict=True), key=lambda cell: cell[0]):
            drawn.append("".join(shown for _, shown in cells), style)
        drawn.append("|")
        for word, spans in (("reads", self.reads), ("writes", self.writes)):
            row = [" "] * _CELLS
            for span in spans:
                first, last = _cells(span, self.used)
                row[first:last] = "^" * (last - first)
            drawn.append(f"\n{word:<7} |{''.join(row)}|" if spans else "")
        return drawn

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                letter(number),
                place.name,
                ", ".join(self.state(place, slot) for slot in range(place.num)),
                f"{place.num} x {place.nbytes}",
                f"[{place.start:#x}, {place.start + place.num * place.nbytes:#x})",
                self.touched(place),
            )
            for number, place in enumerate(self.places)
        ]

    def _repr_html_(self) -> str:
        from ascendsim.view.html.ub_map import ub_map_html

        return ub_map_html(self)


_COLUMNS = ("", "buffer", "slots", "bytes", "UB", "next call")


def letter(number: int) -> str:
    """Return the letter that stands for a buffer in the bar."""
    return _LETTERS[number % len(_LETTERS)]


def places_of(entries: Iterable[Entry]) -> dict[str, Place]:
    """Return the buffers that InitBuffer has made in these calls, by name.

    Those of before a Reset or Destroy stay until new ones are made over them.
    """
    found: dict[str, Place] = {}
    over = False
    for entry in entries:
        name, f = entry.instr.call.name, entry.instr.call.fields
        over = over or name in ("Reset", "Destroy")
        if name == "InitBuffer":
            if over:
                found, over = {}, False
            found[f["buf"]] = Place(f["buf"], f["kind"], f["ub"], f["len32"], f["num"])
    return found


def states_of(entries: Iterable[Entry], places: Mapping[str, Place]) -> Queues:
    """Return the state of every slot of every queue: FREE, OCCUPIED, ENQUE or DEQUE."""
    states: dict[str, list[str]] = {}
    for entry in entries:
        call = entry.instr.call
        if call.name == "InitBuffer":
            states[call.fields["buf"]] = ["FREE"] * call.fields["num"]
        elif call.name in _STATES:
            holder = call.accesses[0].holder
            if holder.name in states:  # not when the recording begins after its InitBuffer
                states[holder.name][holder.slot] = _STATES[call.name]
    return Queues({name: states[name] for name, p in places.items() if p.kind != "TBuf"})


def ub_map_of(at: Stepper) -> UbMap:
    """Return the map of UB at the moment of a stepper."""
    places = tuple(sorted(at.buffers().values(), key=lambda place: place.start))
    instr = at.instr
    if instr is None:
        return UbMap(at.ub.size, places, at.queues())
    reads, writes = touched_by(instr)
    return UbMap(
        at.ub.size, places, at.queues(), instr.call.name, reads, writes, _handed_over(instr)
    )


def touched_by(instr: Instr) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the bytes of UB that a call reads and those that it stores, without gaps joined."""
    call = instr.call
    if call.execute is None:
        return (), ()
    sides: dict[bool, list[Span]] = {False: [], True: list(call.hidden)}
    for access in call.accesses:
        if access.space == UB:
            sides[access.writes] += call.ranges(access)
    return joined(sides[False]), joined(sides[True])


def joined(spans: Iterable[Span], gap: int = 0) -> tuple[Span, ...]:
    """Return spans in order, those at most `gap` bytes apart as one."""
    found: list[Span] = []
    for start, stop in sorted(spans):
        if found and start <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return tuple(found)


def _handed_over(instr: Instr) -> Span | None:
    """Return the slot that a call of a queue is about."""
    call = instr.call
    if call.execute is not None or not call.accesses or call.accesses[0].space != UB:
        return None
    holder = call.accesses[0].holder
    return holder.start, holder.start + holder.nbytes


def _cells(span: Span, extent: int) -> Span:
    """Return the cells of the bar that a span of bytes covers, at least one."""
    first = min(span[0] * _CELLS // extent, _CELLS - 1)
    return first, min(max(-(-span[1] * _CELLS // extent), first + 1), _CELLS)
