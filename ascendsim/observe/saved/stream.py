"""The records of a block with the bytes that they stored, as rows and bytes, and back.

A row is [seq, call, scalar, bits, waits, signals, place, stores]: `call` and `place` are numbers of
table rows, `bits` the scalar as the instruction takes it (hexadecimal, or null), a token is
[serial, source pipe, destination pipe, id], and a store [space, start, stop], with "UB" or the name
of a GM tensor. UB needs its bytes after a store only: those before it follow from
the start, so they are checked here and left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ascendsim.enums import PIPE
from ascendsim.observe.recorder import BlockRecording, Delta
from ascendsim.observe.saved.archive import Archive, Member, document
from ascendsim.observe.saved.registers import read_registers, saved_registers
from ascendsim.observe.saved.tables import Rows, Tables
from ascendsim.observe.saved.values import number, plain, value_of
from ascendsim.record import GM, UB, Call, Instr, Token
from ascendsim.record.registers import Registers

MOST_UB = 1 << 28


def recorded_members(
    recordings: Mapping[int, BlockRecording], tables: dict[str, Any]
) -> Iterator[Member]:
    """Yield the members of all blocks, then fill `tables` for run.json."""
    known = Tables()
    for block, recording in recordings.items():
        yield from _block(block, recording, known)
    read = known.read()
    for name, (_, content) in read.items():
        yield Member(f"gm/{name}", content)
    ub = max((len(recording.ub) for recording in recordings.values()), default=0)
    ranges = {name: [list(span) for span in spans] for name, (spans, _) in read.items()}
    tables |= {**known.rows, "files": known.files, "read": ranges, "ub": ub}
    tables["blocks"] = list(recordings)


def _block(block: int, recording: BlockRecording, tables: Tables) -> Iterator[Member]:
    rows, after, before = [], bytearray(), bytearray()
    ub = recording.ub.copy()
    for instr, deltas in recording.entries:
        stores = [[d.space, int(d.start), int(d.stop)] for d in deltas]
        head = [instr.seq, tables.call(instr.call), plain(instr.scalar), _scalar_bits(instr)]
        tokens = [[_token(t) for t in tokens] for tokens in (instr.waits, instr.signals)]
        rows.append([*head, *tokens, tables.place(instr.where), stores])
        for delta in deltas:
            if delta.space != UB:
                before += delta.before
            else:
                known = ub[delta.start : delta.stop].tobytes()
                assert known == delta.before, f"record {instr.seq}: UB changed between two calls"
        for delta in deltas:
            after += delta.after
            _store(ub, delta)
    facts = {"dropped": recording.dropped, "limit": recording.limit, "ub": recording.ub.size}
    registers = {"registers": saved_registers(recording.registers)}
    yield document(f"blocks/{block}.json", {**facts, **registers, "records": rows})
    yield Member(f"blocks/{block}.ub", recording.ub.tobytes())
    yield Member(f"blocks/{block}.after", bytes(after))
    yield Member(f"blocks/{block}.before", bytes(before))


def _token(token: Token) -> list[Any]:
    return [token.serial, token.source.name, token.destination.name, int(token.id)]


def _scalar_bits(instr: Instr) -> str | None:
    dtype = instr.call.fields.get("dtype")
    return None if instr.scalar is None or dtype is None else hex(dtype.to_bits(instr.scalar))


def _store(ub: np.ndarray, delta: Delta) -> None:
    if delta.space == UB:
        ub[delta.start : delta.stop] = np.frombuffer(delta.after, np.uint8)


def read_recordings(archive: Archive, tables: dict[str, Any]) -> dict[int, BlockRecording]:
    """Return the recordings of a file.

    Raises
    ------
    ValueError, KeyError, TypeError, ...
        Where the file does not hold what one written by `recorded_members` does.
    """
    ub = number(tables["ub"], 0, MOST_UB)
    rows = Rows(tables, ub, lambda name, size: archive.bytes(f"gm/{name}", size))
    return {number(block): _read_block(archive, block, rows) for block in tables["blocks"]}


def _read_block(archive: Archive, block: int, rows: Rows) -> BlockRecording:
    found = archive.json(f"blocks/{block}.json")
    ub_size = number(found["ub"], rows.ub, rows.ub)
    start = np.frombuffer(archive.bytes(f"blocks/{block}.ub", ub_size), np.uint8)
    limit = None if found["limit"] is None else number(found["limit"])
    recording = BlockRecording(start.copy(), None)
    after = _Bytes(archive.bytes(f"blocks/{block}.after"))
    before = _Bytes(archive.bytes(f"blocks/{block}.before"))
    ub, spans = start.copy(), _Spans(rows)
    for seq, call, scalar, bits, waits, signals, place, stores in found["records"]:
        instr = Instr(
            number(seq),
            block,
            rows.calls[number(call)],
            value_of(scalar),
            tuple(map(_read_token, waits)),
            tuple(map(_read_token, signals)),
            rows.places[number(place)],
        )
        if bits != _scalar_bits(instr):
            raise ValueError(f"{instr.call.name} takes another scalar than its bits say")
        deltas = [
            Delta(
                space,
                start,
                (ub[start:stop].tobytes() if space == UB else before.take(stop - start)),
                after.take(stop - start),
            )
            for space, start, stop in spans.checked(instr.call, stores)
        ]
        for delta in deltas:
            _store(ub, delta)
        recording.append(instr, tuple(deltas))
    after.end()
    before.end()
    recording.dropped, recording.limit = number(found["dropped"]), limit
    recording.registers = Registers(**read_registers(found["registers"]))
    return recording


class _Spans:
    """Which bytes each call stores: what a row says must be that."""

    def __init__(self, rows: Rows) -> None:
        self._known: dict[int, list[list[Any]]] = {}
        self._ub = rows.ub

    def checked(self, call: Call, stores: list[Any]) -> list[list[Any]]:
        key = id(call)
        if key not in self._known:
            self._known[key] = [] if call.execute is None else _stored(call)
        if stores != self._known[key]:
            raise ValueError(f"{call.name} stores other bytes than its operands say")
        return stores


def _stored(call: Call) -> list[list[Any]]:
    found = [[UB, start, stop] for start, stop in call.hidden]
    for access in call.accesses:
        if access.writes:
            space = access.holder.name if access.space == GM else UB
            found += [[space, start, stop] for start, stop in call.ranges(access)]
    return found


class _Bytes:
    """Bytes taken one piece after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def take(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._content):
            raise ValueError("the stored bytes end too early")
        return self._content[self._at - size : self._at]

    def end(self) -> None:
        if self._at != len(self._content):
            raise ValueError("there are more stored bytes than records")


def _read_token(row: list[Any]) -> Token:
    serial, source, destination, token = row
    return Token(number(serial), PIPE[source], PIPE[destination], number(token, -1))
