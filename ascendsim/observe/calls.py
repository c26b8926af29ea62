"""The call log: one plain dict per record, with the CRC of the bytes that the call stored.

Keys are those of the Ascend C call (`op`, `dst`, `src0`, `count`, `mode`, ...); a tensor is
`{"ub": byte offset, "buf": name, "slot": k, "rel": byte offset in the slot}` or
`{"gm": name, "off": byte offset}`.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ascendsim.observe.recorder import BlockRecording
from ascendsim.record import GM, Access, Call, Instr


class CallLog:
    """An observer that hands one dict per record to `sink`, or keeps the newest `last` of them.

    What it keeps are the records and their CRCs; they become dicts when they are asked for, since
    that takes longer than the run.
    """

    def __init__(
        self, sink: Callable[[dict[str, Any]], None] | None = None, last: int | None = None
    ) -> None:
        self.sink = sink
        self._kept: deque[tuple[Instr, int | None]] = deque(maxlen=last)

    def before(self, instr: Instr) -> None:
        """Nothing to see before the bytes change."""

    def after(self, instr: Instr) -> None:
        """Take the call and the CRC of what it stored."""
        call = instr.call
        crc = _stored_crc(call) if call.execute is not None and call.core.executing else None
        if self.sink is None:
            self._kept.append((instr, crc))
        else:
            self.sink(describe(instr, crc))

    def calls(self) -> list[dict[str, Any]]:
        """Return what was kept as dicts, oldest first."""
        return [describe(instr, crc) for instr, crc in self._kept]


def recorded_calls(
    recordings: Iterable[BlockRecording], executed: bool
) -> Iterator[dict[str, Any]]:
    """Yield the log of recorded blocks, one after the other; `executed` says that they stored."""
    for recording in recordings:
        for instr, deltas in recording.entries:
            crc = 0 if executed and instr.call.execute is not None else None
            if crc is not None:
                for delta in deltas[len(instr.call.hidden) :]:  # those of its operands
                    crc = zlib.crc32(delta.after, crc)
            yield describe(instr, crc)


def describe(instr: Instr, crc: int | None) -> dict[str, Any]:
    """Return a record as plain data, with `dst_crc` where it stored bytes."""
    call = instr.call
    out: dict[str, Any] = {"core": instr.block, "seq": instr.seq, "op": call.name}
    for access in call.accesses:
        out[access.role] = _place(access)
    out |= {key: _plain(value) for key, value in call.fields.items()}
    if instr.scalar is not None:
        dtype = call.fields.get("src_dtype", call.fields["dtype"])  # a scalar is of the source
        out["scalar"] = f"{dtype.to_bits(instr.scalar):#0{2 + 2 * dtype.nbytes}x}"
    if crc is not None:
        out["dst_crc"] = crc
    out["file"], out["line"] = instr.where.file, instr.where.line
    return out


def _stored_crc(call: Call) -> int:
    """Return the CRC of the bytes that now stand where the call stored."""
    crc, ub = 0, call.core.ub.array
    for space, holder, start, stop in call.stores:
        memory = holder.memory if space is GM else ub
        crc = zlib.crc32(memory[start:stop], crc)
    return crc


def _place(access: Access) -> dict[str, Any]:
    if access.space == GM:
        return {"gm": access.holder.name, "off": access.start}
    buffer = access.holder
    rel = access.start - buffer.start
    return {"ub": access.start, "buf": buffer.name, "slot": buffer.slot, "rel": rel}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else str(value)
