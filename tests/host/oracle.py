"""What the three calls give, in plain fp32 steps of numpy; independent of the simulator.

16-bit types are computed in fp32 and rounded at the end. Inputs are finite and far from overflow.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

F32 = np.float32


def ties_away(value: np.ndarray) -> np.ndarray:
    """Round fp32 to bfloat16, to nearest, ties away from zero."""
    words = value.astype(F32).view(np.uint32)
    return ((words + np.uint32(0x8000)) >> 16).astype(np.uint16).view(ml_dtypes.bfloat16)


def hard_sigmoid(grad: np.ndarray, x: np.ndarray, out: np.dtype) -> np.ndarray:
    common = grad.dtype if grad.dtype == x.dtype else np.dtype(F32)
    grad, x = grad.astype(F32), x.astype(F32)
    alpha = F32(1) / F32(6)
    inside = x * alpha + F32(0.5)
    y = np.where((inside > 0) & (inside < 1), grad * alpha, F32(0))
    y = ties_away(y) if common == ml_dtypes.bfloat16 else y.astype(common)
    return y.astype(F32).astype(out)


def hard_swish(grad: np.ndarray, x: np.ndarray, out: np.dtype) -> np.ndarray:
    grad, x = grad.astype(F32), x.astype(F32)
    slope = x * F32(0.3333333333333333) + F32(0.5)
    slope = np.where(x > F32(-3), slope, F32(0))
    slope = np.where(x < F32(3), slope, F32(1))
    return (grad * slope).astype(out)


def swish(grad: np.ndarray, x: np.ndarray, out: np.dtype, beta: float = 1.0) -> np.ndarray:
    grad, scaled = grad.astype(F32), x.astype(F32) * F32(beta)
    exponential = np.exp(-scaled.astype(np.float64)).astype(F32)  # rounded once, correctly
    sigmoid = F32(1) / (exponential + F32(1))
    factor = scaled * (F32(1) - sigmoid) + F32(1)
    if x.dtype == F32:
        return grad * (sigmoid * factor)
    return (grad * (sigmoid * factor)).astype(out)
