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
    """Dst = scalar in every element: the bits of the scalar in the type of dst.

    The repeat form takes dstBlockStride and dstRepeatStride instead of a parameter structure.
    Exceptional values: every pattern is copied as it is, NaN payloads and -0 too.
    """
    return np.full(dst.shape, scalar, dst.dtype)
