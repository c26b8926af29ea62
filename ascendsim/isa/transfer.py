"""A bound copy: run it, or make the record of it.

What lies in UB was checked when the copy was bound; where in GM it goes is new in every tile and
is checked here by arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ascendsim.core import observed
from ascendsim.enums import PIPE
from ascendsim.errors import AlignmentError, AscendError, BoundsError, QueueError
from ascendsim.isa.atomic import check_atomic
from ascendsim.isa.beyond import tolerated
from ascendsim.isa.clipped import pieces
from ascendsim.isa.geometry import CopyShape
from ascendsim.isa.padding import PadBlocks
from ascendsim.record import GM, UB, Access, Call, Move

PIPES = {(UB, GM): PIPE.PIPE_MTE2, (GM, UB): PIPE.PIPE_MTE3, (UB, UB): PIPE.PIPE_V}


class Shape(NamedTuple):
    """`blocks` of `length` bytes; pitches are bytes from the start of a block to the next."""

    blocks: int
    length: int
    dst_pitch: int
    src_pitch: int


@dataclass(slots=True, eq=False)
class Transfer:
    """A copy with everything checked but its place in GM; shared by the tiles that repeat it.

    `unit` is what a GM address must be a multiple of, in bytes; `fields` the parameters for the
    record. `lead` bytes of left padding stand before the data in UB; `around` stores the padding.
    `beyond` : see record.Call
    """

    name: str
    pipe: PIPE
    shape: Shape
    unit: int
    fields: dict[str, Any]
    lead: int
    around: PadBlocks | None
    beyond: tuple[BoundsError, ...] = ()
    dst_reach: int = field(init=False)
    src_reach: int = field(init=False)

    def __post_init__(self) -> None:
        blocks, length, dst_pitch, src_pitch = self.shape
        empty = not (blocks and length)
        self.dst_reach = 0 if empty else (blocks - 1) * max(dst_pitch, 0) + length + self.lead
        self.src_reach = 0 if empty else (blocks - 1) * max(src_pitch, 0) + length


def run(transfer: Transfer, dst: Any, src: Any) -> None:
    """Execute a bound copy on the tensors of this call."""
    core, reach = dst.core, transfer.dst_reach
    if reach:
        try:
            if dst.space is GM:
                if dst.start % transfer.unit:
                    raise _misaligned(transfer, "dst", dst)
                if core.atomic is not None:
                    check_atomic(transfer.name, core, dst.dtype)
                dst.touch(transfer.name, "dst", reach, True)
                _note_writes(dst, transfer.shape)
            elif not dst.buffer.state:
                raise freed(transfer.name, "dst", dst)
            if src.space is GM:
                if src.start % transfer.unit:
                    raise _misaligned(transfer, "src", src)
                src.touch(transfer.name, "src", transfer.src_reach, False)
            elif not src.buffer.state:
                raise freed(transfer.name, "src", src)
        except BoundsError as error:
            _run_inside(transfer, dst, src, tolerated(core, "", error))
            return
    if core.readers:
        observed(core, _call(transfer, dst, src), depth=3)
    elif reach:
        blocks, length, dst_pitch, src_pitch = transfer.shape
        to_address = dst.address + transfer.lead
        move = core.store if dst.space is GM else core.move
        move(to_address, src.address, blocks, length, dst_pitch, src_pitch)
        if transfer.around is not None:
            transfer.around.store()


def _run_inside(transfer: Transfer, dst: Any, src: Any, left: tuple[BoundsError, ...]) -> None:
    """Execute what of a copy lies inside its GM tensor, by the rules of isa/clipped.py."""
    if dst.space is GM and not src.buffer.state:
        raise freed(transfer.name, "src", src)
    left = transfer.beyond + left
    for part, into, out_of in pieces(transfer, dst, src):
        if part.dst_reach and dst.space is GM:
            _note_writes(into, part.shape)
        call = _call(part, into, out_of)
        call.beyond, left = left, ()
        if dst.core.readers:
            observed(dst.core, call, depth=4)
        else:
            call.execute(0, 0.0)  # type: ignore[misc]


def freed(name: str, role: str, tensor: Any) -> AscendError:
    """Return the error for a copy to or from a buffer that is not allocated."""
    return QueueError(
        f"{name}: {role} is {tensor!r}, whose buffer was freed; copy before FreeTensor",
        finding="memcheck:use-after-free",
        about=tensor.buffer,
    )


def _misaligned(transfer: Transfer, role: str, tensor: Any) -> AscendError:
    return AlignmentError(
        f"{transfer.name}: {role} starts at {tensor.holder.name}[{tensor.start:#x}]: the GM "
        f"address must be a multiple of {transfer.unit} bytes; choose such an offset"
    )


def _note_writes(dst: Any, shape: Shape) -> None:
    """Note which bytes of a GM tensor were stored, for the coverage of outputs."""
    writes, start = dst.holder.writes, dst.start
    if dst.core.atomic is not None:
        writes = dst.holder.shared_writes
    blocks, length, pitch, _ = shape
    if blocks == 1 or pitch == length:
        writes.append((start, start + blocks * length))
    else:
        writes.extend((start + k * pitch, start + k * pitch + length) for k in range(blocks))


def _call(transfer: Transfer, dst: Any, src: Any) -> Call:
    """Return the call for its record."""
    blocks, length, dst_pitch, src_pitch = transfer.shape
    move, around = (dst.core.store if dst.space is GM else dst.core.move), transfer.around
    from_address, to_address = src.address, dst.address + transfer.lead

    def execute(address: int, scalar: float) -> None:
        if blocks and length:
            move(to_address, from_address, blocks, length, dst_pitch, src_pitch)
            if around is not None:
                around.store()

    start, stored = dst.start + transfer.lead, length
    if around is not None:
        start, stored = dst.start, around.left + length + around.after
    into = Access("dst", dst.space, dst.holder, start, dst.dtype, True, stored, dst_pitch, 0)
    out_of = Access(
        "src0", src.space, src.holder, src.start, src.dtype, False, length, src_pitch, 0
    )
    fields = transfer.fields
    if transfer.pipe is not PIPE.PIPE_V:
        cache = (dst if dst.space is GM else src).cache
        fields = fields | {"l2": cache.name}
    row = None
    if dst.space is GM and dst.core.atomic is not None:
        fields["atomic"] = dst.core.atomic[0]
    else:
        row = _row(transfer, dst, src)
    return Call(
        transfer.name,
        transfer.pipe,
        dst.core,
        (into, out_of),
        execute,
        row=row,
        geometry=CopyShape(blocks if length else 0),
        fields=fields,
        sets=(("pad_value", fields["padValue"]),) if fields.get("isPad") else (),
        beyond=transfer.beyond,
    )


def _row(transfer: Transfer, dst: Any, src: Any) -> Move:
    """Return the same as data, for engines."""
    blocks, length, dst_pitch, src_pitch = transfer.shape
    return Move(
        *(blocks if length else 0, length, dst_pitch, src_pitch),
        *("" if dst.space is UB else dst.holder.name, dst.start + transfer.lead),
        *("" if src.space is UB else src.holder.name, src.start),
        None if transfer.around is None else transfer.around.stored,
    )
