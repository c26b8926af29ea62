"""What SwishGrad should give: an enclosure of the exact value, and the naive expression.

The definition holds an exponential, so the exact value is no fraction: `definition` returns two
fractions around it, as close as asked. Integers and fractions only, every rounding outward.
"""

from fractions import Fraction
from math import inf, isnan, nan

#: what `ascendsim bench` holds the ratios against, by type
TARGETS = {
    "step / numpy": {"float32": 0.6},
    "replay / numpy": {"float32": 1.0},
    "step / Pallas interpret": {"float32": 4.0},
    "atlas / C": {"float32": 1 / 1.5},
}
SWEPT_ATTRS = ({},)  # attributes with which the atlas is measured
ONE = Fraction(1)
FAR = 1 << 14  # from here on a negative argument leaves less than 2^-16000 of grad


def definition(grad, x, sconf=ONE, bits=80):
    """Return (low, high) around `grad * s * (1 + z*(1 - s))`, z = sconf*x, s = 1/(1 + exp(-z)).

    Arguments are Fractions, infinities or NaN; sconf may be a float. The two differ by at most
    2^-bits of the value, except for z < -16384: there by less than 2^-16000 * |grad|. Infinite x
    stands for the limit: the slope is 1 or 0. A result that is no real number is returned as
    (inf, inf), (-inf, -inf) or (nan, nan).
    """
    z = _times(sconf if isinstance(sconf, Fraction) else _exact(sconf), x)
    if not isinstance(z, Fraction):
        low = high = z if isnan(z) else ONE if z > 0 else Fraction(0)
    else:
        low, high = _slope(z, bits)
        if not isinstance(grad, Fraction):
            high = low  # only the sign counts, and no slope of a real number is 0
    return tuple(sorted((_times(grad, low), _times(grad, high))))


def formula(real, grad, x, sconf=ONE):
    """Return the definition for finite arguments as a plain formula: `real.exp` beside arithmetic.

    The same value as `definition`, for evaluation with a bound.
    """
    z = sconf * x
    if z > 0:
        e = real.exp(-z)
        return grad * (1 + e * (1 + z)) / (1 + e) ** 2
    e = real.exp(z)
    return grad * e * (1 + e + z) / (1 + e) ** 2


def c_source(dtype):
    """Return the computation of one element in C, with the kernel's roundings."""
    return """
static inline T lane(T grad, T x, float sconf) {
    float z = widen(x) * sconf;
    float sigmoid = 1.0f / (exp_rounded(-z) + 1.0f);
    sigmoid = sigmoid < 0x1p-126f ? 0.0f : sigmoid;  // Div of 910B gives no subnormal
    float slope = sigmoid * (1.0f + z * (1.0f - sigmoid));
    return narrow(widen(grad) * slope);
}
"""


def torch(torch, grad, x, sconf=1.0):
    """Compute the gradient with torch, which knows sconf = 1 only."""
    return torch.ops.aten.silu_backward(grad, x)


def naive(np, grad, x, sconf=1.0):
    """Compute the formula with plain array expressions, 16-bit types in float32."""
    one = np.float32(1)
    with np.errstate(all="ignore"):
        wide, z = grad.astype(np.float32), x.astype(np.float32) * np.float32(sconf)
        sigmoid = one / (one + np.exp(-z))
        return (wide * sigmoid * (one + z * (one - sigmoid))).astype(grad.dtype)


def _slope(z, bits):
    """Return an enclosure of `s * (1 + z*(1 - s))` for a fraction z."""
    if z == 0:
        return Fraction(1, 2), Fraction(1, 2)
    if z < -FAR:
        return -Fraction(1, 1 << (FAR - 64)), Fraction(0)
    if z > 2 * bits + 64:  # (1 + z) * exp(-z) < 2^-bits
        return ONE, 1 + Fraction(1, 1 << bits)
    work = bits + 16
    while True:
        low, high = _slope_at(z, exp_enclosure(-abs(z), work))
        if low * high > 0 and high - low <= Fraction(1, 1 << bits) * min(abs(low), abs(high)):
            return low, high
        work *= 2  # near the zero at z = -1.278 digits cancel


def _slope_at(z, exponential):
    """Return the slope's enclosure from one of e = exp(-|z|).

    For z > 0 it is (1 + e + z*e) / (1 + e)^2, for z < 0 it is e * (1 + e + z) / (1 + e)^2.
    """
    low, high = exponential
    if z > 0:
        return (1 + low * (1 + z)) / (1 + high) ** 2, (1 + high * (1 + z)) / (1 + low) ** 2
    factors = (1 + low + z, 1 + high + z)
    products = [e * f for e in exponential for f in factors]
    quotients = [p / (1 + e) ** 2 for p in products for e in exponential]
    return min(quotients), max(quotients)


def exp_enclosure(value, bits):
    """Return two fractions around exp(value) for value <= 0, 2^-bits apart relative to it.

    exp(-value) by Taylor's series at value / 2^halvings, squared as often, inverted.
    """
    size = -value
    halvings = max(0, size.numerator.bit_length() - size.denominator.bit_length() + 4)
    unit = bits + halvings + 24
    scaled = size.numerator << unit
    divisor = size.denominator << halvings
    ends = [(_series(scaled // divisor, unit, 0), 0), (_series(-(-scaled // divisor), unit, 1), 0)]
    for _ in range(halvings):
        ends = [_square(*end, unit, up) for up, end in enumerate(ends)]
    low, high = (Fraction(m) * Fraction(2) ** (e - unit) for m, e in ends)
    return 1 / high, 1 / low


def _series(argument, unit, up):
    """Sum argument^k / k! in fixed point, terms rounded down, or up with a bound on the rest."""
    total = term = 1 << unit
    k = 0
    while term > up:
        k += 1
        term = _shift(term * argument, unit, up)
        term = -(-term // k) if up else term // k
        total += term
    return total + 2 * up


def _square(mantissa, exponent, unit, up):
    """Square mantissa * 2^exponent, keep about `unit` bits, round down or up."""
    square = _shift(mantissa * mantissa, unit, up)
    surplus = max(0, square.bit_length() - unit - 8)
    return _shift(square, surplus, up), 2 * exponent + surplus


def _shift(number, count, up):
    return -(-number >> count) if up else number >> count


def _exact(number):
    number = float(number)
    return Fraction(number) if -inf < number < inf else number


def _times(a, b):
    """Multiply fractions, infinities and NaN; 0 * inf is NaN."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if isnan(a) or isnan(b) or a == 0 or b == 0:
        return nan
    return inf if (a > 0) == (b > 0) else -inf
