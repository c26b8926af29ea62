"""The loops of a launch as text: one line per value, in an order that can be computed.

    v0 = load(tensor=0, bits=32)
    v1 = muls_float32(src0=v0, scalar=0, mode=0, env=1)
    store(tensor=2, value=v1, bits=32)

Tensors and scalars are numbered by first use and given when the loop runs, so kernels that differ
in names, sizes and constants only share one program, and its compiled code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ascendsim.engine.dataflow import Flow
from ascendsim.engine.nodes import Graph, Node
from ascendsim.engine.plan import STEP, Plan
from ascendsim.engine.stream import NoPlanError
from ascendsim.numerics.opcodes import MASK, SRC0, SRC1

MAX_LOOPS = 16
MAX_NODES = 2000
WORDS = {SRC0: "src0", SRC1: "src1", MASK: "mask"}


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """One loop over elements: its program, the tensors and scalars by number, the elements.

    ranges : int64 (ranges, 2): first element and count, which no other range of the loop meets
    """

    text: str
    tensors: tuple[str, ...]
    scalars: tuple[float, ...]
    ranges: np.ndarray

    @property
    def elements(self) -> int:
        """How many elements the loop computes."""
        return int(self.ranges[:, 1].sum())


def loops_of(plan: Plan, sizes: Mapping[str, int]) -> list[Loop]:
    """Return the loops that leave in GM what a plan leaves; `sizes` are bytes of each tensor.

    Raises
    ------
    NoPlanError
        When there are none: something that reaches GM is not aligned.
    """
    for name, touched in plan.touched.items():
        if touched.writes.size and touched.reads.size:
            raise NoPlanError(f"{name} is both read and written, so the order of calls matters")
    graph = Graph()
    stored: dict[tuple[str, int], list[np.ndarray]] = {}
    for blocks, first, last in plan.classes:
        flow = Flow(graph)
        numbers = np.array(blocks, np.int64) - blocks[0]
        for entry in range(first, last):
            if plan.calls[entry] is None:
                continue
            step = int(plan.entries[entry, STEP])
            flow.follow(plan.calls[entry], float(plan.scalars[entry]), step)
            if len(graph.nodes) > MAX_NODES:
                raise NoPlanError(f"the tiles differ: more than {MAX_NODES} different values")
        for each in flow.stored:
            starts = each.place.element + each.place.step * numbers
            part = np.stack([starts, np.full_like(starts, each.elements)], axis=1)
            stored.setdefault((each.tensor, each.node), []).append(part)
    return _loops(graph, stored, sizes)


def _loops(
    graph: Graph, stored: Mapping[tuple[str, int], list[np.ndarray]], sizes: Mapping[str, int]
) -> list[Loop]:
    """Join stores of the same elements into one loop each."""
    joined: dict[bytes, tuple[np.ndarray, list[tuple[str, int]]]] = {}
    covered: dict[str, list[np.ndarray]] = {}
    for (tensor, node), parts in stored.items():
        limit = sizes[tensor] * 8 // graph.nodes[node].bits
        ranges = _merged(np.concatenate(parts), limit, tensor)
        covered.setdefault(tensor, []).append(ranges)
        joined.setdefault(ranges.tobytes(), (ranges, []))[1].append((tensor, node))
    for tensor, every in covered.items():
        _merged(np.concatenate(every), sizes[tensor], tensor)
    if len(joined) > MAX_LOOPS:
        raise NoPlanError(f"the tiles differ: {len(joined)} different loops")
    return [_loop(graph, stores, ranges) for ranges, stores in joined.values() if ranges.size]


def _merged(ranges: np.ndarray, limit: int, tensor: str) -> np.ndarray:
    """Return ranges (first, count) in order, cut at the end of the tensor, neighbours joined."""
    order = ranges[np.argsort(ranges[:, 0], kind="stable")]
    start, stop = order[:, 0], np.minimum(order.sum(axis=1), limit)
    start, stop = start[stop > start], stop[stop > start]
    if (start[1:] < stop[:-1]).any():
        raise NoPlanError(f"elements of {tensor} are stored more than once")
    first = np.concatenate([[True], start[1:] != stop[:-1]])[: len(start)]
    last = np.append(first[1:], True)[: len(start)]
    return np.stack([start[first], stop[last] - start[first]], axis=1)


def _loop(graph: Graph, stores: Sequence[tuple[str, int]], ranges: np.ndarray) -> Loop:
    """Write the program of one loop."""
    writer = _Writer(graph)
    for _, node in stores:
        writer.value(node)
    for tensor, node in stores:
        number, bits = writer.tensor(tensor), graph.nodes[node].bits
        if bits < 8:
            raise NoPlanError(f"mask bits are stored in {tensor}")
        writer.lines.append(f"store(tensor={number}, value=v{writer.values[node]}, bits={bits})")
    text = "\n".join(writer.lines) + "\n"
    return Loop(text, tuple(writer.tensors), tuple(map(float.fromhex, writer.scalars)), ranges)


class _Writer:
    """Numbers values, tensors and scalars by first use."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.values: dict[int, int] = {}
        self.tensors: dict[str, int] = {}
        self.scalars: dict[str, int] = {}

    def tensor(self, name: str) -> int:
        return self.tensors.setdefault(name, len(self.tensors))

    def value(self, root: int) -> None:
        """Write the lines of a node and all it needs, operands first."""
        waiting = [root]
        while waiting:
            node = self.graph.nodes[waiting[-1]]
            missing = [n for _, n in node.operands if n not in self.values]
            if missing:
                waiting += missing
                continue
            number = waiting.pop()
            if number not in self.values:
                self.lines.append(f"v{len(self.values)} = {self._right(node)}")
                self.values[number] = len(self.values)

    def _right(self, node: Node) -> str:
        if node.body == "load":
            return f"load(tensor={self.tensor(node.tensor)}, bits={node.bits})"
        scalar = self.scalars.setdefault(node.scalar, len(self.scalars))
        fields = [f"{WORDS[word]}=v{self.values[number]}" for word, number in node.operands]
        fields += [f"scalar={scalar}", f"mode={node.mode}", f"env={node.env}"]
        return f"{node.body}({', '.join(fields)})"
