"""The call log: one plain dict per record, with the CRC of the bytes that the call stored.

Keys are those of the Ascend C call (`op`, `dst`, `src0`, `count`, `mode`, ...); a tensor is
`{"ub": byte offset, "buf": name, "slot": k, "rel": byte offset in the slot}` or
`{"gm": name, "off": byte offset}`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ascendsim.record import GM, Access, Call, Instr


class CallLog:
    """An observer that hands one dict per record to `sink`."""

    def __init__(self, sink: Callable[[dict[str, Any]], None]) -> None:
        self.sink = sink

    def before(self, instr: Instr) -> None:
        """Nothing to see before the bytes change."""

    def after(self, instr: Instr) -> None:
        """Describe the call and what it stored."""
        self.sink(describe(instr))


def describe(instr: Instr) -> dict[str, Any]:
    """Return a record as plain data, with `dst_crc` where it stored bytes."""
    call = instr.call
    out: dict[str, Any] = {"core": instr.block, "seq": instr.seq, "op": call.name}
    for access in call.accesses:
        out[access.role] = _place(access)
    out |= {key: _plain(value) for key, value in call.fields.items()}
    if instr.scalar is not None:
        dtype = call.fields.get("src_dtype", call.fields["dtype"])  # a scalar is of the source
        out["scalar"] = f"{dtype.to_bits(instr.scalar):#0{2 + 2 * dtype.nbytes}x}"
    if call.execute is not None and call.core.executing:
        out["dst_crc"] = _stored_crc(call)
    out["file"], out["line"] = instr.where.file, instr.where.line
    return out


def stored_bytes(call: Call, access: Access) -> np.ndarray:
    """Return the bytes that now stand at the ranges of `access`, one after the other."""
    memory = access.holder.memory if access.space == GM else call.core.ub.array
    parts = [memory[start:stop] for start, stop in call.ranges(access)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def _stored_crc(call: Call) -> int:
    crc = 0
    for access in call.accesses:
        if access.writes:
            crc = zlib.crc32(stored_bytes(call, access).data, crc)
    return crc


def _place(access: Access) -> dict[str, Any]:
    if access.space == GM:
        return {"gm": access.holder.name, "off": access.start}
    buffer = access.holder
    rel = access.start - buffer.start
    return {"ub": access.start, "buf": buffer.name, "slot": buffer.slot, "rel": rel}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else str(value)
