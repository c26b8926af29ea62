"""A block number that remembers what the kernel asked of it.

When only records are wanted, GetBlockIdx() returns a `BlockNumber`: a number that is linear in the
block index, and a path of every question the kernel decided by it. Another block that gives the
same answers takes the same way through the kernel, so one recording stands for all of them. Where
arithmetic leaves the linear, the value itself becomes an answer ("pinned"): fewer blocks share the
recording, but nothing is ever guessed.
"""

from __future__ import annotations

import math
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
_UNARY: dict[str, Callable[[Any], Any]] = {
    "__index__": operator.index,
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
    "__hash__": hash,
    "__str__": str,
    "__repr__": repr,
    "__abs__": abs,
    "__invert__": operator.invert,
    "__trunc__": math.trunc,
    "__floor__": math.floor,
    "__ceil__": math.ceil,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "truediv": operator.truediv,
    "pow": pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}


class BlockNumber:
    """The integer `scale * block + shift`, where `block` is the index of the recorded block.

    It is no `int`: C code would read an int's value past us. What a kernel can ask of its type or
    identity is therefore not on the path; launch/classes.py compares with a plain recording.

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

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the plain value, such as bit_length."""
        if name in BlockNumber.__slots__:
            raise AttributeError(name)
        return getattr(self.pin(), name)

    def __format__(self, spec: str) -> str:
        return format(self.pin(), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.pin(), digits)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (int, BlockNumber)):
            return self.pin() + other
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
        if not isinstance(other, (int, BlockNumber)):
            return other - self.pin()
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


def _unary(operation: Callable[[Any], Any]) -> Callable[[BlockNumber], Any]:
    return lambda self: operation(self.pin())


def _binary(operation: Callable[[Any, Any], Any], swapped: bool) -> Callable[..., Any]:
    def method(self: BlockNumber, other: Any) -> Any:
        plain = other.pin() if isinstance(other, BlockNumber) else other
        return operation(plain, self.pin()) if swapped else operation(self.pin(), plain)

    return method


for _name, _question in _QUESTIONS.items():
    setattr(BlockNumber, _name, _ask(_name, _question))
for _name, _plain in _UNARY.items():
    setattr(BlockNumber, _name, _unary(_plain))
for _name, _function in _BINARY.items():
    setattr(BlockNumber, f"__{_name}__", _binary(_function, swapped=False))
    setattr(BlockNumber, f"__r{_name}__", _binary(_function, swapped=True))
