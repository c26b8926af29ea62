"""Where does a lane leave the exact result, and why? One sentence.

Three ways, tried in this order; each speaks of one call. Records and the definition are all that
is read.

1. A NaN that the definition keeps is swallowed, or one appears that the definition does not have.
2. The calls in exact arithmetic are not the definition, but would be with another scalar or mode
   in one call (lanes beside this one decide between several, then `Repair.likely`). It is to
   blame when the exact chain, rounded, is not the definition, or when its repair repairs the lane.
3. With the first k results as recorded and the rest exact, the lane is right for k = 0 and wrong
   for all: the call that moves the result furthest away is the one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ascendsim.dtypes import DType
from ascendsim.enums import RoundMode
from ascendsim.errors import RequestError
from ascendsim.numerics import enclosure as en
from ascendsim.numerics import opcodes
from ascendsim.numerics.enclosure import Real
from ascendsim.observe.recorder import BlockRecording
from ascendsim.view.exact_lane import (
    COMPARES,
    FORMATS,
    Repair,
    computed,
    flags,
    recorded,
    repairs,
    result,
    rounded,
)
from ascendsim.view.explanation import Explanation
from ascendsim.view.lane_graph import Graph, Node, scalar_bits, ulp_order

SAMPLES = 16  # lanes beside the asked one that decide between repairs


class Blame(NamedTuple):
    """A class, the node, and the part of the sentence about it."""

    kind: str
    node: Node | None
    why: str


class Case:
    """One lane: its graph, what the definition gives, and what the machine stored."""

    def __init__(self, graph: Graph, wanted: Real) -> None:
        self.graph, self.wanted = graph, wanted
        self.dtype: DType = graph.root.dtype
        if self.dtype.name not in FORMATS:
            raise RequestError(f"{graph.output} is {self.dtype}: float outputs can be explained")
        self.fmt = FORMATS[self.dtype.name]
        self.actual = graph.root.bits
        self.expected = self.round(wanted)

    def round(self, value: Real) -> int:
        """Round once to the output's type."""
        return en.round_result(value, self.fmt) if self.fmt.width == 32 else self._once(value)

    def _once(self, value: Real) -> int:
        return rounded(value, self.fmt, 0, RoundMode.CAST_RINT)

    def away(self, bits: int) -> int:
        """Return how many ULP `bits` is from the expected result; NaN is far from all else."""
        one, two = (en.of_bits(b, self.fmt).nan for b in (bits, self.expected))
        if one or two:
            return 0 if one and two else 1 << self.fmt.width
        return abs(ulp_order(bits, self.dtype) - ulp_order(self.expected, self.dtype))


def explain(
    recordings: Mapping[int, BlockRecording],
    output: str,
    index: int,
    wanted: Callable[[Graph], Real],
    size: int,
) -> Explanation:
    """Explain element `index` of `output`; `wanted` gives the definition's value for a graph."""
    blocks = dict(recordings)
    graph = Graph(blocks, output, index)
    asked = Case(graph, wanted(graph))

    def beside() -> Iterator[Case]:
        for step in range(1, SAMPLES + 1):
            if step < size:
                try:  # a lane beside may be unrecorded, or one that the definition refuses
                    other = Graph(blocks, output, (index + step) % size)
                    case = Case(other, wanted(other))
                except (RequestError, ArithmeticError, ValueError):
                    continue
                yield case

    return _explanation(asked, _blame(asked, beside))


def _blame(case: Case, beside: Callable[[], Iterator[Case]]) -> Blame:
    if case.away(case.actual) == 0:
        return Blame("exact", None, "what the definition gives, rounded once")
    if (found := _nan(case)) is not None:
        return found
    exact = computed(case.graph)
    if not exact.meets(case.wanted) and (found := _repaired(case, exact, beside)) is not None:
        return found
    return _step_away(case, exact)


def _nan(case: Case) -> Blame | None:
    """Return the call that swallows the NaN of the definition, or that lets one in."""
    is_nan = en.of_bits(case.actual, case.fmt).nan
    if is_nan == case.wanted.nan:
        return None
    for node in _taken(case.graph):
        value, fed = recorded(node), any(_nan_bits(source) for source in node.sources)
        if not is_nan and fed and not _nan_bits(node):
            shown = f"gives {value}" if node.mask else "gives a number"
            return Blame("nan", node, f"{shown} for a NaN source, so the NaN is lost")
        if is_nan and _nan_bits(node) and computed(case.graph).nan:
            source = "from its NaN source" if fed else "from sources that are no NaN"
            return Blame("nan", node, f"gives NaN {source}, which the definition does not have")
    return None


def _nan_bits(node: Node) -> bool:
    return not node.mask and node.dtype.name in FORMATS and recorded(node).nan


def _taken(graph: Graph) -> list[Node]:
    """Return the nodes that the result really came from: of a Select the source that it took."""
    seen: dict[Node, None] = {}
    waiting = [graph.root]
    while waiting:
        node = waiting.pop()
        if node.instr is None or node in seen:
            continue
        seen[node] = None
        sources = node.sources
        if node.name == "Select":
            first, *second, mask = sources
            sources = [mask, first] if mask.bits else [mask, *second]
        waiting += sources
    return sorted(seen, key=lambda node: node.position)


def _repaired(case: Case, exact: Real, beside: Callable[[], Iterator[Case]]) -> Blame | None:
    """Return the one call whose other scalar or mode makes the exact chain the definition."""
    fits = [
        (node, repair)
        for node in case.graph.nodes
        for repair in repairs(node)
        if computed(case.graph, repair=repair).meets(case.wanted)
        and (
            case.round(exact) != case.expected
            or case.away(_machine(case, repair)) < case.away(case.actual)
        )
    ]
    if not fits:
        return None
    others = list(beside()) if len(fits) > 1 else []

    def score(fit: tuple[Node, Repair]) -> tuple[int, int, int]:
        exactly = sum(computed(o.graph, repair=fit[1]).meets(o.wanted) for o in others)
        stored = sum(o.away(_machine(o, fit[1])) == 0 for o in (case, *others))
        return exactly, fit[1].likely, stored

    node, repair = max(fits, key=score)
    assert node.instr is not None
    if repair.scalar is not None:
        bits = scalar_bits(node.instr)
        better = f"{repair.bits:#x}" if repair.bits is not None else f"{repair.scalar.low}"
        return Blame("literal", node, f"takes the literal {bits:#x}, the definition has {better}")
    mode = node.instr.call.fields["mode"]
    kind = "branch" if node.name in COMPARES else "rounding"
    return Blame(kind, node, f"uses {mode}, which decides here; the definition has {repair.mode}")


def _machine(case: Case, repair: Repair) -> int:
    return case.round(computed(case.graph, repair=repair, machine=True))


def _step_away(case: Case, exact: Real) -> Blame:
    """Return the call whose own error moves the exactly continued result furthest away."""
    before, worst, at = case.away(case.round(exact)), 0, -1
    for number in range(len(case.graph.nodes)):
        after = case.away(case.round(computed(case.graph, kept=number + 1)))
        if after - before > worst:
            worst, at = after - before, number
        before = after
    if at < 0 or case.away(case.round(exact)) >= case.away(case.actual):
        return Blame("formula", None, "which its calls give in exact arithmetic as well")
    return _own_error(case, at)


def _own_error(case: Case, number: int) -> Blame:
    """Return the class of the difference between a result and the exact one of its sources."""
    node = case.graph.nodes[number]
    assert node.instr is not None
    if node.mask or node.dtype.name not in FORMATS:
        return Blame("branch", node, f"gives {node.bits}, its exact operands do not")
    fmt, env = FORMATS[node.dtype.name], flags(node.instr.call)
    exact = result(node, [recorded(source) for source in node.sources], None, False)
    got = recorded(node)
    shown = f"gives {node.bits:#x}"
    if got.nan or exact.nan:
        return Blame("nan", node, f"{shown}, a NaN" if got.nan else shown)
    if not got.finite or abs(exact.low) > en.of_bits(fmt.max_bits, fmt).low:
        return Blame("overflow", node, f"overflows: {shown} for about {_short(exact)}")
    mode = RoundMode[node.instr.call.fields["mode"]] if node.name == "Cast" else None
    if env & opcodes.ENV_FLUSH and rounded(exact, fmt, env & ~opcodes.ENV_FLUSH) != node.bits:
        return Blame("flush", node, f"flushes a subnormal: {shown} for about {_short(exact)}")
    why = f"rounds about {_short(exact)} to {node.bits:#x}"
    if mode not in (None, RoundMode.CAST_NONE, RoundMode.CAST_RINT):
        near = rounded(exact, fmt, env, RoundMode.CAST_RINT)
        why += f" with {node.instr.call.fields['mode']} (CAST_RINT gives {near:#x})"
    turned = _turned(case.graph, number)
    if turned is not None and turned.instr is not None:
        why += f", so {turned.name} at line {turned.instr.where.line} goes the other way"
    return Blame("rounding", node, why)


def _turned(graph: Graph, number: int) -> Node | None:
    """Return the first compare that the error of node `number` turns, or None."""
    values: list[dict[Node, Any]] = []
    for kept in (number, number + 1):
        known: dict[Node, Any] = {leaf: recorded(leaf) for leaf in graph.leaves}
        for k, node in enumerate(graph.nodes):
            sources = [known[source] for source in node.sources]
            known[node] = recorded(node) if k < kept else result(node, sources, None, False)
        values.append(known)
    for node in graph.nodes:
        if node.mask and values[0][node] != values[1][node]:
            return node
    return None


def _short(value: Real) -> str:
    if not value.finite:
        return str(value.low)
    try:
        return f"{float(value.low):.9g}"
    except OverflowError:
        return "a number beyond 1e308"


def _explanation(case: Case, blame: Blame) -> Explanation:
    graph, node = case.graph, blame.node
    place = f"{graph.output}[{graph.index}] is {case.actual:#x}"
    numbers = (case.actual, case.expected)
    if node is None or node.instr is None:
        text = f"{place}, {blame.why}"
        if blame.kind != "exact":
            text = f"{place} instead of {case.expected:#x}, {blame.why}"
        return Explanation(blame.kind, graph.block, -1, "", "", 0, case.actual, *numbers, text)
    where = node.instr.where
    text = (
        f"{place} instead of {case.expected:#x}: {node.name} at line {where.line} (call "
        f"{node.position}, bits {node.bits:#x}) {blame.why} ({blame.kind})"
    )
    head = (blame.kind, graph.block, node.position, node.name, where.file, where.line)
    return Explanation(*head, node.bits, *numbers, text)
