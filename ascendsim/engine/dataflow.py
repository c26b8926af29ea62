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

from ascendsim.engine.nodes import Graph, Node, Operand, Vector, named
from ascendsim.engine.stream import NoPlanError
from ascendsim.engine.ubmap import Place, Run, UbMap
from ascendsim.record import Access, Call, Move, Store


class Stored(NamedTuple):
    """`elements` of a GM tensor that a copy stored, the first at `place` in the class's blocks."""

    tensor: str
    node: int
    place: Place
    elements: int


class Flow:
    """Follows the calls of one block; `stored` is what it stores in GM, in order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ub = UbMap()
        self.stored: list[Stored] = []
        self._known: dict[Call, Vector] = {}

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
        vector = self._known.get(call)
        if vector is None:
            vector = self._known[call] = Vector.of(call)
        found = list(self._results(vector, float(scalar).hex()))
        for start, stop in vector.ranges:
            if vector.why:
                self.ub.write(_without(8 * start, 8 * (stop - start), vector.why))
            else:
                self.ub.forget(8 * start, 8 * stop)
        for run in found:
            self.ub.write(run)

    def _results(self, vector: Vector, scalar: str) -> Iterator[Run]:
        """Yield what the destination holds afterwards, for lanes that follow each other."""
        bits = vector.node.bits
        for first, last in vector.lanes:
            sources = [
                list(self._lanes(o.access, _bit(o, first), o.bits, last - first))
                for o in vector.operands
            ]
            for start, stop, runs in _common(sources, last - first):
                at = 8 * vector.target + (first + start) * bits
                yield self._made(vector, scalar, runs, Run(at, stop - start, bits))

    def _made(self, vector: Vector, scalar: str, runs: Sequence[Run], at: Run) -> Run:
        place = None
        for operand, run in zip(vector.operands, runs, strict=True):
            if run.why:
                return _without(at.start, at.lanes * at.bits, run.why)
            if run.place is not None:
                if place is not None and run.place != place:
                    why = _shifted(vector, runs, operand, run)
                    return _without(at.start, at.lanes * at.bits, why)
                place = run.place
        pairs = zip(vector.operands, runs, strict=True)
        operands = tuple((operand.word, run.node) for operand, run in pairs)
        node = vector.node._replace(operands=operands, scalar=scalar)
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


def _shifted(vector: Vector, runs: Sequence[Run], other: Operand, there: Run) -> str:
    """Say which operand does not fit to `other`."""
    pairs = zip(vector.operands, runs, strict=True)
    one, here = next(pair for pair in pairs if pair[1].place not in (None, there.place))
    return (
        f"{vector.name}: {one.access.role} {named(one.access)} and {other.access.role} "
        f"{named(other.access)} are shifted: element {here.place} meets element {there.place}"
    )


def _bit(operand: Operand, lane: int) -> int:
    return 8 * operand.access.start + lane * operand.bits


def _without(start: int, bits: int, why: str) -> Run:
    """Return bits that no loop over elements can compute."""
    return Run(start, bits, 1, why=why)


def _common(
    sources: Sequence[Sequence[tuple[int, int, Run]]], lanes: int
) -> Iterator[tuple[int, int, list[Run]]]:
    """Yield (first lane, last lane, runs from `first` on) where every source holds something."""
    if all(len(each) == 1 and each[0][:2] == (0, lanes) for each in sources):
        yield 0, lanes, [each[0][2] for each in sources]
        return
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
