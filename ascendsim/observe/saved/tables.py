"""Calls, buffers, GM tensors and places of a recording as tables of plain rows, and back.

Records share calls, so each stands once and rows name it by number. What is read back has no
core, no compiled body and no code object: `SavedBuffer`, `SavedTensor` and `Line` do for readers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.enums import MAX_REPEAT_TIMES, PIPE
from ascendsim.errors import RequestError
from ascendsim.isa.footprint import Footprint
from ascendsim.isa.geometry import CopyShape, Geometry, Layout
from ascendsim.numerics import opcodes
from ascendsim.observe.held import HeldBytes, Range, bytes_in, joined, total
from ascendsim.observe.saved.outputs import read_ranges
from ascendsim.observe.saved.registers import read_registers
from ascendsim.observe.saved.values import name_of, number, plain, plain_text, type_of, value_of
from ascendsim.record import GM, UB, Access, Call, Line

_MOST_LANES = 256
_MOST_BLOCKS = 65535  # of a copy
_MOST_REPEATS = 65535  # of a library function, which has no field for them


@dataclass(frozen=True, slots=True)
class SavedBuffer:
    """A UB buffer of a saved run: a slot of a queue, or a TBuf."""

    name: str
    start: int
    nbytes: int
    slot: int
    state: int


@dataclass(frozen=True, slots=True, eq=False)
class SavedTensor:
    """A GM tensor of a saved run; `memory` holds what recorded calls read of its `size` bytes."""

    name: str
    dtype: DType
    size: int
    memory: HeldBytes


class Tables:
    """Rows in the order of their first use; the number of a row is what records hold."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = {"calls": [], "buffers": [], "tensors": [], "places": []}
        self.files: dict[str, list[str]] = {}
        self._read: dict[str, tuple[Any, list[Range]]] = {}  # memory, ranges, by tensor
        self._numbers: dict[Any, int] = {}
        self._calls: dict[int, tuple[int, Call]] = {}  # the call too: its id must stay its own

    def call(self, call: Call) -> int:
        """Return the number of a call."""
        if id(call) not in self._calls:
            self._calls[id(call)] = self._row("calls", self._call(call)), call
        return self._calls[id(call)][0]

    def read(self) -> dict[str, tuple[list[Range], bytes]]:
        """Return of each GM tensor the ranges that calls read, and their bytes."""
        found = {}
        for name, (memory, spans) in self._read.items():
            if ranges := joined(spans):
                found[name] = ranges, bytes_in(memory, ranges)
        return found

    def place(self, where: Any) -> int:
        """Return the number of a place; its file's lines are kept."""
        key = where.file, where.line, where.phase
        if where.file not in self.files:
            self.files[where.file] = list(where.source)
        return self._row("places", list(key))

    def _call(self, call: Call) -> dict[str, Any]:
        return {
            "name": call.name,
            "pipe": call.pipe.name,
            "accesses": [self._access(call, each) for each in call.accesses],
            "stores": call.execute is not None,
            "geometry": _shape(call.geometry),
            "fields": {key: plain(value) for key, value in call.fields.items()},
            "hidden": [list(span) for span in call.hidden],
            "sets": {name: plain(value) for name, value in call.sets},
            "env": None if call.words is None else int(call.words[opcodes.ENV]),
        }

    def _access(self, call: Call, a: Access) -> list[Any]:
        holder: Any = a.holder
        if a.space == GM:
            size = len(holder.memory) or getattr(holder, "size", 0)
            row = self._row("tensors", [holder.name, holder.dtype.name, size])
            if not a.writes and len(holder.memory):
                self._read.setdefault(holder.name, (holder.memory, []))[1].extend(call.ranges(a))
        else:
            place = [holder.name, holder.start, holder.nbytes, holder.slot, holder.state]
            row = self._row("buffers", place)
        head = [a.role, a.space, row, int(a.start), a.dtype.name, a.writes]
        return [*head, int(a.element), int(a.block_stride), int(a.repeat_stride)]

    def _row(self, table: str, row: Any) -> int:
        key = table, json.dumps(row)
        if key not in self._numbers:
            self._numbers[key] = len(self.rows[table])
            self.rows[table].append(row)
        return self._numbers[key]


def _shape(shape: Any) -> dict[str, Any] | None:
    if shape is None:
        return None
    if isinstance(shape, CopyShape):
        return {"blocks": int(shape.blocks)}
    if isinstance(shape, Footprint):
        parts = {
            role: _shape(part) if isinstance(part, Geometry) else [list(span) for span in part]
            for role, part in shape.parts.items()
        }
        return {"count": int(shape.count), "repeats": int(shape.repeats), "parts": parts}
    layouts = [[x.element, x.block_stride, x.repeat_stride] for x in shape.layouts]
    numbers = {"count": shape.count, "lanes": shape.lanes, "repeats": shape.repeats}
    mask = {"mask": hex(shape.mask), "layouts": layouts, "counted": shape.counted}
    return {**numbers, **mask}


class Rows:
    """The tables of a file, checked: what records refer to.

    ub : bytes of UB; content : gives the bytes of a GM tensor by name and size.
    """

    def __init__(
        self, found: dict[str, Any], ub: int, content: Callable[[str, int], bytes]
    ) -> None:
        files = {
            name_of(name): [plain_text(line) for line in lines]
            for name, lines in found["files"].items()
        }
        self.places = [
            Line(name_of(file), number(line), name_of(phase), files[file])
            for file, line, phase in found["places"]
        ]
        self.ub = ub
        self._buffers = [_buffer(row, ub) for row in found["buffers"]]
        self.tensors = [_tensor(row, found["read"], content) for row in found["tensors"]]
        self.calls = [self._call(row) for row in found["calls"]]

    def _call(self, row: dict[str, Any]) -> Call:
        accesses = tuple(self._access(*each) for each in row["accesses"])
        fields = {name_of(key): value_of(value) for key, value in row["fields"].items()}
        hidden = tuple((number(a, 0, self.ub), number(b, a, self.ub)) for a, b in row["hidden"])
        call = Call(
            name_of(row["name"]),
            PIPE[row["pipe"]],
            None,
            accesses,
            _not_here if row["stores"] is True else None,
            row=None if row["env"] is None else ({opcodes.ENV: number(row["env"])},),
            geometry=_geometry(row["geometry"]),
            fields=fields,
            hidden=hidden,
            sets=tuple(read_registers(row["sets"]).items()),
        )
        for access in accesses:
            size = self.ub if access.space == UB else access.holder.size
            if any(not 0 <= a <= b <= size for a, b in call.ranges(access)):
                raise ValueError(f"{call.name} touches bytes outside {access.holder.name}")
            if access.space == GM and not access.writes and not _held(call, access):
                raise ValueError(f"{call.name} reads bytes of {access.holder.name} that it lacks")
        if call.name == "InitBuffer":
            self._check_init(fields)
        if call.geometry is not None and not accesses:
            raise ValueError(f"{call.name} has a geometry and no operand")
        return call

    def _access(
        self, role: Any, space: Any, row: Any, start: Any, kind: Any, writes: Any, *strides: Any
    ) -> Access:
        tables: dict[str, list[Any]] = {UB: self._buffers, GM: self.tensors}
        element, block, repeat = (number(each, -(1 << 40), 1 << 40) for each in strides)
        holder, dtype = tables[space][number(row)], type_of(kind)
        copied = number(element, 0)
        return Access(
            name_of(role), space, holder, number(start), dtype, bool(writes), copied, block, repeat
        )

    def _check_init(self, fields: dict[str, Any]) -> None:
        name_of(fields["buf"])
        name_of(fields["kind"])
        end = number(fields["ub"]) + number(fields["num"], 1) * number(fields["len32"], 1)
        number(end, 0, self.ub)


def _buffer(row: list[Any], ub: int) -> SavedBuffer:
    name, start, nbytes, slot, state = row
    number(number(start) + number(nbytes), 0, ub)
    return SavedBuffer(name_of(name), start, nbytes, number(slot), number(state))


def _tensor(
    row: list[Any], read: dict[str, Any], content: Callable[[str, int], bytes]
) -> SavedTensor:
    name, kind, size = row
    ranges = read_ranges(read.get(name_of(name), []), size)
    memory = HeldBytes(name, size, ranges, content(name, total(ranges)) if ranges else b"")
    return SavedTensor(name, type_of(kind), size, memory)


def _held(call: Call, access: Access) -> bool:
    memory = access.holder.memory
    return not memory.ranges or all(memory.holds(*span) for span in call.ranges(access))


def _geometry(row: dict[str, Any] | None) -> Geometry | CopyShape | Footprint | None:
    if row is None:
        return None
    if "blocks" in row:
        return CopyShape(number(row["blocks"], 0, _MOST_BLOCKS))
    if "parts" in row:
        parts = {name_of(role): _part(part) for role, part in row["parts"].items()}
        return Footprint(number(row["count"]), number(row["repeats"]), parts)
    return _lanes(row, MAX_REPEAT_TIMES)


def _part(part: Any) -> Geometry | tuple[tuple[int, int], ...]:
    if isinstance(part, dict):
        return _lanes(part, _MOST_REPEATS)
    return tuple((number(start), number(stop)) for start, stop in part)


def _lanes(row: dict[str, Any], most_repeats: int) -> Geometry:
    lanes, mask = number(row["lanes"], 1, _MOST_LANES), int(row["mask"], 16)
    if not 0 <= mask < 1 << lanes:
        raise ValueError(f"{lanes} lanes have no mask {mask:#x}")
    counted = row["counted"] is True
    repeats = number(row["repeats"], 0, 1 << 40 if counted else most_repeats)
    layouts = tuple(Layout(*(number(each) for each in layout)) for layout in row["layouts"])
    if not layouts:
        raise ValueError("a geometry without operands")
    return Geometry(number(row["count"]), lanes, repeats, mask, layouts, counted)


def _not_here(address: int, scalar: float) -> None:
    """Stand for the body of a call that stored bytes; a saved run does not execute again."""
    raise RequestError("a saved run cannot execute: launch the operator again")
