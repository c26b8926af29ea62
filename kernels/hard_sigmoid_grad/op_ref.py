"""What HardSigmoidGrad should give: the definition in exact numbers, and the naive expression."""

from fractions import Fraction
from math import inf, isinf, isnan, nan

#: what `ascendsim bench` holds the ratios against, by type
TARGETS = {
    "step / numpy": {"float32": 1.0, "float16": 2.5},
    "replay / numpy": {"float32": 3.0, "float16": 10.0},
    "step / Pallas interpret": {"float32": 8.0},
    "fused loop / triad": {"float32": 0.85},
    "atlas / C": {"float32": 1 / 1.5},
    "1 ms / step launch": {"float32": 1.0},
    "0.15 ms / replay launch": {"float32": 1.0},
    "record=calls / step": {"float32": 1 / 4},
    "record=bytes / step": {"float32": 1 / 10},
    "all checks / step": {"float32": 0.1},
}
#: attributes with which the atlas is measured
SWEPT_ATTRS = ({}, {"alpha": "0x3e2aaaaa"})


def definition(grad, x, alpha=Fraction(1, 6), beta=Fraction(1, 2)):
    """Return the exact value of `grad * alpha if 0 < alpha*x + beta < 1 else 0`.

    Arguments and result are Fractions, infinities or NaN; attributes may be floats. Without
    attributes alpha is one sixth itself, not the nearest fp32 number. An infinite or NaN x lies
    outside the range.
    """
    alpha, beta = _exact(alpha), _exact(beta)
    if not isinstance(x, Fraction) or not 0 < alpha * x + beta < 1:
        return Fraction(0)
    if isinstance(grad, Fraction):
        return grad * alpha
    return nan if isnan(grad) else inf if (grad > 0) == (alpha > 0) else -inf


def c_source(dtype):
    """Return the computation of one element in C, with the kernel's roundings."""
    narrow = "narrow_away" if dtype == "bfloat16" else "narrow"
    return f"""
static inline T lane(T grad, T x, float alpha, float beta) {{
    float slope = widen(x) * alpha + beta, value = widen(grad) * alpha;
    value = slope > 0.0f ? value : 0.0f;
    value = slope < 1.0f ? value : 0.0f;
    return {narrow}(value);
}}
"""


def torch(torch, grad, x, alpha=1 / 6, beta=0.5):
    """Compute the gradient with torch, which knows alpha = 1/6 and beta = 1/2 only."""
    return torch.ops.aten.hardsigmoid_backward(grad, x)


def naive(np, grad, x, alpha=1 / 6, beta=0.5):
    """Compute the formula with plain array expressions, 16-bit types in float32."""
    alpha, beta = np.float32(alpha), np.float32(beta)
    with np.errstate(all="ignore"):
        wide, value = grad.astype(np.float32), x.astype(np.float32) * alpha + beta
        out = np.where((value > 0) & (value < 1), wide * alpha, np.float32(0))
        return out.astype(grad.dtype)


def _exact(number):
    if isinstance(number, Fraction):
        return number
    if isnan(number) or isinf(number):
        raise ValueError(f"attribute {number}: the operator refuses it")
    return Fraction(float(number))
