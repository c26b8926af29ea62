"""Arrays in and out: npz files of raw bits.

16-bit floats travel as raw bits in uint16, float32 as uint32 or float32, integers as themselves;
values typed float16 or bfloat16 are taken as well. Everything else about a file that is not as it
should be is one RequestError.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ascendsim.cli.show import warn
from ascendsim.dtypes import BY_NAME, DType
from ascendsim.errors import RequestError

_BROKEN = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, KeyError, SyntaxError)


def read_inputs(name: str, wanted: Mapping[str, DType]) -> dict[str, np.ndarray]:
    """Return the arrays `wanted` (name to type) of the npz file `name`, as values.

    Raises
    ------
    RequestError
        When the file is missing, truncated or no npz, lacks an array, or holds another type.
    """
    try:
        with open(name, "rb") as file:  # numpy leaves its own file open when the zip is damaged
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise RequestError(
                    f"--input {name}: a single array; write it with numpy.savez by name"
                )
            return _members(archive, name, wanted)
    except FileNotFoundError:
        raise RequestError(f"--input {name}: there is no such file") from None
    except _BROKEN as error:
        raise RequestError(f"--input {name}: {_reason(error)}") from error


def write_outputs(path: Path, outputs: Mapping[str, np.ndarray]) -> None:
    """Write the arrays to `path` as raw bits: uint16 for 16-bit floats, uint32 for float32."""
    # not numpy.savez: an output may be called `file`, as an argument of that function is
    with (
        path.open("wb") as file,
        zipfile.ZipFile(_target(path, file), "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, array in outputs.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, raw_bits(array), allow_pickle=False)


class _Stream:
    """A file that can only be written on; a device claims positions that it does not have."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush


def _target(path: Path, file: IO[bytes]) -> Any:
    return file if path.is_file() else _Stream(file)


def raw_bits(array: np.ndarray) -> np.ndarray:
    """Return float values as the unsigned integers of their bits; integers stay."""
    if array.dtype.kind in "iub":
        return array
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def _members(archive: Any, name: str, wanted: Mapping[str, DType]) -> dict[str, np.ndarray]:
    missing = [array for array in wanted if array not in archive.files]
    if missing:
        raise RequestError(
            f"--input {name}: lacks {', '.join(missing)}; it holds "
            f"{', '.join(archive.files) or 'nothing'}, the operator reads {', '.join(wanted)}"
        )
    if extra := [array for array in archive.files if array not in wanted]:
        warn(f"--input {name}: {', '.join(extra)} not used; the operator reads {', '.join(wanted)}")
    return {array: _member(archive, name, array, wanted[array]) for array in wanted}


def _member(archive: Any, file: str, name: str, dtype: DType) -> np.ndarray:
    try:
        array = archive[name]
    except MemoryError:
        raise RequestError(f"--input {file}: array {name} does not fit into memory") from None
    except _BROKEN as error:
        raise RequestError(f"--input {file}: array {name}: {_reason(error)}") from error
    if not isinstance(array, np.ndarray):
        raise RequestError(f"--input {file}: {name} is no array of numpy")
    return _as_values(array, file, name, dtype)


def _as_values(array: np.ndarray, file: str, name: str, dtype: DType) -> np.ndarray:
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == dtype.numpy:
        return array
    raw = array.dtype == dtype.bits if dtype.kind == "float" else False
    # numpy writes a bfloat16 array as two bytes without a meaning
    nameless = dtype.kind == "float" and array.dtype == np.dtype(f"V{dtype.nbytes}")
    flag = array.dtype == bool and dtype.name == "uint8"
    if raw or nameless or flag:
        return np.ascontiguousarray(array).view(dtype.numpy).reshape(array.shape)
    right = dtype.numpy if dtype.kind != "float" else f"raw bits {dtype.bits} or {dtype.name}"
    raise RequestError(
        f"--input {file}: array {name} holds {array.dtype}; for --dtype {dtype.name} it must "
        f"hold {right}{_other_type(array, dtype)}"
    )


def _other_type(array: np.ndarray, dtype: DType) -> str:
    own = BY_NAME.get(array.dtype.name)
    if own is None or own.kind != dtype.kind:  # integers may be meant as raw bits
        return ""
    return f"; for the array as it is give --dtype {own.name}"


def _reason(error: Exception) -> str:
    text = str(error).strip("'\"")
    if isinstance(error, (zipfile.BadZipFile, zlib.error, EOFError)):
        return f"damaged or no npz file ({text or 'it ends too early'})"
    if "pickle" in text.lower() or "object arrays" in text.lower():
        return "not an npz file of plain arrays (pickled objects are never loaded)"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror}"
    return f"cannot be read as npz ({text})"
