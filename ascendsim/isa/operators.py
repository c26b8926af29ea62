"""Operators on whole tensors: `dst[:] = a + b` is Ascend C's `dst = a + b`.

Ascend C overloads the assignment; Python cannot, so the destination is written `dst[:]`. The call
covers all elements of dst. Comparisons are not offered: `==` on tensors has to stay identity.
Source: asc-devkit docs, pages of the instructions (documented).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ascendsim.errors import ContractError
from ascendsim.isa.declare import called_through

_CALLS = {name: called_through(name, 2) for name in ("Add", "Sub", "Mul", "Div", "And", "Or")}


class Expression(NamedTuple):
    """An instruction and its two sources, not yet stored anywhere."""

    name: str
    src0: Any
    src1: Any


def store(dst: Any, value: Any) -> None:
    """Execute `value` with all elements of `dst` as destination.

    Raises
    ------
    ContractError
        When `value` is no expression of two tensors.
    """
    if not isinstance(value, Expression):
        raise ContractError(
            f"{dst!r} = {value!r}: only two tensors joined by one of + - * / & | can be stored so; "
            f"use Duplicate for a scalar and DataCopy for a tensor"
        )
    _CALLS[value.name](dst, value.src0, value.src1, dst.GetSize())
