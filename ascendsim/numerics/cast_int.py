"""Cast from and to integers on arrays: the slow twin of `bodies_cast_int.py`.

Whole numbers are Python integers here, so nothing can overflow on the way.
Source: asc-devkit, Cast.md and the page on rounding modes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.enums import RoundMode
from ascendsim.numerics.cast import narrow
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_TRUNCATE
from ascendsim.numerics.rounding import FLOAT64
from ascendsim.numerics.words import delivered, format_of, values, words

_WHOLE: dict[RoundMode, Callable[[np.ndarray], np.ndarray]] = {
    RoundMode.CAST_NONE: np.rint,
    RoundMode.CAST_RINT: np.rint,
    RoundMode.CAST_FLOOR: np.floor,
    RoundMode.CAST_CEIL: np.ceil,
    RoundMode.CAST_ROUND: lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    RoundMode.CAST_TRUNC: np.trunc,
}


def to_integer(src: np.ndarray, target: DType, mode: RoundMode, env: int = 0) -> np.ndarray:
    """Round floats to an integer type.

    Exceptional values: NaN gives 0, infinities the ends of the range; a number beyond the range
    its nearer end, or its low bits under ENV_TRUNCATE.
    """
    with np.errstate(all="ignore"):
        whole = _WHOLE[mode](src.astype(np.float64))
    if target.nbytes < 8 and not env & ENV_TRUNCATE:  # float64 holds both ends of the range
        ends = np.iinfo(target.numpy)
        return np.clip(np.nan_to_num(whole, nan=0.0), ends.min, ends.max).astype(target.numpy)
    return _integers([_finite(x, target) for x in whole.tolist()], target, env)


def _finite(x: float, target: DType) -> tuple[int, bool]:
    """Return a whole number, and whether ENV_TRUNCATE applies to it."""
    if x != x:
        return 0, False
    if x in (np.inf, -np.inf):
        return (1 << 80 if x > 0 else -1 << 80), False
    return int(x), True


def between_integers(src: np.ndarray, target: DType, env: int = 0) -> np.ndarray:
    """Convert integers to another integer type: clamped, or low bits of a wider one by the env.

    A negative number becomes 0 in a wider unsigned type, whatever the env.
    """
    narrows = target.nbytes < src.dtype.itemsize
    return _integers([(x, narrows) for x in src.tolist()], target, env)


def from_integer(src: np.ndarray, target: DType, mode: RoundMode, env: int = 0) -> np.ndarray:
    """Round integers of up to 64 bits to a float type, once."""
    fmt = format_of(target.numpy)
    exact = np.array([_sticky(x) for x in src.tolist()], np.float64)
    patterns = narrow(words(exact), FLOAT64, fmt, mode)
    return values(delivered(patterns, fmt, env & ~ENV_FLUSH), fmt)


def dequantized(src: np.ndarray, target: DType, scale: float, env: int = 0) -> np.ndarray:
    """Return int32 as float32, times 2**-17, times the scale, times 2**17, as half."""
    fmt = format_of(target.numpy)
    with np.errstate(all="ignore"):
        scaled = src.astype(np.float32) * np.float32(2.0**-17) * np.float32(scale)
        scaled = scaled * np.float32(2.0**17)
    patterns = narrow(words(scaled.astype(np.float64)), FLOAT64, fmt, RoundMode.CAST_RINT)
    return values(delivered(patterns, fmt, env & ~ENV_FLUSH), fmt)


def _sticky(number: int) -> float:
    """Return an integer as float64; what its 53 bits cannot hold sets the last of them."""
    size = abs(number)
    shift = max(size.bit_length() - 53, 0)
    kept = size >> shift | (size & (1 << shift) - 1 != 0)
    return float(kept << shift) if number >= 0 else -float(kept << shift)


def _integers(numbers: list[tuple[int, bool]], target: DType, env: int) -> np.ndarray:
    bits = 8 * target.nbytes
    low = -(1 << bits - 1) if target.kind == "int" else 0
    high = low + (1 << bits) - 1
    mask = (1 << bits) - 1
    cut = bool(env & ENV_TRUNCATE)
    found = [
        x & mask if cut and may_cut else min(max(x, low), high) & mask for x, may_cut in numbers
    ]
    return np.array(found, target.bits).view(target.numpy)
