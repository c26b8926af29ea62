"""Vector instructions of one source: absolute value, exponential, logarithm, square root.

Manual chapter: basic arithmetic, one-operand instructions.
"""

from __future__ import annotations

from typing import Any

from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, Out
from ascendsim.numerics import arith, transcend


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
