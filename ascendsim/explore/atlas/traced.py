"""From an operator's definition in Python to a program over balls (numerics/ball.py).

The function is called with numbers that remember what is done with them. It runs once for each way
through its comparisons, so `if` and `<` work as written; the ways become selects. Whatever a
remembered number cannot follow (its numerator, a float of it, an unknown function) raises, and
`traced` returns None: the caller then computes in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isfinite, isinf, isnan
from typing import Any

from ascendsim.numerics import ball
from ascendsim.numerics.ball import Program

MAX_WAYS, MAX_NODES = 64, 512
_EXACT = 1 << 53  # integers below it are float64 numbers
Node = tuple[Any, ...]  # (operation, node, ...), ("input", k) or ("constant", number)


class UntraceableError(Exception):
    """The function does with its numbers what a program cannot do."""


class Traced(Fraction):
    """A number that is known by how it was made; a Fraction for `isinstance` only."""

    node: Node
    trace: Trace

    def __new__(cls, trace: Trace, node: Node) -> Traced:
        """Return the number that `node` makes."""
        made = object.__new__(cls)
        made.trace, made.node = trace, node
        return made

    @property
    def numerator(self) -> int:  # type: ignore[override]
        """Not known."""
        raise UntraceableError

    denominator = numerator  # type: ignore[assignment]

    def _unknown(self, *_: Any) -> Any:
        raise UntraceableError

    __hash__ = _unknown  # type: ignore[assignment]
    __float__ = __int__ = __trunc__ = __index__ = __floor__ = __ceil__ = _unknown  # type: ignore[assignment]
    __round__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _unknown  # type: ignore[assignment]
    __divmod__ = __rdivmod__ = __rpow__ = __str__ = __repr__ = __format__ = _unknown  # type: ignore[assignment]

    def _made(self, operation: int, *operands: Any) -> Traced:
        return Traced(self.trace, (operation, *(self.trace.node(o) for o in operands)))

    def __add__(self, other: Any) -> Any:
        return self._made(ball.ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._made(ball.ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._made(ball.SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._made(ball.SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._made(ball.MUL, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._made(ball.DIV, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._made(ball.DIV, other, self)

    def __pow__(self, power: Any) -> Any:
        if not isinstance(power, int) or not 1 <= power <= 16:
            raise UntraceableError
        product = self
        for _ in range(power - 1):
            product = product * self
        return product

    def __neg__(self) -> Any:
        return self._made(ball.NEG, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._made(ball.ABS, self)

    def __lt__(self, other: Any) -> bool:
        return self.trace.holds(ball.LESS, self, other)

    def __gt__(self, other: Any) -> bool:
        return self.trace.holds(ball.LESS, other, self)

    def __le__(self, other: Any) -> bool:
        return not (_is_nan(other) or self.trace.holds(ball.LESS, other, self))

    def __ge__(self, other: Any) -> bool:
        return not (_is_nan(other) or self.trace.holds(ball.LESS, self, other))

    def __eq__(self, other: object) -> bool:
        return self.trace.holds(ball.EQUAL, self, other)

    def __bool__(self) -> bool:
        return not self.trace.holds(ball.EQUAL, self, 0)


class Functions:
    """What `formula(real, ...)` of an op_ref.py may call beside arithmetic: real.exp(x) ..."""

    def exp(self, x: Any) -> Any:
        """Return e ** x."""
        return self._of(ball.EXP, x)

    def ln(self, x: Any) -> Any:
        """Return the natural logarithm of x > 0."""
        return self._of(ball.LN, x)

    def sqrt(self, x: Any) -> Any:
        """Return the square root of x >= 0."""
        return self._of(ball.SQRT, x)

    def _of(self, operation: int, x: Any) -> Any:
        if not isinstance(x, Traced):
            raise UntraceableError
        return x._made(operation, x)


class Trace:
    """One way through a function: the comparisons met, and how each was decided."""

    def __init__(self, decisions: Sequence[bool]) -> None:
        self.decisions = decisions
        self.met: list[tuple[Node, bool]] = []

    def node(self, number: Any) -> Node:
        """Return the node of an operand."""
        if isinstance(number, Traced):
            return number.node
        if isinstance(number, (int, Fraction)) or (isinstance(number, float) and isfinite(number)):
            return ("constant", Fraction(number))
        raise UntraceableError

    def holds(self, operation: int, one: Any, two: Any) -> bool:
        """Decide a comparison, the same way each time it is met."""
        infinite = next((n for n in (one, two) if isinstance(n, float) and not isfinite(n)), None)
        if infinite is not None:
            above = not isnan(infinite) and (infinite > 0) == (infinite is two)
            return operation == ball.LESS and above
        node = (operation, self.node(one), self.node(two))
        for known, truth in self.met:
            if known == node:
                return truth
        number = len(self.met)
        truth = self.decisions[number] if number < len(self.decisions) else True
        self.met.append((node, truth))
        return truth


def traced(function: Callable[..., Any], arguments: Sequence[Any]) -> Program | None:
    """Return the program of `function(*arguments)`; a None among the arguments is an input.

    None when the function cannot be followed, whatever the reason.
    """
    try:
        return _program(_tree(_ways(function, arguments)), sum(a is None for a in arguments))
    except Exception:  # a function that fails on such numbers is simply not traceable
        return None


def _ways(function: Callable[..., Any], arguments: Sequence[Any]) -> list[tuple[Any, Node]]:
    """Return (comparisons met, result) of every way, the true branch first."""
    ways: list[tuple[Any, Node]] = []
    decisions: list[bool] | None = []
    while decisions is not None:
        trace = Trace(decisions)
        numbers = iter(range(len(arguments)))
        given = [Traced(trace, ("input", next(numbers))) if a is None else a for a in arguments]
        ways.append((trace.met, _result(trace, function(*given))))
        if len(ways) > MAX_WAYS:
            raise UntraceableError
        truths = [truth for _, truth in trace.met]
        while truths and not truths[-1]:
            truths.pop()
        decisions = [*truths[:-1], False] if truths else None
    return ways


def _result(trace: Trace, found: Any) -> Node:
    if isinstance(found, dict):
        found = next(iter(found.values()))
    if isinstance(found, tuple):
        low, high = (_result(trace, end) for end in found)
        if low != high:
            raise UntraceableError
        return low
    if isinstance(found, float) and (isnan(found) or isinf(found)):
        return ("constant", found)
    return trace.node(found)


def _tree(ways: Sequence[tuple[Any, Node]], depth: int = 0) -> Node:
    """Return the selects that choose among the results of `ways`, which agree up to `depth`."""
    met, result = ways[0]
    if len(ways) == 1:
        return result
    yes = [way for way in ways if way[0][depth][1]]
    no = [way for way in ways if not way[0][depth][1]]
    return (ball.SELECT, met[depth][0], _tree(yes, depth + 1), _tree(no, depth + 1))


def _program(root: Node, inputs: int) -> Program:
    """Return the program whose last ball is `root`; equal nodes are computed once."""
    constants: dict[tuple[float, float], int] = {}
    order: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node in order:
            return
        if node[0] == "constant":
            constants.setdefault(_ball(node[1]), len(constants))
        for each in node[1:] if isinstance(node[0], int) else ():
            visit(each)
        order[node] = None
        if len(order) > MAX_NODES:
            raise UntraceableError

    root = _divided(root)
    visit(root)
    first = inputs + len(constants)
    places = {n: n[1] for n in order if n[0] == "input"}
    places |= {n: inputs + constants[_ball(n[1])] for n in order if n[0] == "constant"}
    steps = [node for node in order if isinstance(node[0], int)]
    places |= {node: first + number for number, node in enumerate(steps)}
    code = tuple((n[0], *(places[s] for s in n[1:]), *(0,) * (4 - len(n))) for n in steps)
    return Program(inputs, tuple(constants), code, places[root])


def _divided(node: Node) -> Node:
    """Return `node` with products by constants like 1/3 made divisions, which can be exact."""
    if not isinstance(node[0], int):
        return node
    parts = tuple(map(_divided, node[1:]))
    for this, other in (parts, parts[::-1]) if node[0] == ball.MUL else ():
        if this[0] == "constant" and isinstance(this[1], Fraction):
            over, under = this[1].numerator, this[1].denominator
            if under & (under - 1) and abs(over) < _EXACT and under < _EXACT:
                product = (ball.MUL, other, ("constant", Fraction(over)))
                return (ball.DIV, product, ("constant", Fraction(under)))
    return (node[0], *parts)


def _ball(number: Any) -> tuple[float, float]:
    """Return value and bound of a constant."""
    near = float(number)
    if not isinstance(number, Fraction) or Fraction(near) == number:
        return near, 0.0
    return near, abs(near) * 2.0**-52 + ball.TINY


def _is_nan(number: Any) -> bool:
    return isinstance(number, float) and isnan(number)
