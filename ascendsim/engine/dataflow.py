"""What every byte that reaches GM was computed from, lane by lane.

The calls of a block are followed once, over a map of UB that says for each run of bytes which value
it holds: a node of one graph for the whole launch, and which element of the GM tensors its first
lane belongs to. Equal computations are the same node, so all tiles of a kernel meet in one node.
What a lane was computed from is *aligned* when all of it belongs to the same element; everything
else (shifted or strided operands, bytes that nobody wrote) is noted with its reason, which counts
only when it reaches GM: what a kernel computes beyond the tail and never stores does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ascendsim.engine.regular import irregular, lane_ranges
from ascendsim.engine.stream import NoPlanError
from ascendsim.engine.ubmap import Place, Run, UbMap
from ascendsim.numerics import families
from ascendsim.numerics.opcodes import ENV, MASK, MODE, OP, SRC0, SRC1
from ascendsim.record import GM, Access, Call, Move, Store


class Node(NamedTuple):
    """A value per element: `body` of the operands (word of the row, node), or a load from GM.

    bits : of a lane (1 for mask bits); tensor : the GM tensor of a load, else ""; scalar : of the
    row, in hexadecimal, since -0.0 is not 0.0 and NaN equals nothing.
    """

    body: str
    bits: int
    tensor: str = ""
    operands: tuple[tuple[int, int], ...] = ()
    scalar: str = ""
    mode: int = 0
    env: int = 0


class Stored(NamedTuple):
    """`elements` of a GM tensor that a copy stored, the first at `place` in the class's blocks."""

    tensor: str
    node: int
    place: Place
    elements: int


class Graph:
    """The nodes of a launch, each once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}

    def number(self, node: Node) -> int:
        """Return the number of a node."""
        known = self._numbers.get(node)
        if known is None:
            known = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return known


class _Operand(NamedTuple):
    """A source of a vector call: its access, its word of the row, bits per lane."""

    access: Access
    word: int
    bits: int


class Flow:
    """Follows the calls of one block; `stored` is what it stores in GM, in order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ub = UbMap()
        self.stored: list[Stored] = []

    def follow(self, call: Call, scalar: float, step: int) -> None:
        """Take one call; `step` is how far its place in GM moves from block to block (bytes).

        Raises
        ------
        NoPlanError
            When it stores what is not aligned; the text names the pair of operands.
        """
        if isinstance(call.row, Move):
            self._move(call, call.row, step)
        elif isinstance(call.row, Store):
            why = f"SetValue stores single elements of {named(call.accesses[0])}"
            if call.row.space:
                raise NoPlanError(why)
            self.ub.write(_without(8 * call.row.start, 8 * call.row.nbytes, why))
        else:
            self._vector(call, scalar)

    def _move(self, call: Call, move: Move, step: int) -> None:
        out_of, into = sorted(call.accesses, key=lambda access: access.writes)
        for block in range(move.blocks):
            dst, src = move.dst + block * move.dst_pitch, move.src + block * move.src_pitch
            if move.dst_space:
                self._store(call, (into, dst), (out_of, src), move.nbytes, step)
                continue
            if move.src_space:
                found = [self._loaded(out_of, src, step, dst, move.nbytes)]
            else:
                there = self.ub.read(8 * src, 8 * (src + move.nbytes))
                found = [run.moved(8 * (dst - src)) for run in there]
            around = move.pad or (0, 0, 0)
            self.ub.forget(8 * (dst - around[0]), 8 * (dst + move.nbytes + around[2]))
            for run in found:
                self.ub.write(run)

    def _loaded(self, access: Access, src: int, step: int, dst: int, nbytes: int) -> Run:
        element, tensor = access.dtype.nbytes, access.holder.name
        if src % element or step % element or nbytes % element:
            why = f"{tensor} is read from byte {src} on, inside an element of {access.dtype}"
            return _without(8 * dst, 8 * nbytes, why)
        node = self.graph.number(Node("load", 8 * element, tensor))
        return Run(
            8 * dst, nbytes // element, 8 * element, node, Place(src // element, step // element)
        )

    def _store(
        self,
        call: Call,
        into: tuple[Access, int],
        out_of: tuple[Access, int],
        nbytes: int,
        step: int,
    ) -> None:
        (access, dst), (source, src) = into, out_of
        element, tensor = access.dtype.nbytes, access.holder.name
        reached = 0
        for first, last, run in self._lanes(source, 8 * src, 8 * element, nbytes // element):
            if first != reached:
                break
            reached = last
            place = Place(dst // element + first, step // element)
            if run.why:
                raise NoPlanError(run.why)
            if run.place is not None and run.place != place:
                raise NoPlanError(
                    f"{call.name}: dst {tensor} and src {named(source)} are shifted: element "
                    f"{place} of {tensor} is computed from element {run.place}"
                )
            self.stored.append(Stored(tensor, run.node, place, last - first))
        if reached * element < nbytes:
            raise NoPlanError(
                f"{call.name} stores in {tensor} what {named(source)} holds from element {reached} "
                f"on, which the block never wrote"
            )

    def _vector(self, call: Call, scalar: float) -> None:
        written = next(access for access in call.accesses if access.writes)
        why = irregular(call)
        found = [] if why else list(self._results(call, written, scalar))
        for start, stop in call.ranges(written):
            if why:
                self.ub.write(_without(8 * start, 8 * (stop - start), why))
            else:
                self.ub.forget(8 * start, 8 * stop)
        for run in found:
            self.ub.write(run)

    def _results(self, call: Call, written: Access, scalar: float) -> Iterator[Run]:
        """Yield what the destination holds afterwards, for lanes that follow each other."""
        operands = list(_sources(call))
        bits = 8 * written.element or 1
        for first, last in lane_ranges(call):
            sources = [
                list(
                    self._lanes(o.access, 8 * o.access.start + first * o.bits, o.bits, last - first)
                )
                for o in operands
            ]
            for start, stop, runs in _common(sources, last - first):
                at = 8 * written.start + (first + start) * bits
                yield self._made(call, scalar, operands, runs, Run(at, stop - start, bits))

    def _made(
        self, call: Call, scalar: float, operands: Sequence[_Operand], runs: Sequence[Run], at: Run
    ) -> Run:
        for run in runs:
            if run.why:
                return _without(at.start, at.lanes * at.bits, run.why)
        placed = [(o, r) for o, r in zip(operands, runs, strict=True) if r.place is not None]
        for (one, a), (other, b) in pairwise(placed):
            if a.place != b.place:
                why = (
                    f"{call.name}: {one.access.role} {named(one.access)} and {other.access.role} "
                    f"{named(other.access)} are shifted: element {a.place} meets element {b.place}"
                )
                return _without(at.start, at.lanes * at.bits, why)
        words, _ = call.row
        node = Node(
            NAMES[int(words[OP])],
            at.bits,
            "",
            tuple((o.word, r.node) for o, r in zip(operands, runs, strict=True)),
            float(scalar).hex(),
            int(words[MODE]),
            int(words[ENV]),
        )
        place = placed[0][1].place if placed else None
        return Run(at.start, at.lanes, at.bits, self.graph.number(node), place)

    def _lanes(
        self, access: Access, start: int, bits: int, lanes: int
    ) -> Iterator[tuple[int, int, Run]]:
        """Yield (first lane, last lane, run) of an operand; what nobody wrote is left out."""
        for run in self.ub.read(start, start + lanes * bits):
            first, rest = divmod(run.start - start, bits)
            if not run.why and (run.bits != bits or rest):
                run = self._reread(access, run, bits)
            last = min(lanes, -((start - run.stop) // bits) if run.why else first + run.lanes)
            if last > first:
                yield first, last, run

    def _reread(self, access: Access, run: Run, bits: int) -> Run:
        """Return the run as lanes of another size: possible for what comes straight from GM."""
        node = self.graph.nodes[run.node]
        if run.place is not None and node.body == "load":
            index, rest = divmod(run.place.element * run.bits, bits)
            step, more = divmod(run.place.step * run.bits, bits)
            if not rest and not more and run.lanes * run.bits % bits == 0:
                number = self.graph.number(Node("load", bits, node.tensor))
                lanes = run.lanes * run.bits // bits
                return Run(run.start, lanes, bits, number, Place(index, step))
        why = (
            f"{access.role} {named(access)} is read as elements of {bits} bits but was written as "
            f"elements of {run.bits} bits"
        )
        return _without(run.start, run.stop - run.start, why)


NAMES = {number: name for name, number in families.opcodes().items()}


def named(access: Access) -> str:
    """Return what the kernel calls the buffer, or the GM tensor, of an operand."""
    return str(access.holder.name)


def _sources(call: Call) -> Iterator[_Operand]:
    words = iter((SRC0, SRC1, MASK))
    for access in call.accesses:
        if not access.writes and access.space != GM:
            word = next(words) if access.element else MASK
            yield _Operand(access, word, 8 * access.element or 1)


def _bit(operand: _Operand, lane: int) -> int:
    return 8 * operand.access.start + lane * operand.bits


def _without(start: int, bits: int, why: str) -> Run:
    """Return bits that no loop over elements can compute."""
    return Run(start, bits, 1, why=why)


def _common(
    sources: Sequence[Sequence[tuple[int, int, Run]]], lanes: int
) -> Iterator[tuple[int, int, list[Run]]]:
    """Yield (first lane, last lane, runs from `first` on) where every source holds something."""
    edges = sorted({0, lanes, *(edge for each in sources for part in each for edge in part[:2])})
    for first, last in pairwise(edges):
        runs = []
        for each in sources:
            for start, stop, run in each:
                if start <= first and last <= stop:
                    runs.append(_from(run, first - start))
        if len(runs) == len(sources):
            yield first, last, runs


def _from(run: Run, lane: int) -> Run:
    """Return a run as seen from a later lane; only its place matters from here on."""
    if not lane or run.place is None:
        return run
    place = Place(run.place.element + lane, run.place.step)
    return Run(run.start, run.lanes - lane, run.bits, run.node, place, run.why)
