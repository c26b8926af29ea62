"""Fill a tensor with a scalar.

Manual chapter: data filling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.isa.declare import vector
from ascendsim.isa.roles import Out, Scalar


@vector(body="duplicate", bits=True, arithmetic=False)
def Duplicate(dst: Out, scalar: Scalar, env: int = 0) -> Any:
    """Store the scalar, as bits of the type of dst, in every element.

    The repeat form takes dstBlockStride and dstRepeatStride instead of a parameter structure.
    Exceptional values: every pattern is copied as it is, NaN payloads and -0 too.
    """
    return np.full(dst.shape, scalar, dst.dtype)
