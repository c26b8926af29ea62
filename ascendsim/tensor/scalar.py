"""What both kinds of tensor share: offsets, and single elements through the scalar unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.enums import PIPE
from ascendsim.errors import BoundsError, ContractError
from ascendsim.isa.geometry import CopyShape
from ascendsim.record import UB, Access, Call, Store


def offset_of(what: str, index: Any, limit: int) -> Any:
    """Return the offset of `what[offset:]` as it was given, checked against `limit` elements."""
    if type(index) is slice and index.stop is None and index.step is None:
        start = index.start
        if type(start) is int and 0 <= start < limit:  # what nearly all kernels write
            return start
    if not isinstance(index, slice) or index.stop is not None or index.step not in (None, 1):
        raise ContractError(
            f"{what}[{index!r}]: write {what}[offset:] for the tensor that starts at offset, and "
            f"GetValue(i) for one element"
        )
    start = 0 if index.start is None else index.start
    if isinstance(start, bool) or not hasattr(start, "__index__"):
        raise ContractError(f"{what}[{start!r}:]: the offset must be an integer")
    if not 0 <= start < limit and start != 0:
        raise BoundsError(f"{what}[{start}:]: the offset must lie in 0..{limit - 1} elements")
    return start


def read_element(memory: np.ndarray, start: int, dtype: DType) -> Any:
    """Return one element: floats keep their type, integers are Python's."""
    value = memory[start : start + dtype.nbytes].view(dtype.numpy)[0]
    return value if dtype.kind == "float" else int(value)


def write_element(memory: np.ndarray, start: int, dtype: DType, bits: int) -> None:
    """Store the raw bits of one element."""
    memory[start : start + dtype.nbytes].view(dtype.bits)[0] = bits


def scalar_call(
    name: str, tensor: Any, start: int, writes: bool, memory: Any = None, bits: int = 0
) -> Call:
    """Return the call of GetValue, or of SetValue when it writes `bits`."""
    role, dtype = ("dst" if writes else "src0"), tensor.dtype
    at = Access(role, tensor.space, tensor.holder, start, dtype, writes, dtype.nbytes, 0, 0)

    place = "" if tensor.space == UB else tensor.holder.name

    def execute(address: int, scalar: float) -> None:
        write_element(memory, start, dtype, bits)

    return Call(
        name,
        PIPE.PIPE_S,
        tensor.core,
        (at,),
        execute if writes else None,
        encode=lambda value: 0.0,
        row=Store(place, start, dtype.nbytes, bits),
        geometry=CopyShape(1),
        fields={"dtype": dtype, "count": 1},
    )
