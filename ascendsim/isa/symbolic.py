"""A block number that remembers what the kernel asked of it.

When only records are wanted, GetBlockIdx() returns a `BlockNumber`: a number that is linear in the
block index, and a path of every question the kernel decided by it. Another block that gives the
same answers takes the same way through the kernel, so one recording stands for all of them. Where
arithmetic leaves the linear, the value itself becomes an answer ("pinned"): fewer blocks share the
recording, but nothing is ever guessed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Question = tuple[Callable[[int, int], Any], int, int, int, Any]

_QUESTIONS = {
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
}
_PINNED = (
    "__index__",
    "__int__",
    "__float__",
    "__hash__",
    "__str__",
    "__repr__",
    "__floordiv__",
    "__rfloordiv__",
    "__mod__",
    "__rmod__",
    "__divmod__",
    "__rdivmod__",
    "__truediv__",
    "__rtruediv__",
    "__pow__",
    "__rpow__",
    "__and__",
    "__rand__",
    "__or__",
    "__ror__",
    "__xor__",
    "__rxor__",
    "__lshift__",
    "__rlshift__",
    "__rshift__",
    "__rrshift__",
    "__abs__",
    "__invert__",
    "__round__",
    "__trunc__",
    "__floor__",
    "__ceil__",
    "__format__",
)


class BlockNumber:
    """The integer `scale * block + shift`, where `block` is the index of the recorded block.

    path : questions (operation, scale, shift, other, answer) in the order they were asked.
    """

    __slots__ = ("path", "scale", "shift", "value")

    def __init__(self, block: int, path: list[Question], scale: int = 1, shift: int = 0) -> None:
        self.value = scale * block + shift
        self.path, self.scale, self.shift = path, scale, shift

    def pin(self) -> int:
        """Return the value as a plain int; only blocks with the same value share the path."""
        self.path.append((operator.eq, self.scale, self.shift, self.value, True))
        return self.value

    def residue(self, unit: int, modulus: int) -> int:
        """Return the plain value; blocks share the path when `value * unit % modulus` agrees.

        For GM addresses: where a copy starts may differ, how it is aligned may not.
        """
        rest = self.value * unit % modulus
        self.path.append((operator.mod, self.scale * unit, self.shift * unit, modulus, rest))
        return self.value

    def _linear(self, scale: int, shift: int, value: int) -> Any:
        if scale == 0:
            return value
        made = BlockNumber.__new__(BlockNumber)
        made.path, made.scale, made.shift, made.value = self.path, scale, shift, value
        return made

    def __add__(self, other: Any) -> Any:
        scale, shift, value = _parts(other)
        return self._linear(self.scale + scale, self.shift + shift, self.value + value)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self._linear(-self.scale, -self.shift, -self.value)

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, BlockNumber):
            return self.pin() * other.pin()
        if not isinstance(other, int):
            return self.pin() * other
        return self._linear(self.scale * other, self.shift * other, self.value * other)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return bool(self != 0)


def holds(path: list[Question], block: int) -> bool:
    """Return True when `block` answers every question of `path` as the recorded block did."""
    return all(
        question(scale * block + shift, other) == answer
        for question, scale, shift, other, answer in path
    )


def _parts(other: Any) -> tuple[int, int, int]:
    if isinstance(other, BlockNumber):
        return other.scale, other.shift, other.value
    return 0, operator.index(other), operator.index(other)


def _ask(name: str, question: Callable[[Any, Any], bool]) -> Callable[[BlockNumber, Any], bool]:
    def method(self: BlockNumber, other: Any) -> bool:
        if not isinstance(other, (int, BlockNumber)):
            return question(self.pin(), other)
        difference = self - other
        if not isinstance(difference, BlockNumber):
            return question(difference, 0)
        answer = question(difference.value, 0)
        self.path.append((question, difference.scale, difference.shift, 0, answer))
        return answer

    method.__name__ = name
    return method


def _pinned(name: str) -> Callable[..., Any]:
    def method(self: BlockNumber, *others: Any) -> Any:
        plain = [o.pin() if isinstance(o, BlockNumber) else o for o in others]
        return getattr(self.pin(), name)(*plain)

    method.__name__ = name
    return method


for _name, _operation in _QUESTIONS.items():
    setattr(BlockNumber, _name, _ask(_name, _operation))
for _name in _PINNED:
    setattr(BlockNumber, _name, _pinned(_name))
