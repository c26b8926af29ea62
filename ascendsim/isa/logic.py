"""Logic on the bits of integers, and shifts.

Manual chapter: logical computation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, Out, Scalar
from ascendsim.numerics import integers

_BITS = ("bit-logic",)


@vector(body="not", arithmetic=False, rules=_BITS)
def Not(dst: Out, src: In, env: int = 0) -> Any:
    """Flip every bit of src. Exceptional values: none."""
    return ~src


@vector(body="and", arithmetic=False, rules=_BITS)
def And(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Store the bits that src0 and src1 both have. Exceptional values: none."""
    return integers.binary(np.bitwise_and, src0, src1)


@vector(body="or", arithmetic=False, rules=_BITS)
def Or(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Store the bits that src0 or src1 has. Exceptional values: none."""
    return integers.binary(np.bitwise_or, src0, src1)


@vector(body="ands", arithmetic=False, rules=_BITS)
def Ands(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Store the bits that src and the scalar both have. Exceptional values: none."""
    return integers.binary(np.bitwise_and, src, scalar)


@vector(body="ors", arithmetic=False, rules=_BITS)
def Ors(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Store the bits that src or the scalar has. Exceptional values: none."""
    return integers.binary(np.bitwise_or, src, scalar)


@vector(body="shiftleft", arithmetic=False, shift=True, rules=("shift",))
def ShiftLeft(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Shift the bits of src left by the scalar, zeros coming in.

    Exceptional values: a shift by the width gives 0; more is an error except on 950.
    """
    return integers.shift_left(src, scalar)


@vector(body="shiftright", arithmetic=False, shift=True, rules=("shift",))
def ShiftRight(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Shift the bits of src right by the scalar: copies of the sign come in, or zeros if unsigned.

    Rounding (roundEn) is not modelled. Exceptional values: a shift by the width leaves 0 or -1;
    more is an error except on 950.
    """
    return integers.shift_right(src, scalar)
