"""What the calls of one block do, kept as data while the kernel runs without bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascendsim.record import Call, Instr, Move, Store, Token


class NoPlanError(Exception):
    """An engine cannot run this launch; the text says why."""


class Stream:
    """An observer that keeps every call which stores bytes, with its scalar as the row takes it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.scalars: list[float] = []

    @property
    def tape(self) -> Callable[..., None]:
        """What takes calls in place of records."""
        return self.append

    def before(self, instr: Instr) -> None:
        """Nothing to see before the call."""

    def after(self, instr: Instr) -> None:
        """Keep the call of a record."""
        self.append(instr.call, instr.waits, instr.signals, instr.scalar)

    def append(
        self,
        call: Call,
        waits: tuple[Token, ...],
        signals: tuple[Token, ...],
        scalar: Any = None,
    ) -> None:
        """Keep one call."""
        if call.execute is None and not call.meets:
            return
        for start, stop in call.hidden:
            if call.core.ub_used > start:  # step mode raises this as an error of the kernel
                raise NoPlanError(
                    f"{call.name} writes scratch at UB[{start:#x}, {stop:#x}), in use"
                )
        value = scalar if call.encode is None else call.encode(scalar)
        self.calls.append(call)
        self.scalars.append(0.0 if value is None else float(value))


def same_stream(one: Stream, other: Stream) -> bool:
    """Tell whether two blocks do the same, up to where in GM."""
    if len(one.calls) != len(other.calls):
        return False
    if [s.hex() for s in one.scalars] != [s.hex() for s in other.scalars]:
        return False
    return all(map(_same_call, one.calls, other.calls))


def _same_call(one: Call, other: Call) -> bool:
    if one is other:
        return True
    return type(one.row) is type(other.row) and _placeless(one) == _placeless(other)


def _placeless(call: Call) -> Any:
    """Return what a call does, without its place in GM."""
    row = call.row
    if isinstance(row, (Move, Store)):
        places = gm_place(row)
        return tuple(0 if name in places else value for name, value in row._asdict().items())
    if row is None:
        return None
    return tuple(None if part is None else part.tobytes() for part in row)


def gm_place(row: Any) -> dict[str, int]:
    """Return the field of a row that is an offset in GM, with its value; {} when none is."""
    if not isinstance(row, (Move, Store)):
        return {}
    if isinstance(row, Store):
        return {"start": row.start} if row.space else {}
    if row.dst_space:
        return {"dst": row.dst}
    return {"src": row.src} if row.src_space else {}
