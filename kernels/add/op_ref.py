"""What Add should give: the sum in exact numbers, and the naive expression."""

from fractions import Fraction
from math import isnan, nan


def definition(x, y):
    """Return the exact sum; arguments and result are Fractions, infinities or NaN.

    The sum of two opposite infinities is NaN.
    """
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x + y
    if not isinstance(x, Fraction) and not isinstance(y, Fraction):
        return x if x == y else nan
    infinite = y if isinstance(x, Fraction) else x
    return nan if isnan(infinite) else infinite


def c_source(dtype):
    """Return the computation of one element in C."""
    return "static inline T lane(T x, T y) { return narrow(widen(x) + widen(y)); }\n"


def naive(np, x, y):
    """Compute the sum with a plain array expression."""
    with np.errstate(all="ignore"):
        return x + y
