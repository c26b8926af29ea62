"""Numbers that a question names: positions, bytes, and elements of an output."""

from __future__ import annotations

import operator
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.observe.recorder import Entry
from ascendsim.record import GM

Index = int | tuple[int, ...]  # of an output: flat, or one number per axis


def whole(value: Any, what: str) -> int:
    """Return `value` as an int; `what` names it in the error.

    Raises
    ------
    RequestError
        When it is no whole number.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise RequestError(f"{what} {value!r}: a whole number is needed") from None


def flat(name: str, index: Any, shape: tuple[int, ...]) -> int:
    """Return the flat index of an element of `name`, given flat or as a tuple, one per axis.

    Raises
    ------
    RequestError
        When it is neither, or outside.
    """
    size, given = 1, index if isinstance(index, tuple) else None
    for length in shape:
        size *= length
    if given is None:
        found = whole(index, f"{name}: element")
        if not 0 <= found < size:
            raise RequestError(f"{name} has elements 0..{size - 1}, not {found}")
        return found
    if len(given) != len(shape):
        raise RequestError(
            f"{name} has shape {shape}: element {index!r} needs a flat index, 0..{size - 1}, or "
            f"one number per axis"
        )
    found = 0
    for number, length in zip(given, shape, strict=True):
        at = whole(number, f"{name}: element {index!r}:")
        if not 0 <= at < length:
            raise RequestError(f"{name} has shape {shape}: element {index!r} is outside")
        found = found * length + at
    return found


def refuse_gm(name: str, entries: list[Entry]) -> None:
    """Refuse the name of a GM tensor where a buffer in UB is asked for.

    Raises
    ------
    RequestError
        When a call of `entries` has an operand in it; the text says what works.
    """
    for entry in entries:
        for access in entry.instr.call.accesses:
            if access.space == GM and access.holder.name == name:
                raise RequestError(
                    f"{name} is in GM, a stepper shows UB: go to a call that stores it (until "
                    f"writes={name}, or holds=VALUE buffer={name}) and ask for the buffer that it "
                    f"copies; in Python run.why({name!r}, index) asks at the end of the run"
                )
