"""The values of a launch as nodes of one graph, and what the dataflow needs of a vector call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ascendsim.engine.regular import irregular, lane_ranges
from ascendsim.numerics import families
from ascendsim.numerics.opcodes import ENV, MASK, MODE, OP, SRC0, SRC1
from ascendsim.record import GM, Access, Call

NAMES = {number: name for name, number in families.opcodes().items()}


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


class Operand(NamedTuple):
    """A source of a vector call: its access, its word of the row, bits per lane."""

    access: Access
    word: int
    bits: int


class Vector(NamedTuple):
    """What of a vector call is the same whenever it is made; see `irregular` for `why`.

    ranges : the bytes it stores; lanes : (first, last) of the lanes it computes; target : the byte
    of the first; node : its node, with neither operands nor scalar
    """

    name: str
    why: str
    ranges: tuple[tuple[int, int], ...]
    lanes: tuple[tuple[int, int], ...]
    target: int
    operands: tuple[Operand, ...]
    node: Node

    @staticmethod
    def of(call: Call) -> Vector:
        """Return it."""
        written = next(access for access in call.accesses if access.writes)
        words = call.words
        body, mode, env = (int(words[word]) for word in (OP, MODE, ENV))
        why = irregular(call)
        return Vector(
            call.name,
            why,
            tuple(span for a in call.accesses if a.writes for span in call.ranges(a)),
            () if why else tuple(lane_ranges(call)),
            written.start,
            () if why else tuple(sources_of(call)),
            Node(NAMES[body], 8 * written.element or 1, mode=mode, env=env),
        )


def named(access: Access) -> str:
    """Return what the kernel calls the buffer, or the GM tensor, of an operand."""
    return str(access.holder.name)


def sources_of(call: Call) -> Iterator[Operand]:
    """Yield the sources of a vector call, mask bits too."""
    words = iter((SRC0, SRC1, MASK))
    for access in call.accesses:
        if not access.writes and access.space != GM:
            word = next(words) if access.element else MASK
            yield Operand(access, word, 8 * access.element or 1)
