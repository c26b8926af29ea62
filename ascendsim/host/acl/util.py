"""`acl.util`: pointers to host memory, with pyACL's names.

A call that fails gives 0 (or None), and `acl.get_recent_err_msg()` says why. An array must stay
alive while its pointer is used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ascendsim.host.acl import codes
from ascendsim.host.acl.device import AclError
from ascendsim.host.acl.runtime import RUNTIME, whole


def numpy_to_ptr(array: np.ndarray) -> int:
    """Return the address of a C-contiguous array."""
    try:
        return RUNTIME.host.register_array(array)
    except AclError as error:
        RUNTIME.fail("acl.util.numpy_to_ptr", error)
        return 0


def bytes_to_ptr(data: bytes | bytearray) -> int:
    """Return the address of a bytes or bytearray object; it is kept alive until acl.finalize."""
    try:
        return RUNTIME.host.register_bytes(data)
    except AclError as error:
        RUNTIME.fail("acl.util.bytes_to_ptr", error)
        return 0


def ptr_to_bytes(ptr: int, size: int) -> bytes | None:
    """Return a copy of `size` bytes of host memory."""
    try:
        address, nbytes = whole(ptr, "ptr"), whole(size, "size")
        return RUNTIME.host.bytes_at(address, nbytes, "ptr_to_bytes").tobytes()
    except AclError as error:
        RUNTIME.fail("acl.util.ptr_to_bytes", error)
        return None


def ptr_to_numpy(ptr: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray | None:
    """Return host memory as an array that shares it; a copy where the memory is a bytes object.

    `dtype` is numpy's, or its number (11: float32).
    """
    try:
        kind = _numpy_dtype(dtype)
        try:
            dims = tuple(whole(each, "shape") for each in shape)
        except TypeError:
            raise AclError(codes.ACL_ERROR_INVALID_PARAM, f"shape is {shape!r}") from None
        if any(each < 0 for each in dims):
            raise AclError(codes.ACL_ERROR_INVALID_PARAM, f"shape {dims} has a negative dimension")
        nbytes = math.prod(dims) * kind.itemsize
        address = whole(ptr, "ptr")
        found = RUNTIME.host.bytes_at(address, nbytes, "ptr_to_numpy").copy()
        owner = RUNTIME.host.owner_of(address, nbytes)
        if isinstance(owner, np.ndarray) and owner.flags.c_contiguous:
            first = address - int(owner.ctypes.data)
            found = owner.reshape(-1).view(np.uint8)[first : first + nbytes]
        return found.view(kind).reshape(dims)
    except AclError as error:
        RUNTIME.fail("acl.util.ptr_to_numpy", error)
        return None


def _numpy_dtype(dtype: Any) -> np.dtype:
    """Return numpy's type by its number in numpy's C interface, its name, or itself."""
    if not isinstance(dtype, int):
        try:
            if not np.dtype(dtype).hasobject:
                return np.dtype(dtype)
        except TypeError:
            pass
        raise AclError(codes.ACL_ERROR_INVALID_PARAM, f"dtype {dtype!r} is no type of numbers")
    for letter in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?":
        if np.dtype(letter).num == dtype:
            return np.dtype(letter)
    raise AclError(codes.ACL_ERROR_INVALID_PARAM, f"dtype {dtype} is no number of a numpy type")
