"""What Blend should give: the plain array expression, and exact arithmetic element by element."""

from ascendsim.numerics.exact import exact_abs, exact_add, exact_ln, exact_max, exact_mul
from ascendsim.numerics.rounding import NAN, decode


def naive(np, x, y, weight, shift=0.25):
    """Compute the formula with plain array expressions."""
    with np.errstate(all="ignore"):
        chosen = np.where(x >= y, np.abs(np.log(np.maximum(x, y))), x)
        return (chosen * weight + x.dtype.type(shift)).astype(x.dtype)


def exact(x, y, weight, shift, fmt, env, flush):
    """Return the pattern of one element; all arguments are patterns of `fmt`.

    `env` holds the model's choices, and with `flush` those of Ln.
    """
    left, right = decode(x, fmt), decode(y, fmt)
    chosen = x
    if NAN not in (left, right) and _order(left) >= _order(right):
        chosen = exact_abs(exact_ln(exact_max(x, y, fmt, env), fmt, flush), fmt, env)
    return exact_add(exact_mul(chosen, weight, fmt, env), shift, fmt, env)


def _order(value):
    if value.kind == "inf":
        return float("-inf") if value.negative else float("inf")
    return value.number
