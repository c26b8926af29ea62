"""Element types, once, under the names of Ascend C and of numpy.

A type is one shared object, so identity is equality and hashing costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ascendsim.errors import RequestError, UnsupportedError


@dataclass(frozen=True, eq=False, slots=True)
class DType:
    """One element type.

    `name` as in numpy, `ascend` as in Ascend C, `nbytes` per element, `numpy` the array type of
    values, `bits` the unsigned array type of raw patterns, `kind` one of float, int, uint.
    """

    name: str
    ascend: str
    nbytes: int
    kind: str
    numpy: np.dtype
    bits: np.dtype

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.nbytes

    def to_bits(self, value: float) -> int:
        """Round a Python or numpy number to this type (nearest even) and return its raw bits.

        A number that has this type already keeps them, NaN payloads included.
        """
        if type(value) is self.numpy.type:
            return int(np.asarray(value).view(self.bits))
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kind == "float":
                exact: np.floating = np.float64(value)
                if self.numpy == ml_dtypes.bfloat16:
                    exact = _round_to_odd(exact)
                return int(exact.astype(self.numpy).view(self.bits))
            return int(value) & ((1 << (8 * self.nbytes)) - 1)

    def from_bits(self, bits: int) -> np.generic:
        """Return the value that the raw pattern `bits` stands for."""
        return np.array([bits], self.bits).view(self.numpy)[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype, (self.name,)  # the one object there is of this type

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


def _round_to_odd(value: np.floating) -> np.float32:
    """Round to float32 so that rounding once more, to fewer bits, is as good as rounding once."""
    near = np.float32(value)
    if np.float64(near) == value or not np.isfinite(near):
        return near
    bits = near.view(np.uint32)
    if abs(np.float64(near)) > abs(value):
        bits -= np.uint32(1)
    return (bits | np.uint32(1)).view(np.float32)


def _make(name: str, ascend: str, kind: str, array_type: Any) -> DType:
    dt = np.dtype(array_type)
    return DType(name, ascend, dt.itemsize, kind, dt, np.dtype(f"u{dt.itemsize}"))


float32 = _make("float32", "float", "float", np.float32)
float16 = half = _make("float16", "half", "float", np.float16)
bfloat16 = bfloat16_t = _make("bfloat16", "bfloat16_t", "float", ml_dtypes.bfloat16)
int8 = int8_t = _make("int8", "int8_t", "int", np.int8)
int16 = int16_t = _make("int16", "int16_t", "int", np.int16)
int32 = int32_t = _make("int32", "int32_t", "int", np.int32)
int64 = int64_t = _make("int64", "int64_t", "int", np.int64)
uint8 = uint8_t = _make("uint8", "uint8_t", "uint", np.uint8)
uint16 = uint16_t = _make("uint16", "uint16_t", "uint", np.uint16)
uint32 = uint32_t = _make("uint32", "uint32_t", "uint", np.uint32)
uint64 = uint64_t = _make("uint64", "uint64_t", "uint", np.uint64)

ALL = (float32, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64)
BY_NAME = {t.name: t for t in ALL} | {t.ascend: t for t in ALL} | {"bool": uint8}
# types of Ascend C that kernels may name, by their own names
NOT_MODELLED = (
    "int4b_t",
    "fp4x2_e2m1_t",
    "fp4x2_e1m2_t",
    "fp8_e4m3fn_t",
    "fp8_e5m2_t",
    "fp8_e8m0_t",
    "hifloat8_t",
    "double",
    "complex32",
    "complex64",
)
_BY_NUMPY = {t.numpy: t for t in ALL} | {np.dtype(bool): uint8}


def dtype(name: Any) -> DType:
    """Return the element type called `name`: our name, an Ascend C name, a numpy dtype or a DType.

    Raises
    ------
    RequestError
        When there is no such type; the text lists the names.
    """
    if isinstance(name, DType):
        return name
    if isinstance(name, str):
        found = BY_NAME.get(name)
    else:
        try:
            found = _BY_NUMPY.get(np.dtype(name).newbyteorder("="))
        except TypeError:
            found = None
    if found is None and isinstance(name, str) and name in NOT_MODELLED:
        raise UnsupportedError(
            f"elements of type {name} are not modelled; Cast from and to it neither"
        )
    if found is None:
        raise RequestError(
            f"dtype {_shown(name)} is unknown; use one of {', '.join(t.name for t in ALL)}"
        )
    return found


def _shown(name: Any) -> str:
    return str(name) if isinstance(name, np.dtype) else repr(name)
