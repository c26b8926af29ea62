"""Vector arithmetic on two tensors, or on a tensor and a scalar.

Manual chapter: basic arithmetic, two-operand and tensor-scalar instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, Out, Scalar
from ascendsim.numerics import arith, fma

_SUM = ("round-once", "subnormals-kept", "nan-word")
_CHOICE = ("max-min-nan", "nan-word")


@vector(body="add", rules=_SUM)
def Add(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Add src0 and src1, rounded once to nearest even.

    Integers wrap. Exceptional values: inf - inf and NaN operands give the canonical NaN;
    x + (-x) is +0.
    """
    return arith.add(src0, src1, env=env)


@vector(body="sub", rules=_SUM)
def Sub(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Subtract src1 from src0, rounded once to nearest even.

    Exceptional values: inf - inf and NaN operands give the canonical NaN; x - x is +0.
    """
    return arith.sub(src0, src1, env=env)


@vector(body="mul", rules=_SUM)
def Mul(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Multiply src0 by src1, rounded once to nearest even.

    Exceptional values: 0 * inf and NaN operands give the canonical NaN.
    """
    return arith.mul(src0, src1, env=env)


@vector(body="div", rules=("div-bits", "nan-word"), flushes=True)
def Div(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Divide src0 by src1, correctly rounded; subnormal operands and results are flushed.

    Exceptional values: 0/0, inf/inf and NaN operands give the canonical NaN; x/0 is inf with the
    sign of the quotient.
    """
    return arith.div(src0, src1, env=env)


@vector(body="max", rules=_CHOICE)
def Max(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Take the larger of src0 and src1.

    Exceptional values: a NaN operand gives the canonical NaN; max(-0, +0) is +0.
    """
    return arith.maximum(src0, src1, env=env)


@vector(body="min", rules=_CHOICE)
def Min(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Take the smaller of src0 and src1.

    Exceptional values: a NaN operand gives the canonical NaN; min(-0, +0) is -0.
    """
    return arith.minimum(src0, src1, env=env)


def _filled(src: np.ndarray, scalar: Any) -> np.ndarray:
    return np.full(src.shape, scalar, src.dtype)


@vector(body="adds", rules=_SUM)
def Adds(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Add a scalar (first rounded to the type) to src, rounded once to nearest even.

    Exceptional values: as Add.
    """
    return arith.add(src, _filled(src, scalar), env=env)


@vector(body="muls", rules=_SUM)
def Muls(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Multiply src by a scalar (first rounded to the type), rounded once to nearest even.

    Never fused with a following Adds: two instructions, two roundings. Exceptional values: as Mul.
    """
    return arith.mul(src, _filled(src, scalar), env=env)


@vector(body="maxs", rules=_CHOICE)
def Maxs(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Take the larger of src and a scalar. Exceptional values: as Max."""
    return arith.maximum(src, _filled(src, scalar), env=env)


@vector(body="mins", rules=_CHOICE)
def Mins(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Take the smaller of src and a scalar. Exceptional values: as Min."""
    return arith.minimum(src, _filled(src, scalar), env=env)


@vector(body="leakyrelu", rules=("leaky-relu", "round-once", "subnormals-kept", "nan-word"))
def LeakyRelu(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Keep src where it is not below zero, else multiply it by a scalar, rounded once.

    Exceptional values: -0 stays -0; NaN gives the canonical NaN.
    """
    return fma.leaky_relu(src, _filled(src, scalar), env=env)


@vector(body="subs", rules=_SUM)
def Subs(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Subtract a scalar (first rounded to the type) from src, rounded once to nearest even.

    Exceptional values: as Sub. Forms with the scalar in front are not modelled.
    """
    return arith.sub(src, _filled(src, scalar), env=env)


@vector(body="divs", rules=("div-bits", "nan-word"), flushes=True)
def Divs(dst: Out, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Divide src by a scalar (first rounded to the type), correctly rounded.

    Exceptional values: as Div. Forms with the scalar in front are not modelled.
    """
    return arith.div(src, _filled(src, scalar), env=env)
