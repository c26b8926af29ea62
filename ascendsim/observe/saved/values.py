"""Numbers and names as JSON holds them, exactly, and the checks of what is read back.

A whole number beyond 2^53 is `{"int": "0x..."}`, since JavaScript would round it; an element type
`{"dtype": name}`; a number of a numpy type `{"type": name, "bits": "0x..."}`, and a Python float
too, as float64 of type "float". Everything else stands for itself.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ascendsim.dtypes import BY_NAME, DType, dtype

EXACT = 1 << 53  # above it a double skips whole numbers
_MOST_NAME = 4096


def plain(value: Any) -> Any:
    """Return `value` as JSON can hold it, to be read back the same.

    Raises
    ------
    TypeError
        When it is of a kind that records do not hold.
    """
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, np.generic):
        kind = value.dtype
        name = kind.name if kind in (np.float64, np.bool_) else dtype(kind).name
        word = int.from_bytes(np.asarray(value).tobytes(), "little")
        return {"type": name, "bits": hex(word)}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= EXACT else {"int": hex(value)}
    if isinstance(value, float):
        return {"type": "float", "bits": hex(int.from_bytes(struct.pack("<d", value), "little"))}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    raise TypeError(f"a record holds {value!r}, which has no place in the file")


def value_of(found: Any) -> Any:
    """Return what `plain` was given."""
    if isinstance(found, list):
        return [value_of(each) for each in found]
    if not isinstance(found, dict):
        return found
    if "dtype" in found:
        return type_of(found["dtype"])
    if "int" in found:
        return int(found["int"], 16)
    word, name = int(found["bits"], 16), found["type"]
    if name == "float":
        return struct.unpack("<d", word.to_bytes(8, "little"))[0]
    kind = np.dtype(name) if name in ("float64", "bool") else type_of(name).numpy
    return np.frombuffer(word.to_bytes(kind.itemsize, "little"), kind)[0]


def type_of(name: Any) -> DType:
    """Return the element type called `name`."""
    if not isinstance(name, str) or name not in BY_NAME:
        raise ValueError(f"there is no element type {name!r}")
    return BY_NAME[name]


def number(value: Any, low: int = 0, high: int = EXACT) -> int:
    """Return a whole number, found to lie in low..high."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{value!r} is no whole number from {low} to {high}")
    return value


def name_of(value: Any) -> str:
    """Return a name, found to be short and printable: it reaches terminals."""
    if not isinstance(value, str) or len(value) > _MOST_NAME or not value.isprintable():
        raise ValueError(f"{value!r:.80} is no name")
    return value


def plain_text(value: Any) -> str:
    """Return text of any length."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.80} is no text")
    return value
