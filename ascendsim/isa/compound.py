"""Two operations in one instruction: multiply-adds, which read their destination, and SubRelu.

Manual chapter: compound computation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, InOut, Out, Scalar
from ascendsim.numerics import arith, fma

_SUM = ("multiply-add", "subnormals-kept", "nan-word")


@vector(body="axpy", rules=_SUM)
def Axpy(dst: InOut, src: In, scalar: Scalar, env: int = 0) -> Any:
    """Add src times a scalar (of the type of src) to dst; half may be added to float.

    Exceptional values: 0 * inf, inf - inf and NaN operands give the canonical NaN.
    """
    return fma.multiply_add(src, np.full(src.shape, scalar, src.dtype), dst, env=env)


@vector(body="muladddst", rules=_SUM)
def MulAddDst(dst: InOut, src0: In, src1: In, env: int = 0) -> Any:
    """Add src0 times src1 to dst; half may be added to float.

    Exceptional values: as Axpy.
    """
    return fma.multiply_add(src0, src1, dst, env=env)


@vector(body="fusedmuladd", rules=_SUM)
def FusedMulAdd(dst: InOut, src0: In, src1: In, env: int = 0) -> Any:
    """Multiply dst by src0 and add src1.

    Exceptional values: as Axpy.
    """
    return fma.multiply_add(src0, dst, src1, env=env)


@vector(body="subrelu", rules=("round-once", "subnormals-kept", "relu-edge", "nan-word"))
def SubRelu(dst: Out, src0: In, src1: In, env: int = 0) -> Any:
    """Subtract src1 from src0, rounded once, and keep what is above zero, else store zero.

    Integers wrap before they are compared with zero. Exceptional values: -0 becomes +0; inf - inf
    and NaN operands give the canonical NaN.
    """
    return fma.relu(arith.sub(src0, src1, env=env), env=env)
