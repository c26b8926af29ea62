"""How undefined bits pass where values decide what gets on: logic, shifts and Select.

A bit of And is defined where one side has a defined 0, a bit of Or where one has a defined 1.
Shifts move bits, and an undefined sign is copied with them. Select passes on the source that is
taken; where the mask bit is undefined, a bit on which both sources agree is defined all the same.
The values are those before the call; what a repeat stores is kept for the next one. Shadow as in
taint.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.observe.checks.lanes import bytes_of, chunks
from ascendsim.record import Instr

Bits = tuple[np.ndarray, np.ndarray]  # values and undefined bits of some lanes, unsigned


def _and(one: Bits, other: Bits) -> Bits:
    (a, unsure_a), (b, unsure_b) = one, other
    return a & b, (unsure_a & (b | unsure_b)) | (unsure_b & (a | unsure_a))


def _or(one: Bits, other: Bits) -> Bits:
    (a, unsure_a), (b, unsure_b) = one, other
    return a | b, (unsure_a & (~b | unsure_b)) | (unsure_b & (~a | unsure_a))


_PAIRS: dict[str, Callable[[Bits, Bits], Bits]] = {"And": _and, "Ands": _and, "Or": _or, "Ors": _or}
LOGIC = frozenset((*_PAIRS, "Not", "ShiftLeft", "ShiftRight"))


def logic(shadow: np.ndarray, instr: Instr) -> None:
    """Let undefined bits pass through And, Or, Not, their scalar forms and shifts."""
    call, scalar = instr.call, instr.scalar
    into, *sources = call.accesses
    parts = list(chunks(call))
    memory, kept = _memory(instr, len(parts))
    for places in parts:
        taken = [
            _taken(memory, shadow, bytes_of(place, access), into.dtype)
            for place, access in zip(places[1:], sources, strict=True)
        ]
        if call.name in _PAIRS:
            other = taken[1] if len(taken) > 1 else _known(scalar, into.dtype)
            result = _PAIRS[call.name](taken[0], other)
        elif call.name == "Not":
            result = ~taken[0][0], taken[0][1]
        else:
            shift = _shift_left if call.name == "ShiftLeft" else _shift_right
            result = shift(taken[0][0], scalar, into.dtype), shift(taken[0][1], scalar, into.dtype)
        _put(kept, shadow, bytes_of(places[0], into), result)


def select(shadow: np.ndarray, instr: Instr) -> None:
    """Let undefined bits pass through Select."""
    call = instr.call
    into, *sources, mask = call.accesses
    ((start, stop),) = call.ranges(mask)
    chosen = np.unpackbits(call.core.ub.array[start:stop], bitorder="little") == 1
    unsure = np.unpackbits(shadow[start:stop], bitorder="little") == 1
    parts = list(chunks(call))
    memory, kept = _memory(instr, len(parts))
    for places in parts:
        taken = [
            _taken(memory, shadow, bytes_of(place, access), into.dtype)
            for place, access in zip(places[1:-1], sources, strict=True)
        ]
        one, other = (*taken, _known(instr.scalar, into.dtype))[:2]
        bits = places[-1]
        value = np.where(chosen[bits], one[0], other[0])
        either = one[1] | other[1] | (one[0] ^ other[0])
        passed = np.where(chosen[bits], one[1], other[1])
        result = value, np.where(unsure[bits], either, passed)
        _put(kept, shadow, bytes_of(places[0], into), result)


def _memory(instr: Instr, parts: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the bytes of UB, and where to keep what a part stores that a later one may read."""
    array: np.ndarray = instr.call.core.ub.array
    if parts == 1:
        return array, None
    kept = array.copy()
    return kept, kept


def _taken(memory: np.ndarray, shadow: np.ndarray, at: np.ndarray, dtype: DType) -> Bits:
    return memory[at].view(dtype.bits)[:, 0], shadow[at].view(dtype.bits)[:, 0]


def _put(kept: np.ndarray | None, shadow: np.ndarray, at: np.ndarray, result: Bits) -> None:
    value, undefined = (np.ascontiguousarray(each).view(np.uint8) for each in result)
    shadow[at] = undefined.reshape(at.shape)
    if kept is not None:
        kept[at] = value.reshape(at.shape)


def _known(scalar: Any, dtype: DType) -> Bits:
    word = np.array([dtype.to_bits(scalar)], dtype.bits)
    return word, np.zeros_like(word)


def _shift_left(words: np.ndarray, distance: Any, dtype: DType) -> np.ndarray:
    if distance >= 8 * dtype.nbytes:
        return np.zeros_like(words)
    return words << words.dtype.type(distance)


def _shift_right(words: np.ndarray, distance: Any, dtype: DType) -> np.ndarray:
    """Shift right; with copies of the top bit where the type has a sign."""
    signed = np.dtype(f"i{dtype.nbytes}") if dtype.kind == "int" else words.dtype
    if distance >= 8 * dtype.nbytes and signed is words.dtype:
        return np.zeros_like(words)
    nearest = min(int(distance), 8 * dtype.nbytes - 1)
    return (words.view(signed) >> signed.type(nearest)).view(words.dtype)
