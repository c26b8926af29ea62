"""Where do two recorded runs part? The first call that stores other bytes, and what follows.

Calls are held side by side in program order as long as they are the same call on the same
buffers; scalars, modes and counts may differ. What follows is found by taint: a later call is on
the chain when it stores other bytes and reads bytes that the chain made differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.errors import RequestError
from ascendsim.isa.geometry import CopyShape, Geometry
from ascendsim.observe.recorder import BlockRecording, Delta, Entry
from ascendsim.record import GM, UB, Instr, Line, Where
from ascendsim.view.lane_graph import Graph, Node, scalar_bits, ulp_order
from ascendsim.view.parted import differing, reads, settle
from ascendsim.view.why import Spot, lane_at, written_at

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A call that stored other bytes in the second run.

    place : the first lane that differs, as text; lane : its number (of a copy: the element);
    bits : there, in both runs; ulp : how far apart, None for mask bits; call : what differs
    between the two calls themselves, name to both values; where : the kernel's line.
    """

    block: int
    position: int
    name: str
    file: str
    line: int
    place: str
    lane: int
    dtype: DType
    bits: tuple[int, int]
    ulp: int | None
    call: dict[str, Pair]
    where: Where | Line = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The kernel's line."""
        return self.where.text

    def __str__(self) -> str:
        ulp = "" if self.ulp is None else f", {self.ulp} ULP"
        call = "".join(f", {key} {a} against {b}" for key, (a, b) in self.call.items())
        values = f"{self.place} {self.bits[0]:#x} against {self.bits[1]:#x}"
        return f"[{self.position}] {self.name} line {self.line}: {values}{ulp}{call}"


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference of two runs.

    first : the first call that stores other bytes, None when there is none; chain : the later
    ones that depend on it, in the same block; parted : where the streams are no longer the same
    calls, "" when they are to the end.
    """

    first: Step | None
    chain: tuple[Step, ...]
    parted: str
    recordings: tuple[dict[int, BlockRecording], dict[int, BlockRecording]]

    def lane(self, index: int, output: str = "out") -> tuple[Step, ...]:
        """Return the calls behind one element of an output whose bits differ, first one first."""
        steps = []
        for node, other in _matched(*(Graph(each, output, index) for each in self.recordings)):
            if node.instr and other.instr and node.bits != other.bits:
                bits = (node.bits, other.bits)
                place = f"lane {node.lane}"
                dtype = None if node.mask else node.dtype
                steps.append(_step(node.position, (node.instr, other.instr), place, bits, dtype))
        return tuple(sorted(steps, key=lambda step: step.position))

    def _repr_html_(self) -> str:
        from ascendsim.view.html.answers import diff_html

        return diff_html(self)

    def __str__(self) -> str:
        if self.first is None:
            return self.parted or "the runs are the same"
        head = f"block {self.first.block}: the first call that differs is\n  {self.first}"
        lines = [head, f"    {self.first.text}"]
        if self.chain:
            lines += ["and from there on", *(f"  {step}" for step in self.chain)]
        return "\n".join([*lines, *([self.parted] if self.parted else [])])


def diff_of(one: Any, two: Any) -> Diff:
    """Return where two runs part.

    Raises
    ------
    RequestError
        When one of them is no run, not recorded, or of another operator or element type.
    """
    if not hasattr(two, "recordings"):
        raise RequestError(f"diff needs another run, not {two!r:.80}")
    recorded = one.recordings and two.recordings  # else that is what is wrong
    if recorded and one.op != two.op:
        raise RequestError("diff needs two runs of the same operator")
    if recorded and one.dtype != two.dtype:
        raise RequestError(
            f"diff needs two runs of one element type, not {one.dtype} against {two.dtype}"
        )
    return diff_runs(one.recordings, two.recordings)


def diff_runs(one: dict[int, BlockRecording], two: dict[int, BlockRecording]) -> Diff:
    """Return where two recordings of one operator part.

    Raises
    ------
    RequestError
        When one of them is empty.
    """
    if not one or not two:
        raise RequestError('diff needs two recorded runs: launch both with record="bytes"')
    parted = "" if one.keys() == two.keys() else "the runs have recorded different blocks"
    for block in sorted(one.keys() & two.keys()):
        sides = list(one[block].entries), list(two[block].entries)
        common = _common(*sides)
        if common < max(map(len, sides)) and not parted:
            parted = _parted(block, common, sides)
        steps = list(_chain((one[block], two[block]), sides, common))
        if steps:
            return Diff(steps[0], tuple(steps[1:]), parted, (one, two))
    return Diff(None, (), parted, (one, two))


def _matched(one: Graph, two: Graph) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes of two graphs that are the same call: one by one where both do the same.

    Otherwise by position and lane; other tilings have other numbers for both.
    """
    if [node.name for node in one.nodes] == [node.name for node in two.nodes]:
        yield from zip(one.nodes, two.nodes, strict=True)
        return
    known = {(node.position, node.lane): node for node in two.nodes}
    for node in one.nodes:
        if (node.position, node.lane) in known:
            yield node, known[node.position, node.lane]


def _common(one: list[Entry], two: list[Entry]) -> int:
    """Return how many calls at the start are the same call in both."""
    common = 0
    for a, b in zip(one, two, strict=False):
        if _kind(a.instr) != _kind(b.instr):
            break
        common += 1
    return common


def _kind(instr: Instr) -> tuple[Any, ...]:
    places = [(a.role, a.space, a.holder.name, a.dtype) for a in instr.call.accesses]
    return (instr.call.name, *places)


def _parted(block: int, common: int, sides: tuple[list[Entry], list[Entry]]) -> str:
    names = [
        f"{entries[common].instr.call.name} line {entries[common].instr.where.line}"
        if common < len(entries)
        else "nothing more"
        for entries in sides
    ]
    return f"the streams part in block {block} at [{common}]: {names[0]} against {names[1]}"


def _chain(
    recordings: tuple[BlockRecording, BlockRecording],
    sides: tuple[list[Entry], list[Entry]],
    common: int,
) -> Iterator[Step]:
    """Yield the first call whose bytes differ, then those that depend on it."""
    taint: dict[str, np.ndarray] = {}
    images = recordings[0].ub.copy(), recordings[1].ub.copy()
    for position in range(common):
        pair = sides[0][position], sides[1][position]
        for entry, image in zip(pair, images, strict=True):
            for delta in entry.deltas:
                if delta.space == UB:
                    image[delta.start : delta.stop] = np.frombuffer(delta.after, np.uint8)
        wrong = differing(*pair, images)
        counts = bool(wrong) and (not taint or reads(pair[0].instr, taint))
        if counts:
            yield _at(position, pair, wrong[0])
        if counts or taint:
            settle(pair, taint, wrong if counts else [])


def _at(position: int, pair: tuple[Entry, Entry], where: tuple[Delta, Delta, np.ndarray]) -> Step:
    """Return the step of a call at the first byte that differs."""
    deltas, offset = where[:2], int(where[2][0])
    instrs = pair[0].instr, pair[1].instr
    space, start = deltas[0].space, deltas[0].start + offset
    call = instrs[0].call
    access = written_at(call, start, space)
    if access is None:  # only the other call stores there
        call = instrs[1].call
        access = written_at(call, start, space)
    shape = call.geometry
    if access is None:
        return _step(position, instrs, f"{space}[{start:#x}]", _words(deltas, offset, 1), None)
    name, nbytes = access.holder.name, access.dtype.nbytes
    if access.element == 0 and isinstance(shape, Geometry):
        both = _words(deltas, offset, 1)
        bit = ((both[0] ^ both[1]) & -(both[0] ^ both[1])).bit_length() - 1
        lane = lane_at(shape, access, Spot(start, 1, bit))
        values = (both[0] >> bit & 1, both[1] >> bit & 1)
        return _step(position, instrs, f"{name}[bit {lane}]", values, None, lane)
    inside = (start - access.start) % nbytes
    start, values = start - inside, _words(deltas, offset - inside, nbytes)
    if isinstance(shape, Geometry):
        lane = lane_at(shape, access, Spot(start, nbytes))
    else:
        lane = (start - (0 if access.space == GM else access.holder.start)) // nbytes
    # what a call with lanes of its own stores may be an index among values: no distance then
    dtype = access.dtype if isinstance(shape, (Geometry, CopyShape)) else None
    return _step(position, instrs, f"{name}[{lane}]", values, dtype, lane)


def _words(deltas: tuple[Delta, Delta], offset: int, nbytes: int) -> tuple[int, int]:
    one, two = (int.from_bytes(d.after[offset : offset + nbytes], "little") for d in deltas)
    return one, two


def _step(
    position: int,
    instrs: tuple[Instr, Instr],
    place: str,
    bits: tuple[int, int],
    dtype: DType | None,
    lane: int = 0,
) -> Step:
    one, two = instrs
    ulp = None if dtype is None else abs(ulp_order(bits[0], dtype) - ulp_order(bits[1], dtype))
    kind = dtype or one.call.accesses[0].dtype
    where, call = one.where, _call_difference(one, two)
    name = one.call.name
    head = (one.block, position, name, where.file, where.line, place, lane)
    return Step(*head, kind, bits, ulp, call, where)


def _call_difference(one: Instr, two: Instr) -> dict[str, Pair]:
    """Return what differs between two calls: scalar (in bits), mode, count and other fields."""
    found: dict[str, Pair] = {}
    scalars = scalar_bits(one), scalar_bits(two)
    if scalars[0] != scalars[1]:
        found["scalar"] = tuple("none" if s is None else f"{s:#x}" for s in scalars)  # type: ignore
    fields = one.call.fields, two.call.fields
    for key in fields[0].keys() | fields[1].keys():
        values = fields[0].get(key), fields[1].get(key)
        if values[0] != values[1]:
            found[key] = values
    return found
