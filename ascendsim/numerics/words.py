"""Raw patterns of float arrays: what all array twins do to operands and results.

A *word* is the unsigned integer with the bits of an element. Three rules live here, once: which
operands and results count as zero (ENV_FLUSH), what overflow leaves (ENV_SATURATE), and which
pattern a NaN gets (ENV_NAN_ONES).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ascendsim.errors import UnsupportedError
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Format

_FORMATS = {
    np.dtype(np.float32): FLOAT32,
    np.dtype(np.float16): FLOAT16,
    np.dtype(ml_dtypes.bfloat16): BFLOAT16,
    np.dtype(np.float64): FLOAT64,
}
_DTYPES = {fmt: dtype for dtype, fmt in _FORMATS.items()}


def format_of(dtype: np.dtype) -> Format:
    """Return the format of the elements of an array type.

    Raises
    ------
    UnsupportedError
        When the type is none of float32, float16, bfloat16.
    """
    found = _FORMATS.get(np.dtype(dtype))
    if found is None:
        raise UnsupportedError(
            f"float arithmetic on {dtype} is not modelled; use float32, float16 or bfloat16"
        )
    return found


def words(array: np.ndarray) -> np.ndarray:
    """Return the patterns of `array`: a view."""
    return array.view(f"u{array.dtype.itemsize}")


def values(patterns: np.ndarray, fmt: Format) -> np.ndarray:
    """Return the numbers that `patterns` stand for, as an array of the type of `fmt`."""
    return patterns.astype(f"u{fmt.width // 8}", copy=False).view(_DTYPES[fmt])


def like(operand: object, array: np.ndarray) -> np.ndarray:
    """Return `operand`, an array or a scalar, as an array of the type of `array`.

    A Python number is rounded to nearest even, as the compiler does to a literal of type T.
    """
    with np.errstate(all="ignore"):
        return np.asarray(operand, dtype=array.dtype)


def magnitudes(patterns: np.ndarray, fmt: Format) -> np.ndarray:
    """Return `patterns` with the sign cleared."""
    return patterns & patterns.dtype.type(fmt.sign_bits - 1)


def flushed(patterns: np.ndarray, fmt: Format, env: int) -> np.ndarray:
    """Under ENV_FLUSH replace subnormals by zero of the same sign."""
    if not env & ENV_FLUSH:
        return patterns
    sign = patterns & patterns.dtype.type(fmt.sign_bits)
    return np.where(magnitudes(patterns, fmt) < fmt.min_normal_bits, sign, patterns)


def delivered(patterns: np.ndarray, fmt: Format, env: int) -> np.ndarray:
    """Return `patterns` as an instruction leaves them: flushed, saturated, NaN canonical."""
    out = flushed(patterns, fmt, env)
    size = magnitudes(out, fmt)
    word = out.dtype.type
    if env & ENV_SATURATE and fmt is not FLOAT32:
        sign = out & word(fmt.sign_bits)
        out = np.where(size == fmt.inf_bits, sign | word(fmt.max_bits), out)
        canonical = word(0)
    else:
        canonical = word(fmt.nan_bits(bool(env & ENV_NAN_ONES)))
    return np.where(size > fmt.inf_bits, canonical, out)
