"""Where a stepper stops: what the next call must be, or what a lane must newly hold.

A value is a number, a word (`nan`, `-inf`, `-0.0`, `0.1`, `1/3`), which is rounded to the type of
the lane (nearest even), or raw bits (`0x3e2aaaab`). It is compared bit by bit, so that -0.0 is not
0.0; `nan` alone stands for every NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import RequestError
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, round_to
from ascendsim.observe.recorder import Entry
from ascendsim.record import GM, UB, Access, Instr
from ascendsim.view.lane_graph import is_nan

_FORMATS = {fmt.name: fmt for fmt in (FLOAT32, FLOAT16, BFLOAT16)}
_WHERE = ("buffer", "lane", "slot", "dtype")  # what narrows `holds`
CALL = ("name", "pipe", "phase", "tile", "writes")  # what a call is asked for


class Hit(NamedTuple):
    """A lane that newly holds a value: of a slot of a buffer, or of a GM tensor (slot 0)."""

    buffer: str
    slot: int
    lane: int
    dtype: DType
    bits: int

    @property
    def value(self) -> Any:
        """The value that the bits stand for."""
        return self.dtype.from_bits(self.bits)

    def __str__(self) -> str:
        digits = 2 * self.dtype.nbytes + 2
        slot = f"@{self.slot}" if self.slot else ""
        return f"{self.buffer}{slot}[{self.lane}] = {self.value!s}  bits {self.bits:#0{digits}x}"


@dataclass(frozen=True, slots=True)
class Held:
    """What a lane must hold, and which lanes count: of any buffer, slot and number by default.

    dtype : how bytes are read; default the type with which a call stores them.
    """

    wanted: Any
    buffer: str | None = None
    lane: int | None = None
    slot: int | None = None
    dtype: DType | None = None

    def found(self, stores: list[Store]) -> Hit | None:
        """Return the first lane of what a call stored that holds it now and did not before."""
        for store in stores:
            dtype = self.dtype or store.access.dtype
            before, after = (
                self._fits(np.frombuffer(side, dtype.bits), dtype)
                for side in (store.before, store.after)
            )
            for index in np.flatnonzero(after & ~before):
                lane = store.first // dtype.nbytes + int(index)
                if self.lane in (None, lane):
                    bits = int(np.frombuffer(store.after, dtype.bits)[index])
                    return Hit(store.name, store.slot, lane, dtype, bits)
        return None

    def _fits(self, bits: np.ndarray, dtype: DType) -> np.ndarray:
        wanted = pattern(self.wanted, dtype)
        if wanted is None:
            return np.zeros(bits.shape, bool)
        return is_nan(bits, dtype) if wanted == "nan" else bits == wanted

    def stores(self, entry: Entry) -> list[Access]:
        """Return the operands of a call that may store such a lane."""
        call = entry.instr.call
        if call.execute is None:
            return []
        return [a for a in call.accesses if a.writes and self._counts(a)]

    def _counts(self, access: Access) -> bool:
        slot = 0 if access.space == GM else access.holder.slot
        return self.buffer in (None, access.holder.name) and self.slot in (None, slot)


class Store(NamedTuple):
    """Whole lanes that a call stored: from byte `first` of the slot (or GM tensor) on."""

    access: Access
    name: str
    slot: int
    first: int
    before: bytes
    after: bytes


def split(wanted: dict[str, Any]) -> tuple[dict[str, Any], Held | None]:
    """Return what the words ask of a call, and what they ask of a lane (None: nothing).

    Raises
    ------
    RequestError
        When a word is unknown, or narrows a value that is not given.
    """
    unknown = set(wanted) - {*CALL, "holds", *_WHERE}
    if unknown:
        known = ", ".join((*CALL, "holds", *_WHERE))
        raise RequestError(f"until: {unknown.pop()!r} is unknown; use {known}")
    call = {key: value for key, value in wanted.items() if key in CALL}
    where = {key: wanted[key] for key in _WHERE if wanted.get(key) is not None}
    if "holds" not in wanted:
        if where:
            raise RequestError(f"until: {next(iter(where))}= narrows holds=, which is missing")
        return call, None
    if "buffer" not in where and where.keys() & {"lane", "slot"}:
        raise RequestError("until: lane= and slot= need buffer=")
    if "dtype" in where:
        where["dtype"] = as_dtype(where["dtype"])
    held = Held(wanted["holds"], **where)
    _check_value(held)
    return call, held


def _check_value(held: Held) -> None:
    """Refuse a value that no type, or not the type asked for, can hold."""
    names = [*_FORMATS, "int64", "uint64"] if held.dtype is None else [held.dtype.name]
    if all(pattern(held.wanted, as_dtype(name)) is None for name in names):
        what = f" in {held.dtype}" if held.dtype else ""
        raise RequestError(
            f"until holds={held.wanted}: no value{what}; write a number, nan, inf, -inf or raw "
            "bits like 0x3e2aaaab"
        )


def _check_types(held: Held, stored: set[DType]) -> None:
    """Refuse a value that no type of the lanes in question can hold: it would never be found."""
    if held.dtype is None and stored and all(pattern(held.wanted, t) is None for t in stored):
        names = ", ".join(sorted(t.name for t in stored))
        where = f"{held.buffer} is" if held.buffer else "the lanes that the block stores are"
        raise RequestError(
            f"until holds={held.wanted}: {where} of type {names}, which cannot hold it; give a "
            f"value of such a type, or dtype= to read the bytes as another"
        )


def pattern(wanted: Any, dtype: DType) -> int | str | None:
    """Return the raw bits that `wanted` has in `dtype`, "nan" for any NaN, None for none."""
    text = str(wanted).strip().lower()
    try:
        if text.startswith("0x"):
            bits = int(text, 16)
            return bits if bits < 1 << 8 * dtype.nbytes else None
        if text.lstrip("+-") in ("nan", "inf", "infinity"):
            if dtype.kind != "float":
                return None
            return "nan" if "nan" in text else dtype.to_bits(float(text))
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
    if dtype.kind == "float":
        fmt = _FORMATS[dtype.name]
        minus_zero = number == 0 and text.startswith("-")
        return fmt.sign_bits if minus_zero else round_to(number, fmt)
    if number == 0 and text.startswith("-"):
        return None  # integers and mask bits have one zero
    limits = np.iinfo(dtype.numpy)
    inside = number.denominator == 1 and limits.min <= number <= limits.max
    return dtype.to_bits(int(number)) if inside else None


def seek(at: Any, held: Held, fits: Callable[[int], bool], backwards: bool) -> Hit | None:
    """Move the stepper `at` to stand behind the first call that makes a lane hold the value.

    `fits` takes the number of that call. Without one it stands at the end (the start).
    """
    _check_types(held, {a.dtype for entry in at.entries for a in held.stores(entry)})
    ahead, behind = range(at.position, len(at)), range(at.position - 2, -1, -1)
    for position in behind if backwards else ahead:
        accesses = held.stores(at.entries[position])
        if accesses and fits(position):
            hit = held.found(list(_stored(at, position, accesses, held.dtype)))
            if hit is not None:
                return hit
    at.goto(0 if backwards else len(at))
    return None


def _stored(at: Any, position: int, accesses: list[Access], dtype: DType | None) -> Iterator[Store]:
    """Yield what the call stored, lane by whole lane; `at` stands behind it then."""
    entry = at.entries[position]
    in_ub = [access for access in accesses if access.space == UB]
    windows = [_window(entry, access, dtype or access.dtype) for access in in_ub]
    before = [at.goto(position).ub[window].tobytes() for window in windows]
    at.goto(position + 1)
    for access, window, old in zip(in_ub, windows, before, strict=True):
        holder = access.holder
        new = at.ub[window].tobytes()
        yield Store(access, holder.name, holder.slot, window.start - holder.start, old, new)
    for access in accesses:
        if access.space == GM:
            yield from _in_gm(entry, access, dtype or access.dtype)


def _window(entry: Entry, access: Access, dtype: DType) -> slice:
    """Return the bytes of UB that hold all lanes of the slot that an operand touches."""
    ranges, holder, size = entry.instr.call.ranges(access), access.holder, dtype.nbytes
    if not ranges:
        return slice(holder.start, holder.start)
    start = (min(a for a, _ in ranges) - holder.start) // size * size
    stop = -(-(max(b for _, b in ranges) - holder.start) // size) * size
    stop = min(stop, holder.nbytes // size * size)
    return slice(holder.start + start, holder.start + max(start, stop))


def _in_gm(entry: Entry, access: Access, dtype: DType) -> Iterator[Store]:
    """Yield what a call stored in a GM tensor, cut to whole lanes."""
    for delta in entry.deltas:
        if delta.space == access.holder.name:
            first = -(-delta.start // dtype.nbytes) * dtype.nbytes
            lead = first - delta.start
            stop = lead + (len(delta.after) - lead) // dtype.nbytes * dtype.nbytes
            if stop > lead:
                sides = delta.before[lead:stop], delta.after[lead:stop]
                yield Store(access, delta.space, 0, first, *sides)


def first(entries: list[Entry], tiles: list[int], wanted: dict[str, Any]) -> int:
    """Return the number of the first call that fits.

    Raises
    ------
    RequestError
        When none does, or nothing is asked of it.
    """
    if not wanted or not wanted.keys() <= set(CALL):
        raise RequestError(f"goto takes a position, or some of {', '.join(CALL)}")
    fits = fitting(entries, tiles, wanted)
    found = next((k for k in range(len(entries)) if fits(k)), None)
    if found is None:
        asked = ", ".join(f"{key}={value}" for key, value in wanted.items())
        raise RequestError(f"goto {asked}: no call of the block fits")
    return found


def fitting(
    entries: list[Entry],
    tiles: list[int],
    wanted: dict[str, Any],
    predicate: Callable[[Instr], bool] | None = None,
) -> Callable[[int], bool]:
    """Return what says of the number of a call whether it fits."""
    tests: dict[str, Callable[[int], Any]] = {
        "name": lambda k: entries[k].instr.call.name,
        "pipe": lambda k: entries[k].instr.call.pipe.name.removeprefix("PIPE_"),
        "phase": lambda k: entries[k].instr.where.phase,
        "tile": lambda k: tiles[k],
    }

    def fits(k: int) -> bool:
        asked = all(
            value in written(entries[k].instr) if key == "writes" else tests[key](k) == value
            for key, value in wanted.items()
        )
        return asked and (predicate is None or predicate(entries[k].instr))

    return fits


def written(instr: Instr) -> set[str]:
    """Return the names of the UB buffers and GM tensors that a call stores to."""
    if instr.call.execute is None:
        return set()
    return {access.holder.name for access in instr.call.accesses if access.writes}


def tiles_of(entries: list[Entry]) -> list[int]:
    """Return the tile of each entry: a new one starts with the first CopyIn after other work."""
    tiles, tile, before = [], -1, ""
    for entry in entries:
        phase = entry.instr.where.phase
        if phase == "CopyIn" and before != "CopyIn":
            tile += 1
        before = phase or before
        tiles.append(tile)
    return tiles
