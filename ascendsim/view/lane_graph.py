"""The calls behind one element of an output, as a graph in program order.

Unlike the tree of `why`, a node stands once however often it is used, and both sources of a
Select are followed, so that the other branch can be computed too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.errors import RequestError
from ascendsim.isa.geometry import CopyShape, Geometry
from ascendsim.observe.recorder import BlockRecording, Delta
from ascendsim.record import UB, Access, Instr
from ascendsim.view.why import Spot, lane_at, read_by, spot_at


@dataclass(slots=True, eq=False)
class Node:
    """A call with the lane that it stored, or (without `instr`) bytes that no call stored.

    sources : in the order of the call's operands; position : of the call in the block.
    tensor, index : set for an element of a GM tensor.
    """

    bits: int
    dtype: DType
    mask: bool = False
    instr: Instr | None = None
    position: int = -1
    lane: int = 0
    sources: list[Node] = field(default_factory=list)
    tensor: str = ""
    index: int = -1

    @property
    def name(self) -> str:
        """Name of the instruction, "" for bytes that no call stored."""
        return "" if self.instr is None else self.instr.call.name


class Graph:
    """All nodes behind the element `index` of the output `output`; `nodes` in program order.

    root : the node that holds the element; leaves : what no call stored; block, copy : of the
    call that stored it in GM; entries : the block's calls.
    """

    def __init__(self, recordings: dict[int, BlockRecording], output: str, index: int) -> None:
        self.output, self.index = output, index
        self.block, self.copy = copy_out(recordings, output, index)
        self._recording = recordings[self.block]
        self.entries = list(self._recording.entries)
        self._known: dict[tuple[int, Spot], Node] = {}
        self.nodes: list[Node] = []
        instr = self.entries[self.copy].instr
        if "atomic" in instr.call.fields:
            raise _mixed(instr)
        src, dst = sides(instr)
        spot = Spot(across(dst, src, index * dst.dtype.nbytes), dst.dtype.nbytes)
        self.root = self._node(self.copy, spot, src.dtype)
        self.nodes.sort(key=lambda node: node.position)
        self.leaves = [node for node in self._known.values() if node.instr is None]

    def _node(self, before: int, spot: Spot, dtype: DType) -> Node:
        """Return the node that `spot` holds just before call `before`."""
        position, bits = self._written(before, spot)
        key = (position, spot)
        if key not in self._known:
            mask = spot.bit is not None
            if position < 0:
                self._known[key] = Node(bits, dtype, mask)
            else:
                instr = self.entries[position].instr
                self._known[key] = self._made(position, instr, spot, Node(bits, dtype, mask))
        return self._known[key]

    def _made(self, position: int, instr: Instr, spot: Spot, node: Node) -> Node:
        call, shape = instr.call, instr.call.geometry
        if isinstance(shape, CopyShape):
            if all(access.writes for access in call.accesses):
                return node  # stored by the scalar unit: a leaf
            src, dst = sides(instr)
            if (start := across(dst, src, spot.start)) < 0:
                return node  # padding
            if src.space == UB:
                return self._node(position, Spot(start, spot.nbytes), src.dtype)
            node.tensor, node.index = src.holder.name, start // src.dtype.nbytes
            return node
        written = [a for a in call.accesses if a.writes and a.space == UB]
        if written and not isinstance(shape, Geometry):
            raise _mixed(instr)
        if not written or not isinstance(shape, Geometry):
            return node
        dst = written[0]
        node.instr, node.position = instr, position
        node.dtype, node.lane = dst.dtype, lane_at(shape, dst, spot)
        for access in call.accesses:
            if not access.writes:
                at = spot_at(shape, access, node.lane)
                node.sources.append(self._node(position, at, access.dtype))
        self.nodes.append(node)
        return node

    def _written(self, before: int, spot: Spot) -> tuple[int, int]:
        """Return who stored `spot` last before call `before` (-1: nobody), and its bits."""
        for position in range(before - 1, -1, -1):
            for delta in reversed(self.entries[position].deltas):
                if delta.space == UB and delta.start <= spot.start < delta.stop:
                    return position, _word(delta.after, spot.start - delta.start, spot)
        return -1, _word(self._recording.ub.tobytes(), spot.start, spot)


def _mixed(instr: Instr) -> RequestError:
    """Return the error for a call whose lanes are not followed."""
    reads = [read_by(instr.call, a) for a in instr.call.accesses if not a.writes and a.space == UB]
    return RequestError(
        f"the element depends on {instr.call.name} at line {instr.where.line}, which mixes lanes "
        f"of {' and '.join(reads) or 'memory'}, or adds to memory: such calls are not followed; "
        f"step to it (stepper, who_wrote)"
    )


def _word(memory: bytes, start: int, spot: Spot) -> int:
    word = int.from_bytes(memory[start : start + spot.nbytes], "little")
    return word if spot.bit is None else word >> spot.bit & 1


def sides(instr: Instr) -> tuple[Access, Access]:
    """Return source and destination of a copy."""
    sides = sorted(instr.call.accesses, key=lambda access: access.writes)
    return sides[0], sides[-1]


def across(one: Access, other: Access, byte: int) -> int:
    """Return where `byte` of one side of a copy stands at the other, -1 for no byte of it."""
    block, rest = divmod(byte - one.start, one.block_stride or 1)
    return other.start + block * other.block_stride + rest if rest < other.element else -1


def copy_out(recordings: dict[int, BlockRecording], output: str, index: int) -> tuple[int, int]:
    """Return block and position of the last call that stored the element in GM."""
    for block in sorted(recordings, reverse=True):
        entries = recordings[block].entries
        for position in range(len(entries) - 1, -1, -1):
            entry = entries[position]
            for delta in entry.deltas:
                if delta.space == output and _holds(delta, entry.instr, index):
                    return block, position
    raise RequestError(f"no recorded call stored element {index} of {output}")


def _holds(delta: Delta, instr: Instr, index: int) -> bool:
    if not isinstance(instr.call.geometry, CopyShape):
        return False
    byte = index * sides(instr)[1].dtype.nbytes
    return delta.start <= byte < delta.stop


def ulp_order(bits: int, dtype: DType) -> int:
    """Return the place of a pattern among the numbers of its type; both zeros have place 0."""
    sign = 1 << (8 * dtype.nbytes - 1)
    if dtype.kind == "float":
        return -(bits - sign) if bits >= sign else bits
    return bits - 2 * sign if dtype.kind == "int" and bits >= sign else bits


def is_nan(bits: Any, dtype: DType) -> Any:
    """Say of a word, or of an array of words, of a float type whether it is a NaN."""
    sign = 1 << (8 * dtype.nbytes - 1)
    return (bits & (sign - 1)) > dtype.to_bits(float("inf"))


def scalar_bits(instr: Instr) -> int | None:
    """Return the raw bits of a call's scalar as the instruction takes it, None without one."""
    dtype: Any = instr.call.fields.get("src_dtype", instr.call.fields.get("dtype"))
    if instr.scalar is None or dtype is None:
        return None
    return int(dtype.to_bits(instr.scalar))
