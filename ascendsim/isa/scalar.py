"""Conversions of single numbers on the scalar unit.

Manual chapter: scalar computation. A number is converted as Cast converts an element; nothing is
recorded, since no memory is touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.dtypes import DType, bfloat16, float16, float32, int32
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import RoundMode
from ascendsim.errors import ContractError, DtypeError, RequestError
from ascendsim.isa.program import program
from ascendsim.numerics import cast
from ascendsim.record import current_core

_FLOATS = (float16, bfloat16)
_INT32 = (-(1 << 31), (1 << 31) - 1)


@program()
def ToFloat(bVal: Any) -> Any:
    """Return a bfloat16_t (or half) number as float; exact."""
    return np.float32(_number("ToFloat", bVal))


@program("cast-rounding")
def ToBfloat16(fVal: Any) -> Any:
    """Return a float number as bfloat16_t, rounded to nearest even; NaN and inf stay."""
    return _converted(np.float32(_number("ToBfloat16", fVal)), bfloat16, RoundMode.CAST_RINT)


@program("cast-rounding")
def ScalarCast(T: Any, U: Any, roundMode: RoundMode, valueIn: Any) -> Any:
    """Return a number of type T (float32) as one of type U: half, bfloat16_t or int32_t.

    `ScalarCast<float, half, RoundMode::CAST_ODD>(v)` is `ScalarCast(float32, half,
    RoundMode.CAST_ODD, v)`. int32_t takes the modes RINT, FLOOR, CEIL, ROUND and TRUNC and clamps
    what does not fit (NaN becomes 0).
    """
    try:
        source, target = as_dtype(T), as_dtype(U)
    except RequestError as error:
        raise ContractError(f"ScalarCast: {error.message}") from None
    if not isinstance(roundMode, RoundMode):
        raise ContractError(f"ScalarCast: mode is {roundMode!r}: use RoundMode.CAST_RINT ...")
    if source is not float32 or target not in (*_FLOATS, int32):
        raise DtypeError(
            f"ScalarCast: no conversion {source}->{target}: it has float32 to float16, bfloat16 "
            f"and int32"
        )
    value = np.float32(_number("ScalarCast", valueIn))
    return _converted(value, target, roundMode)


@program()
def ScalarCountLeadingZero(valueIn: int) -> int:
    """Return how many zeros stand before the first one of a uint64 number; 64 for 0."""
    current_core()
    if isinstance(valueIn, bool) or not hasattr(valueIn, "__index__") or not 0 <= valueIn < 1 << 64:
        raise ContractError(f"ScalarCountLeadingZero: {valueIn!r} is no uint64 number")
    return 64 - int(valueIn).bit_length()


def _number(name: str, value: Any) -> float:
    current_core()
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ContractError(f"{name}: {value!r} is no number") from error


def _converted(value: np.float32, target: DType, mode: RoundMode) -> Any:
    array = np.array([value], np.float32)
    if target is int32:
        return _whole(array, mode)
    return cast.cast(array, target, mode, env=current_core().env)[0]


def _whole(array: np.ndarray, mode: RoundMode) -> int:
    if mode in (RoundMode.CAST_NONE, RoundMode.CAST_ODD):
        raise ContractError(
            f"ScalarCast: float32->int32 does not take {mode.name}: use CAST_RINT, CAST_FLOOR, "
            f"CAST_CEIL, CAST_ROUND or CAST_TRUNC"
        )
    if not np.isfinite(array[0]):
        return 0 if np.isnan(array[0]) else _INT32[int(array[0] > 0)]
    rounded = int(cast.cast(array, float32, mode)[0])
    return min(max(rounded, _INT32[0]), _INT32[1])
