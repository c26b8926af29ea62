"""Vector instructions of one source: absolute value, exponential, logarithm, roots, Relu.

Manual chapter: basic arithmetic, one-operand instructions.
"""

from __future__ import annotations

from typing import Any

from ascendsim.isa.caution import table_based
from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, Out
from ascendsim.numerics import arith, fma, transcend


@vector(body="abs", rules=("abs", "nan-word"))
def Abs(dst: Out, src: In, env: int = 0) -> Any:
    """Take the absolute value of src: the sign bit is cleared.

    Exceptional values: -0 becomes +0; a NaN becomes the canonical NaN.
    """
    return arith.absolute(src, env=env)


@vector(body="exp", rules=("exp-bits", "nan-word"), flushes=True)
def Exp(dst: Out, src: In, env: int = 0) -> Any:
    """Raise e to the power src, correctly rounded, then the SoC's flush rule.

    Exceptional values: exp(+inf) = +inf, exp(-inf) = +0, exp(NaN) = canonical NaN; float32
    overflows above 88.7228, and results below 2**-126 are flushed to 0.
    """
    return transcend.exp(src, env=env)


@vector(body="ln", rules=("ln-bits", "nan-word"), flushes=True)
def Ln(dst: Out, src: In, env: int = 0) -> Any:
    """Take the natural logarithm of src, correctly rounded; subnormal sources read as zero.

    Exceptional values: ln(0) = -inf, ln(x < 0) and ln(NaN) = canonical NaN, ln(+inf) = +inf.
    """
    return transcend.ln(src, env=env)


@vector(body="sqrt", rules=("sqrt-bits", "nan-word"), flushes=True)
def Sqrt(dst: Out, src: In, env: int = 0) -> Any:
    """Take the square root of src, correctly rounded; subnormal sources read as zero.

    Exceptional values: sqrt(-0) = -0, sqrt(x < 0) and sqrt(NaN) = canonical NaN.
    """
    return arith.sqrt(src, env=env)


@vector(body="relu", rules=("relu-edge", "nan-word"))
def Relu(dst: Out, src: In, env: int = 0) -> Any:
    """Keep src where it is above zero, else store zero.

    Exceptional values: -0 becomes +0; a NaN becomes the canonical NaN.
    """
    return fma.relu(src, env=env)


@vector(body="reciprocal", rules=("reciprocal-bits", "nan-word"), flushes=True, caution=table_based)
def Reciprocal(dst: Out, src: In, env: int = 0) -> Any:
    """Divide one by src, correctly rounded (a model: see the rule reciprocal-bits).

    Exceptional values: 1/0 is inf with the sign of the zero, 1/inf is zero, NaN gives the canonical
    NaN; subnormal operands and results are flushed.
    """
    return fma.reciprocal(src, env=env)


@vector(body="rsqrt", rules=("rsqrt-bits", "nan-word"), flushes=True, caution=table_based)
def Rsqrt(dst: Out, src: In, env: int = 0) -> Any:
    """Divide one by the square root of src (a model: see the rule rsqrt-bits).

    Exceptional values: of zero it is inf with the sign of the zero, below zero and of NaN the
    canonical NaN, of +inf it is +0; subnormal sources read as zero.
    """
    return fma.rsqrt(src, env=env)
