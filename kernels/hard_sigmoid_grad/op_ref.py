"""What HardSigmoidGrad should give: the definition in exact numbers, and the naive expression."""

from fractions import Fraction
from math import inf, isinf, isnan, nan


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
