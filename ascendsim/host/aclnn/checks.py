"""The checks of a first phase, in their order; the first that fails gives code and reason.

Null (161001), runtime and handles (361001), chip, element types, format, rank, shape, layout (all
161002). The order of null, types, rank and shape is that of the published host code; what it does
not check (storage, strides, allocation, overlap) is refused as 161002 here, which is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ascendsim.dtypes import DType, bfloat16, float16, float32
from ascendsim.host.acl import codes
from ascendsim.host.acl.device import AclError, DeviceMemory
from ascendsim.host.acl.runtime import RUNTIME
from ascendsim.host.aclnn.declare import EQUAL, MAX_RANK, Aclnn
from ascendsim.host.aclnn.handles import aclScalar, aclTensor, is_null
from ascendsim.host.aclnn.layout import Layout

NULL = codes.ACLNN_ERR_PARAM_NULLPTR
INVALID = codes.ACLNN_ERR_PARAM_INVALID
RUNTIME_ERROR = codes.ACLNN_ERR_RUNTIME_ERROR
FLOATS = (float32, float16, bfloat16)
INT64_MAX = (1 << 63) - 1
COMPLEX = (codes.ACL_COMPLEX64, codes.ACL_COMPLEX128)
Given = Mapping[str, Any]


def promoted(*dtypes: DType) -> DType:
    """Return the type that float types are computed in together (assumed, as is usual).

    float with anything gives float; half and bfloat16 give float.
    """
    return dtypes[0] if all(each is dtypes[0] for each in dtypes) else float32


def check(call: Aclnn, given: Given, soc: str) -> dict[str, Layout]:
    """Return the layout of every tensor.

    Raises
    ------
    AclError
        At the first check that fails, with the code of the call.
    """
    check_null(call, given)
    check_alive(call, given)
    if soc not in call.dtypes:
        raise AclError(INVALID, f"not supported on {soc}: {', '.join(call.dtypes)} have it")
    dtypes = check_dtypes(call, given, soc)
    check_formats(call, given)
    check_shapes(call, given)
    layouts = {t.name: given[t.name].layout(dtypes[t.name]) for t in call.tensors}
    for param in call.tensors:
        check_layout(param.name, given[param.name], layouts[param.name], param.output)
        if layouts[param.name].size:
            check_memory(param.name, given[param.name], RUNTIME.memory)
    check_overlap(call, layouts)
    return layouts


def check_null(call: Aclnn, given: Given) -> None:
    """Refuse a null tensor; a scalar may be null."""
    for param in call.tensors:
        if is_null(given[param.name]):
            raise AclError(NULL, f"{param.name} is null")


def check_alive(call: Aclnn, given: Given) -> None:
    """Refuse calls before init, what is no handle, and destroyed handles."""
    RUNTIME.need_init(RUNTIME_ERROR)
    for param in call.params:
        handle = given[param.name]
        kind = aclTensor if param in call.tensors else aclScalar
        if kind is aclScalar and is_null(handle):
            continue
        if not isinstance(handle, kind):
            raise AclError(INVALID, f"{param.name} is {handle!r}: no {kind.__name__}")
        if handle.destroyed:
            raise AclError(RUNTIME_ERROR, f"{param.name} was destroyed before this call")


def check_dtypes(call: Aclnn, given: Given, soc: str) -> dict[str, DType]:
    """Return the element type of every tensor."""
    allowed = call.dtypes[soc]
    found: dict[str, DType] = {}
    for param in call.tensors:
        name = given[param.name].dtype_name
        if name not in allowed:
            raise AclError(
                INVALID, f"{param.name} is {name}: on {soc} it can be {', '.join(allowed)}"
            )
        found[param.name] = codes.DTYPES[given[param.name].dtype]
    if call.relation == EQUAL and len(set(found.values())) > 1:
        text = ", ".join(f"{name} {dtype}" for name, dtype in found.items())
        raise AclError(INVALID, f"element types differ: {text}; all tensors have one type")
    for scalar in call.scalars:
        handle = given[scalar.name]
        if not is_null(handle) and handle.dtype in COMPLEX:
            raise AclError(
                INVALID, f"{scalar.name} is {handle.dtype_name}: it cannot be cast to float"
            )
    return found


def check_formats(call: Aclnn, given: Given) -> None:
    """Refuse a format that the call does not take, or two different ones."""
    names = {t.name: codes.FORMAT_NAMES[given[t.name].format] for t in call.tensors}
    for name, form in names.items():
        if form not in call.formats:
            raise AclError(INVALID, f"{name} has format {form}: use {', '.join(call.formats)}")
    if len(set(names.values())) > 1:
        text = ", ".join(f"{name} {form}" for name, form in names.items())
        raise AclError(INVALID, f"formats differ: {text}; all tensors have the same")


def check_shapes(call: Aclnn, given: Given) -> None:
    """Refuse ranks above 8 and shapes that do not agree."""
    for param in call.tensors:
        rank = len(given[param.name].view_shape)
        if rank > MAX_RANK:
            raise AclError(INVALID, f"{param.name} has rank {rank}: at most {MAX_RANK} is allowed")
    for one, other in call.shapes:
        first, second = given[one].view_shape, given[other].view_shape
        if first != second:
            raise AclError(INVALID, f"{one} has shape {first}, {other} has {second}: not the same")


def check_layout(name: str, tensor: aclTensor, layout: Layout, output: bool) -> None:
    """Refuse a view that its storage does not hold, or that no copy could follow."""
    for what, shape in (("shape", tensor.view_shape), ("storage shape", tensor.storage_shape)):
        if math.prod(shape) > INT64_MAX or max(shape, default=0) > INT64_MAX:
            raise AclError(INVALID, f"{name}: {what} {shape} has 2^63 elements or more")
    if tensor.offset < 0:
        raise AclError(INVALID, f"{name}: offset {tensor.offset} is below 0")
    if any(stride < 0 for stride in tensor.strides):
        raise AclError(INVALID, f"{name}: strides {tensor.strides} go backwards")
    storage = math.prod(tensor.storage_shape)
    if layout.size and tensor.offset + layout.span > storage:
        raise AclError(
            INVALID,
            f"{name}: the view reaches element {tensor.offset + layout.span - 1}, but its storage "
            f"{tensor.storage_shape} has {storage}",
        )
    if output and layout.size and 0 in tensor.strides:
        raise AclError(INVALID, f"{name}: strides {tensor.strides} with 0 cannot be written to")
    if tensor.format != codes.ACL_FORMAT_ND and not layout.contiguous:
        form = codes.FORMAT_NAMES[tensor.format]
        raise AclError(INVALID, f"{name}: a tensor of format {form} cannot be strided")


def check_memory(name: str, tensor: aclTensor, memory: DeviceMemory) -> None:
    """Refuse storage that does not lie in one living allocation."""
    nbytes = math.prod(tensor.storage_shape) * tensor.nbytes_per_element
    try:
        memory.bytes_at(tensor.address, nbytes, name)
    except AclError as error:
        raise AclError(RUNTIME_ERROR if error.freed else INVALID, error.message) from None


def check_overlap(call: Aclnn, layouts: Mapping[str, Layout]) -> None:
    """Refuse an output that lies over itself, or partly over another tensor.

    The same view as an input is allowed. All views lie in memory by now, so they can be counted.
    """
    for output in call.outputs:
        if not layouts[output.name].size:
            continue
        if layouts[output.name].repeats:
            raise AclError(
                INVALID,
                f"{output.name}: strides {layouts[output.name].strides} give two elements one "
                f"address",
            )
        for name, other in _others(layouts, output.name):
            if layouts[output.name].collides(other):
                raise AclError(
                    INVALID, f"{output.name} and {name} overlap, and are not the same view"
                )


def _others(layouts: Mapping[str, Layout], output: str) -> Iterator[tuple[str, Layout]]:
    return ((name, layout) for name, layout in layouts.items() if name != output)
