"""aclTensor and aclScalar: what the first phase is given, and the calls that make them.

The calls have the arguments of the C interface without the counts. They give the handle, or None
when the arguments describe nothing; `acl.get_recent_err_msg()` then says why. Whether an operator
takes a tensor is decided by its first phase.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.host.acl import codes
from ascendsim.host.acl.device import AclError
from ascendsim.host.acl.runtime import RUNTIME, reports, whole
from ascendsim.host.aclnn.layout import Ints, Layout, row_major

BAD = codes.ACLNN_ERR_PARAM_INVALID
_NUMBERS = (bool, int, float, complex, np.number, np.bool_)
_COMPLEX = (codes.ACL_COMPLEX64, codes.ACL_COMPLEX128)


@dataclass(slots=True, eq=False)
class aclTensor:
    """A view on device memory: shape, strides and offset in elements, storage, type, format."""

    view_shape: Ints
    strides: Ints
    offset: int
    dtype: int
    format: int
    storage_shape: Ints
    address: int
    destroyed: bool = False

    @property
    def dtype_name(self) -> str:
        """Name of the element type."""
        return codes.DTYPE_NAMES[self.dtype]

    @property
    def nbytes_per_element(self) -> int:
        """Bytes of an element."""
        return codes.DTYPE_BYTES[self.dtype]

    def layout(self, dtype: DType) -> Layout:
        """Return where the elements lie; `dtype` is the tensor's type."""
        return Layout(dtype, self.view_shape, self.strides, self.offset, self.address)


@dataclass(slots=True, eq=False)
class aclScalar:
    """A number of one element type, rounded to it."""

    value: Any
    dtype: int
    destroyed: bool = False

    @property
    def dtype_name(self) -> str:
        """Name of the element type."""
        return codes.DTYPE_NAMES[self.dtype]


def aclCreateTensor(
    viewDims: Sequence[int],
    dataType: int,
    stride: Sequence[int] | None = None,
    offset: int = 0,
    format: int = codes.ACL_FORMAT_ND,
    storageDims: Sequence[int] | None = None,
    tensorData: int | None = 0,
) -> aclTensor | None:
    """Return a tensor on the device memory at `tensorData`.

    stride : in elements, None for row-major. storageDims : None for viewDims.
    """
    try:
        shape = _ints(viewDims, "viewDims")
        strides = row_major(shape) if stride is None else _ints(stride, "stride")
        storage = shape if storageDims is None else _ints(storageDims, "storageDims")
        if len(strides) != len(shape):
            raise AclError(BAD, f"stride has {len(strides)} numbers, viewDims has {len(shape)}")
        for name, dims in (("viewDims", shape), ("storageDims", storage)):
            if any(dim < 0 for dim in dims):
                raise AclError(BAD, f"{name} {dims} has a negative dimension")
        if whole(format, "format") not in codes.FORMAT_NAMES:
            raise AclError(BAD, f"format {format!r} is unknown")
        first, address = whole(offset, "offset"), whole(tensorData, "tensorData")
        return aclTensor(shape, strides, first, _dtype(dataType), format, storage, address)
    except AclError as error:
        RUNTIME.fail("aclCreateTensor", error)
        return None


def aclCreateScalar(value: Any, dataType: int) -> aclScalar | None:
    """Return a scalar; a number that a float type has not is rounded, nearest even."""
    try:
        return aclScalar(_number(value, _dtype(dataType)), dataType)
    except AclError as error:
        RUNTIME.fail("aclCreateScalar", error)
        return None


@reports(prefix="aclnn")
def aclDestroyTensor(tensor: aclTensor | None) -> None:
    """End a tensor; its memory is not freed."""
    _destroy(tensor, aclTensor)


@reports(prefix="aclnn")
def aclDestroyScalar(scalar: aclScalar | None) -> None:
    """End a scalar."""
    _destroy(scalar, aclScalar)


def is_null(handle: Any) -> bool:
    """Whether a handle is null: None, or the pointer 0."""
    return handle is None or (isinstance(handle, int) and handle == 0)


def _destroy(handle: Any, kind: type) -> None:
    if is_null(handle):
        raise AclError(codes.ACLNN_ERR_PARAM_NULLPTR, f"the {kind.__name__} is null")
    if not isinstance(handle, kind):
        raise AclError(BAD, f"{handle!r} is no {kind.__name__}")
    if handle.destroyed:  # type: ignore[attr-defined]
        raise AclError(codes.ACLNN_ERR_RUNTIME_ERROR, f"the {kind.__name__} was destroyed before")
    handle.destroyed = True  # type: ignore[attr-defined]


def _ints(values: Any, what: str) -> Ints:
    try:
        return tuple(whole(each, what) for each in values)
    except TypeError:
        raise AclError(BAD, f"{what} is {values!r}: integers are needed") from None


def _dtype(number: Any) -> int:
    if whole(number, "dataType") not in codes.DTYPE_NAMES:
        raise AclError(BAD, f"dataType {number!r} is unknown; use a constant like ACL_FLOAT")
    return int(number)


def _number(value: Any, dtype: int) -> Any:
    """Return `value` as the type holds it."""
    refused = AclError(BAD, f"scalar {value!r:.60} is no value of {codes.DTYPE_NAMES[dtype]}")
    is_complex = isinstance(value, (complex, np.complexfloating))
    if not isinstance(value, _NUMBERS) or (is_complex and dtype not in _COMPLEX):
        raise refused
    try:
        return _held(value, dtype)
    except (OverflowError, ValueError):
        raise refused from None


def _held(value: Any, dtype: int) -> Any:
    if dtype in _COMPLEX:
        return complex(value)
    if dtype == codes.ACL_BOOL:
        return bool(value)
    if dtype == codes.ACL_DOUBLE:
        return float(value)
    kind = codes.DTYPES[dtype]
    if kind.kind == "float":
        return float(kind.from_bits(kind.to_bits(float(value))))
    limits = np.iinfo(kind.numpy)
    if not math.isfinite(value) or int(value) != value or not limits.min <= value <= limits.max:
        raise ValueError
    return int(value)
