"""Exp and Ln on arrays of float32 or float16, correctly rounded.

float64 results are good to far better than `MARGIN`; where rounding both ends of that margin gives
different patterns, `exact.py` decides. The hardware promises 1 ulp on 950 and nothing on 910B, so
the correctly rounded value is the model's choice (grade assumed).

Source: asc-devkit, Exp.md and Ln.md (special values: PTO micro-instruction pages).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ascendsim.enums import RoundMode
from ascendsim.errors import UnsupportedError
from ascendsim.numerics.cast import narrow, widen
from ascendsim.numerics.exact import exact_exp, exact_ln
from ascendsim.numerics.rounding import BFLOAT16, FLOAT32, FLOAT64
from ascendsim.numerics.words import delivered, flushed, format_of, values, words

#: Assumed bound of numpy's relative error, 16 units of float64; libraries stay below 4.
MARGIN = 2.0**-48


def exp(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return `e ** a`; of +inf it is +inf, of -inf +0, of NaN the canonical NaN.

    ENV_FLUSH reads subnormals as zero and delivers subnormal results as +0.
    """
    return _rounded(np.exp, exact_exp, a, env)


def ln(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return the natural logarithm; of either zero it is -inf, below zero the canonical NaN.

    ENV_FLUSH reads subnormals as zero, so they give -inf.
    """
    return _rounded(np.log, exact_ln, a, env)


def _rounded(function: Callable, exact: Callable, a: np.ndarray, env: int) -> np.ndarray:
    fmt = format_of(a.dtype)
    if fmt is BFLOAT16:
        raise UnsupportedError("Exp and Ln do not exist for bfloat16; Cast to float32 first")
    patterns = flushed(words(a), fmt, env)
    with np.errstate(all="ignore"):
        near = function(values(widen(patterns, fmt), FLOAT32).astype(np.float64))
        ends = [near * (1 - MARGIN), near * (1 + MARGIN)]
    low, high = (narrow(words(end), FLOAT64, fmt, RoundMode.CAST_RINT) for end in ends)
    for place in zip(*np.nonzero(low != high), strict=True):
        low[place] = exact(int(patterns[place]), fmt)
    return values(delivered(low, fmt, env), fmt)
