"""Why does a lane hold what it holds? The calls behind it, back to the tensors in GM.

Of an elementwise instruction a lane of dst depends on the same lane of each source, and on its
mask bit. A copy from GM ends the search, and so does a call that mixes lanes (a reduction, a
gather): the answer then names all the bytes that it read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.isa.geometry import CopyShape, Geometry
from ascendsim.observe.recorder import Entry
from ascendsim.record import GM, UB, Access, Call

MAX_SPANS = 4  # byte ranges of an operand that are listed
MAX_CAUSES = 4096  # calls of one answer before it is cut off


@dataclass(frozen=True, slots=True)
class Spot:
    """`nbytes` bytes at `start` of UB, or one bit of the byte there (`bit` 0..7)."""

    start: int
    nbytes: int
    bit: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """A call and the lane that it stored, with the causes of its sources.

    position : of the call in the block, None for bytes that no call stored or for GM.
    place : where the value stands; bits : the raw bits there, None for what a call that mixes lanes
    read; scalar : the call's, if it has one.
    """

    position: int | None
    name: str
    place: str
    bits: int | None
    scalar: Any
    causes: tuple[Cause, ...]

    def lines(self, depth: int = 0) -> list[str]:
        """Return the tree as text, one call per line, causes indented."""
        at = "" if self.position is None else f"[{self.position}] "
        scalar = "" if self.scalar is None else f" scalar {self.scalar}"
        bits = "" if self.bits is None else f" = {self.bits:#x}"
        head = f"{'  ' * depth}{at}{self.name} {self.place}{bits}{scalar}"
        return [head, *(line for cause in self.causes for line in cause.lines(depth + 1))]

    def _repr_html_(self) -> str:
        from ascendsim.view.html.answers import cause_html

        return cause_html(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def cause_of(stepper: Any, spot: Spot, budget: list[int]) -> Cause:
    """Return why `spot` holds its bits at the moment of `stepper`, which is moved back in time."""
    budget[0] -= 1
    bits = _bits(stepper, spot)
    position = stepper.who_wrote(spot.start)
    if position is None or budget[0] < 0:
        name = "never written" if position is None else "(cut off)"
        return Cause(None, name, f"UB[{spot.start:#x}]", bits, None, ())
    entry: Entry = stepper.entries[position]
    call = entry.instr.call
    dst = written_at(call, spot.start)
    if dst is None:  # the scratch of a call
        return Cause(position, call.name, f"UB[{spot.start:#x}]", bits, entry.instr.scalar, ())
    if not isinstance(call.geometry, (Geometry, CopyShape)):
        place = f"{dst.holder.name}[byte {spot.start - dst.holder.start:#x}]"
        return Cause(position, call.name, place, bits, entry.instr.scalar, _mixed(call))
    stepper.goto(position)
    if isinstance(call.geometry, CopyShape):
        causes = _copied(stepper, call, dst, spot, budget)
        place = f"{dst.holder.name}[byte {spot.start - dst.holder.start:#x}]"
    else:
        lane = lane_at(call.geometry, dst, spot)  # type: ignore[arg-type]
        causes = _computed(stepper, call, lane, position, budget)
        place = f"{dst.holder.name}[{_index(dst, spot)}]"
    return Cause(position, call.name, place, bits, entry.instr.scalar, causes)


def written_at(call: Call, byte: int, space: str = UB) -> Access | None:
    """Return the operand that is stored to at a byte of UB or a GM tensor, the last of several."""
    for access in reversed(call.accesses):
        there = access.holder.name if access.space == GM else UB
        stored = call.ranges(access) if access.writes and there == space else []
        if any(start <= byte < stop for start, stop in stored):
            return access
    return None


def _mixed(call: Call) -> tuple[Cause, ...]:
    """Return what a call that mixes lanes read, since any of it may have gone into the lane."""
    return tuple(
        Cause(None, "mixes lanes of", read_by(call, access), None, None, ())
        for access in call.accesses
        if not access.writes
    )


def read_by(call: Call, access: Access) -> str:
    """Return buffer and bytes that a call touches at one operand, in words."""
    spans: list[list[int]] = []
    for start, stop in sorted(call.ranges(access)):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(stop, spans[-1][1])
        else:
            spans.append([start, stop])
    more = f" and {len(spans) - MAX_SPANS} more" if len(spans) > MAX_SPANS else ""
    texts = [f"UB[{start:#x}, {stop:#x})" for start, stop in spans[:MAX_SPANS]]
    return f"{access.holder.name} {', '.join(texts) or 'nothing'}{more}"


def _computed(
    stepper: Any, call: Call, lane: int, position: int, budget: list[int]
) -> tuple[Cause, ...]:
    shape: Any = call.geometry
    sources = [a for a in call.accesses if not a.writes]
    found = []
    for access in sources:
        if call.name == "Select" and not _selected(stepper, call, access, lane):
            continue
        stepper.goto(position)
        found.append(cause_of(stepper, spot_at(shape, access, lane), budget))
    stepper.goto(position)
    return tuple(found)


def _selected(stepper: Any, call: Call, access: Access, lane: int) -> bool:
    """Return True for the mask, and for the source that the mask bit takes."""
    if access.element == 0:
        return True
    mask = next(a for a in call.accesses if a.element == 0)
    bit = _bits(stepper, spot_at(call.geometry, mask, lane))
    return bool(bit) == (access.role == "src0")


def _copied(
    stepper: Any, call: Call, dst: Access, spot: Spot, budget: list[int]
) -> tuple[Cause, ...]:
    src = next((a for a in call.accesses if not a.writes), None)
    if src is None:
        return ()  # a value of the kernel's own
    block, rest = divmod(spot.start - dst.start, dst.block_stride or 1)
    if rest >= src.element:
        return ()  # padding
    start = src.start + block * src.block_stride + rest
    if src.space == UB:
        return (cause_of(stepper, Spot(start, spot.nbytes), budget),)
    index = start // src.dtype.nbytes
    return (Cause(None, "GM", f"{src.holder.name}[{index}]", _bits(stepper, spot, call), None, ()),)


def _bits(stepper: Any, spot: Spot, copied: Call | None = None) -> int:
    """Return the bits at `spot` now, or right after the copy that stands next."""
    if copied is not None:
        stepper.next()
        found = _bits(stepper, spot)
        stepper.back()
        return found
    word = int.from_bytes(stepper.ub[spot.start : spot.start + spot.nbytes].tobytes(), "little")
    return word if spot.bit is None else word >> spot.bit & 1


def spot_at(shape: Any, access: Access, lane: int) -> Spot:
    """Return where lane `lane` of a call stands at `access`."""
    if access.element == 0:
        return Spot(access.start + lane // 8, 1, lane % 8)
    if shape.counted:
        return Spot(access.start + lane * access.element, access.element)
    repeat, rest = divmod(lane, shape.lanes)
    block, inside = divmod(rest, DATABLOCK_BYTES // access.element)
    offset = repeat * access.repeat_stride + block * access.block_stride
    return Spot(access.start + offset + inside * access.element, access.element)


def lane_at(shape: Geometry, access: Access, spot: Spot) -> int:
    """Return the lane of a call that stored `spot` (the last one, when several did)."""
    if access.element == 0:
        return (spot.start - access.start) * 8 + (spot.bit or 0)
    if shape.counted:
        return (spot.start - access.start) // access.element
    for lane in range(shape.lanes * shape.repeats - 1, -1, -1):
        if shape.mask >> lane % shape.lanes & 1:
            found = spot_at(shape, access, lane)
            if found.start <= spot.start < found.start + found.nbytes:
                return lane
    raise AssertionError("no lane of the call stored these bytes")


def _index(access: Access, spot: Spot) -> int:
    """Return the element of the buffer's slot that `spot` is, or its bit number."""
    shift = spot.start - access.holder.start
    if access.element == 0:
        return shift * 8 + (spot.bit or 0)
    return int(shift // access.element)
