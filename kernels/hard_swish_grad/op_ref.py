"""What HardSwishGrad should give: the definition in exact numbers, and the naive expression."""

from fractions import Fraction
from math import inf, isnan, nan

#: what `ascendsim bench` holds the ratios against, by type
TARGETS = {
    "step / numpy": {"float32": 1.0, "float16": 2.5},
    "replay / numpy": {"float32": 3.0, "float16": 10.0},
    "step / Pallas interpret": {"float32": 8.0},
    "fused loop / triad": {"float32": 0.85},
}
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


def definition(grad, x):
    """Return the exact value: 0 for x <= -3, grad for x >= 3, `grad * (x/3 + 1/2)` between.

    Arguments and result are Fractions, infinities or NaN. Unlike the kernel, x <= -3 gives 0 for
    every grad, and a NaN in x gives NaN.
    """
    if not isinstance(x, Fraction) and isnan(x):
        return nan
    if x <= -3:
        return Fraction(0)
    if x >= 3:
        return grad
    slope = x * THIRD + HALF
    if isinstance(grad, Fraction):
        return grad * slope
    if isnan(grad) or slope == 0:
        return nan
    return inf if (grad > 0) == (slope > 0) else -inf


def c_source(dtype):
    """Return the computation of one element in C, with the kernel's roundings."""
    return """
static inline T lane(T grad, T x) {
    float value = widen(x), slope = value * 0x1.555556p-2f + 0.5f;
    slope = value > -3.0f ? slope : 0.0f;
    slope = value < 3.0f ? slope : 1.0f;
    return narrow(widen(grad) * slope);
}
"""


def torch(torch, grad, x):
    """Compute the gradient with torch."""
    return torch.ops.aten.hardswish_backward(grad, x)


def naive(np, grad, x):
    """Compute the formula with plain array expressions, 16-bit types in float32."""
    with np.errstate(all="ignore"):
        wide, value = grad.astype(np.float32), x.astype(np.float32)
        slope = value / np.float32(3) + np.float32(0.5)
        out = np.where(value <= -3, np.float32(0), np.where(value < 3, wide * slope, wide))
        return out.astype(grad.dtype)
