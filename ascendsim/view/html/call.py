"""A call of the kernel: its place in the source, its neighbours, its operands with their values."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.observe.recorder import Delta
from ascendsim.record import GM, UB, Access, Call, Instr
from ascendsim.view.html.style import mono, pill, table, text

if TYPE_CHECKING:
    from ascendsim.view.stepper import Stepper

AROUND = 2  # lines of source and calls before and after
LANES = 6  # values shown of an operand
MOST_LETTERS = 160  # of a line of the kernel


def pipe_of(instr: Instr) -> str:
    """Return the pipe of a call: S, MTE2, V, MTE3."""
    return instr.call.pipe.name.removeprefix("PIPE_")


def source_html(file: str, line: int) -> str:
    """Return the kernel's lines around `line`, which is marked; "" where there are none."""
    lines = linecache.getlines(file)
    if not 0 < line <= len(lines):
        return ""
    shown = []
    for number in range(max(line - AROUND, 1), min(line + AROUND, len(lines)) + 1):
        code = f"{number:>4}  {lines[number - 1].rstrip()[:MOST_LETTERS]}"
        shown.append(
            f'<span class="asim-now">{text(code)}</span>' if number == line else text(code) + "\n"
        )
    return f'<div class="asim-c asim-m">{"".join(shown)}</div>'


def calls_html(at: Stepper) -> str:
    """Return the calls around the next one, which is marked."""
    first = max(at.position - AROUND, 0)
    last = min(at.position + AROUND + 1, len(at))
    rows = [
        (
            str(position),
            f"<b>{text(instr.call.name)}</b>",
            pill(pipe_of(instr)),
            mono(stores_of(instr)),
            mono(reads_of(instr)),
            text(instr.where.line),
        )
        for position in range(first, last)
        for instr in (at.entries[position].instr,)
    ]
    columns = ("call", "", "pipe", "on", "reads", "line")
    return table(columns, rows, now=at.position - first, right=(0, 5))


def stores_of(instr: Instr) -> str:
    """Return what a call stores to; of a call of a queue, the slot."""
    found = [named(access) for access in instr.call.accesses if access.writes]
    if not found and instr.call.execute is None:
        found = [named(access) for access in instr.call.accesses]
    return ", ".join(found)


def reads_of(instr: Instr) -> str:
    """Return the operands that a call reads, and its scalar."""
    found = [] if instr.call.execute is None else list(instr.call.accesses)
    words = [named(access) for access in found if not access.writes]
    words += [] if instr.scalar is None else [scalar_of(instr.scalar)]
    return ", ".join(words)


def scalar_of(scalar: Any) -> str:
    """Return a scalar as short as it can be told apart from others of its type."""
    return str(scalar)


def named(access: Access) -> str:
    """Return the buffer of an operand, with its slot when it is not the first."""
    if access.space == GM:
        return f"{access.holder.name} (GM)"
    slot = getattr(access.holder, "slot", 0)
    return f"{access.holder.name}@{slot}" if slot else str(access.holder.name)


def operands_html(at: Stepper) -> str:
    """Return the operands of the next call: bytes, and the first values before and after."""
    instr = at.instr
    if instr is None or instr.call.execute is None:
        return ""
    call, deltas = instr.call, at.entries[at.position].deltas
    rows = [
        (
            f'<span class="{"asim-wr" if access.writes else "asim-rd"}">{text(access.role)}</span>',
            f"<b>{text(named(access))}</b>",
            text("bits" if access.element == 0 else access.dtype),
            mono(span_of(call, access)),
            _values(_now(at, access), _then(access, deltas)),
        )
        for access in call.accesses
    ]
    if instr.scalar is not None:
        rows.append(("scalar", "", "", "", mono(scalar_of(instr.scalar))))
    return table(("operand", "buffer", "type", "bytes", "first lanes, now and after"), rows)


def _values(now: str, then: str) -> str:
    after = f'<span class="asim-wr">→ {mono(then)}</span>' if then else ""
    return "<br>".join(each for each in (mono(now) if now else "", after) if each)


def span_of(call: Call, access: Access) -> str:
    """Return the bytes that a call touches at an operand, from the first to the last."""
    ranges = call.ranges(access) or [(access.start, access.start)]
    return f"[{min(a for a, _ in ranges):#x}, {max(b for _, b in ranges):#x})"


def _now(at: Stepper, access: Access) -> str:
    if access.space != UB:
        return ""
    return shown(at.ub[access.start : access.start + 8 * LANES].tobytes(), access)


def _then(access: Access, deltas: tuple[Delta, ...]) -> str:
    """Return what the call stores at an operand, from the bytes that were recorded."""
    space = UB if access.space == UB else access.holder.name
    for delta in deltas:
        if access.writes and delta.space == space and delta.start <= access.start < delta.stop:
            return shown(delta.after[access.start - delta.start :], access)
    return ""


def shown(raw: bytes, access: Access) -> str:
    """Return the first lanes of some bytes as an operand's values; of a mask as 0 and 1."""
    if access.element == 0:
        bits = np.unpackbits(np.frombuffer(raw[:2], np.uint8), bitorder="little")
        return "".join(map(str, bits)) + "…"
    return " ".join(values_of(raw, access.dtype))


def values_of(raw: bytes, dtype: DType) -> Iterator[str]:
    """Yield the first values of some bytes as text."""
    count = min(len(raw) // dtype.nbytes, LANES)
    yield from (str(value) for value in np.frombuffer(raw, dtype.numpy, count))
