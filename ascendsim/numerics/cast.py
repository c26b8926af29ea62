"""Cast between float32, float16 and bfloat16 on arrays, in integer arithmetic on the patterns.

From and to integers: `cast_int.py`.

Every mode of RoundMode, one rounding each. No library conversion is used, so numpy and ml_dtypes
stay independent oracles; `rounding.py` says the same one element at a time.
"""

from __future__ import annotations

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.enums import RoundMode
from ascendsim.errors import UnsupportedError
from ascendsim.numerics.opcodes import ENV_FLUSH
from ascendsim.numerics.rounding import FLOAT32, Format
from ascendsim.numerics.words import delivered, format_of, magnitudes, values, words


def cast(src: np.ndarray, dst_dtype: DType, mode: RoundMode, env: int = 0) -> np.ndarray:
    """Convert `src` to `dst_dtype`, rounding once in `mode`.

    float32 to float32 rounds to an integer and stays float. Widening is exact in every mode;
    float16 to bfloat16 and back is one rounding of the exact value.

    Exceptional values: NaN becomes canonical in both directions, infinities and the sign of zero
    are kept, subnormals are read and produced (ENV_FLUSH does not reach Cast; assumed on 910B).
    A finite number beyond the range after rounding becomes infinite in every mode, or the
    greatest finite number under ENV_SATURATE, where also infinities do and NaN becomes +0;
    float32 never saturates.

    Raises
    ------
    UnsupportedError
        When the pair of types is not modelled.

    Source: asc-devkit, Cast.md and precision_conversion.md.
    """
    from ascendsim.numerics import cast_int  # which rounds with `narrow` of this module

    whole = src.dtype.kind in "iu"
    if dst_dtype.kind != "float":
        if whole:
            return cast_int.between_integers(src, dst_dtype, env=env)
        return cast_int.to_integer(src, dst_dtype, mode, env=env)
    if whole:
        return cast_int.from_integer(src, dst_dtype, mode, env=env)
    source, target = format_of(src.dtype), format_of(dst_dtype.numpy)
    patterns = words(src)
    if source is not target:
        patterns = widen(patterns, source)
        if target is not FLOAT32:
            patterns = narrow(patterns, FLOAT32, target, mode)
    elif target is FLOAT32:
        patterns = integral(patterns, mode)
    else:
        raise UnsupportedError(f"Cast from {source.name} to itself does not exist; use DataCopy")
    return values(delivered(patterns, target, env & ~ENV_FLUSH), target)


def widen(patterns: np.ndarray, source: Format) -> np.ndarray:
    """Return float32 patterns of the same numbers; NaN stays some NaN."""
    if source is FLOAT32:
        return patterns
    shift = FLOAT32.mantissa_bits - source.mantissa_bits
    size = magnitudes(patterns, source).astype(np.uint32)
    sign = (patterns & patterns.dtype.type(source.sign_bits)).astype(np.uint32)
    sign <<= np.uint32(FLOAT32.width - source.width)
    if source.exponent_bits == FLOAT32.exponent_bits:
        return sign | (size << np.uint32(shift))
    rebias = (FLOAT32.bias - source.bias) << FLOAT32.mantissa_bits
    wide = (size << np.uint32(shift)) + np.uint32(rebias)
    special = size >= source.inf_bits  # the exponent field of infinities and NaN is all ones
    wide = np.where(special, (size << np.uint32(shift)) | np.uint32(FLOAT32.inf_bits), wide)
    return sign | np.where(size < source.min_normal_bits, _normalised(size, source), wide)


def narrow(patterns: np.ndarray, source: Format, target: Format, mode: RoundMode) -> np.ndarray:
    """Round float32 or float64 patterns to a narrower format; NaN stays some NaN.

    Counts in units of the last place of the target, below its normal range in the fixed unit of
    its subnormals. Adding the count to the exponent field lets a carry run into the next binade,
    and at the top into the pattern of infinity.
    """
    size = magnitudes(patterns, source).astype(np.int64)
    negative = (patterns >> patterns.dtype.type(source.width - 1)).astype(bool)
    field = size >> source.mantissa_bits
    fraction = size & (source.min_normal_bits - 1)
    significand = fraction + np.where(field > 0, source.min_normal_bits, 0)
    exponent = np.maximum(field, 1) - source.bias
    binade = np.maximum(exponent, target.min_exponent)
    shift = binade - exponent + (source.mantissa_bits - target.mantissa_bits)
    # further right than this every significand is less than half a unit anyway
    shift = np.minimum(shift, source.mantissa_bits + 2)
    count = _rounded(significand, shift, negative, mode)
    out = count + ((binade - target.min_exponent) << target.mantissa_bits)
    out = np.minimum(out, target.inf_bits)
    out = np.where(size > source.inf_bits, target.inf_bits + 1, out)
    out = out + np.where(negative, target.sign_bits, 0)
    return out.astype(f"u{target.width // 8}")


def integral(patterns: np.ndarray, mode: RoundMode) -> np.ndarray:
    """Round float32 patterns to integers that stay float32; NaN stays some NaN."""
    fmt = FLOAT32
    size = magnitudes(patterns, fmt).astype(np.int64)
    negative = (patterns >> np.uint32(fmt.width - 1)).astype(bool)
    field = size >> fmt.mantissa_bits
    fraction = size & (fmt.min_normal_bits - 1)
    significand = fraction + np.where(field > 0, fmt.min_normal_bits, 0)
    exponent = np.maximum(field, 1) - fmt.bias
    shift = np.clip(fmt.mantissa_bits - exponent, 1, fmt.mantissa_bits + 2)
    count = _rounded(significand, shift, negative, mode)
    one = fmt.bias << fmt.mantissa_bits
    in_place = (count << shift) + ((field - 1) << fmt.mantissa_bits)
    out = np.where(exponent < 0, np.where(count > 0, one, 0), in_place)
    out = np.where(exponent >= fmt.mantissa_bits, size, out)
    return (out + np.where(negative, fmt.sign_bits, 0)).astype(np.uint32)


def _normalised(size: np.ndarray, source: Format) -> np.ndarray:
    """Return float32 patterns of the subnormals `size` of `source`; 0 gives 0."""
    significand = size.copy()
    field = np.full_like(size, FLOAT32.bias - source.bias + 1)
    for step in (8, 4, 2, 1):
        low = significand < (1 << (source.mantissa_bits + 1 - step))
        significand = np.where(low, significand << np.uint32(step), significand)
        field = np.where(low, field - np.uint32(step), field)
    fraction = significand & np.uint32(source.min_normal_bits - 1)
    fraction <<= np.uint32(FLOAT32.mantissa_bits - source.mantissa_bits)
    return np.where(size == 0, np.uint32(0), (field << np.uint32(FLOAT32.mantissa_bits)) | fraction)


def _rounded(
    significand: np.ndarray, shift: np.ndarray, negative: np.ndarray, mode: RoundMode
) -> np.ndarray:
    """Drop the low `shift` >= 1 bits of `significand`, rounding in `mode`."""
    kept = significand >> shift
    discarded = significand - (kept << shift)
    half = np.int64(1) << (shift - 1)
    odd = (kept & 1) == 1
    match mode:
        case RoundMode.CAST_NONE | RoundMode.CAST_RINT:
            away = (discarded > half) | ((discarded == half) & odd)
        case RoundMode.CAST_ROUND:
            away = discarded >= half
        case RoundMode.CAST_FLOOR:
            away = negative & (discarded > 0)
        case RoundMode.CAST_CEIL:
            away = ~negative & (discarded > 0)
        case RoundMode.CAST_TRUNC:
            away = np.zeros_like(negative)
        case RoundMode.CAST_ODD:
            away = (discarded > 0) & ~odd
    return kept + away
