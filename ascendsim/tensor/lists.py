"""ListTensorDesc and TensorDesc: how a kernel finds the tensors of a dynamic input or output.

On the chip the argument is the address of a table in GM (an offset, a description per tensor, a
pointer per tensor) that the scalar unit reads; here it is the list of addresses, and reading it
leaves no record.
Source: asc-devkit docs, ListTensorDesc page (documented).
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import BoundsError, ContractError
from ascendsim.record import current_core
from ascendsim.tensor.gm import GlobalTensor, GmAddress


class GmAddressList:
    """A GM argument of a kernel that is a list of tensors."""

    __slots__ = ("addresses",)

    def __init__(self, addresses: Sequence[GmAddress]) -> None:
        self.addresses = tuple(addresses)

    def __repr__(self) -> str:
        return f"list of {len(self.addresses)} GM tensors"


class ListTensorDesc:
    """Finds the tensors of a list by their number."""

    def __init__(self, data: GmAddressList | None = None, *_: Any) -> None:
        self._list: GmAddressList | None = None
        if data is not None:
            self.Init(data)

    def Init(self, data: GmAddressList, length: int = 0, shapeSize: int = 0) -> None:
        """Take a GM argument; `length` and `shapeSize` are checks that hardware leaves out too."""
        current_core()
        if not isinstance(data, GmAddressList):
            raise ContractError(
                f"ListTensorDesc: {data!r} is no tensor list: name it in OpDef(lists=...) and run "
                f"op.with_lists(NAME=number), or --list NAME=number on the command line"
            )
        self._list = data

    def GetSize(self) -> int:
        """Return how many tensors the list has."""
        return len(self._known().addresses)

    def GetDataPtr(self, T: Any, index: int) -> GmAddress:
        """Return the address of a tensor: `GetDataPtr<T>(i)` is `GetDataPtr(T, i)`."""
        return self._known().addresses[self._number(index)].cast(T)

    def GetDesc(self, desc: TensorDesc, index: int) -> None:
        """Fill a TensorDesc with the shape, number and address of a tensor. Not on 910."""
        if current_core().soc.arch == "c100":
            raise ContractError("GetDesc: not available on 910; take shapes from the tiling")
        number = self._number(index)
        desc.fill(self._known().addresses[number], number)

    def _known(self) -> GmAddressList:
        if self._list is None:
            raise ContractError("ListTensorDesc: call Init(x) with a GM argument first")
        return self._list

    def _number(self, number: Any) -> int:
        count = len(self._known().addresses)
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise ContractError(f"ListTensorDesc: index is {number!r}: it must be an integer")
        if not 0 <= number < count:
            raise BoundsError(f"ListTensorDesc: index is {number}: the list has {count} tensors")
        return index(number)


class TensorDesc:
    """What ListTensorDesc.GetDesc says of a tensor."""

    def __init__(self, T: Any) -> None:
        self._dtype = as_dtype(T)
        self._shape: list[int] | None = None
        self._address: GmAddress | None = None
        self._index = 0

    def SetShapeAddr(self, shape: list[int]) -> None:
        """Name the list that takes the shape (a uint64_t array in Ascend C)."""
        if not isinstance(shape, list):
            raise ContractError(f"SetShapeAddr: {shape!r} is no list; pass one, [0] * 8 say")
        self._shape = shape

    def fill(self, address: GmAddress, index: int) -> None:
        """Take what GetDesc found."""
        if self._shape is None:
            raise ContractError("GetDesc: call SetShapeAddr(list) of the TensorDesc first")
        dims = address.allocation.shape
        if len(self._shape) < len(dims):
            raise BoundsError(
                f"GetDesc: the shape has {len(dims)} dimensions, more than the {len(self._shape)} "
                f"numbers given to SetShapeAddr"
            )
        self._shape[: len(dims)] = dims
        self._address, self._index = address, index

    def GetDim(self) -> int:
        """Return the number of dimensions."""
        return len(self._filled().allocation.shape)

    def GetShape(self, offset: int) -> int:
        """Return one dimension."""
        dims = self._filled().allocation.shape
        if not 0 <= offset < len(dims):
            raise BoundsError(f"GetShape({offset}): the tensor has {len(dims)} dimensions")
        return int(dims[offset])

    def GetIndex(self) -> int:
        """Return the tensor's number in the list."""
        self._filled()
        return self._index

    def GetDataPtr(self) -> GmAddress:
        """Return the tensor's address."""
        return self._filled().cast(self._dtype)

    def GetDataObj(self) -> GlobalTensor:
        """Return the tensor as a GlobalTensor."""
        tensor = GlobalTensor(self._dtype)
        tensor.SetGlobalBuffer(self.GetDataPtr())
        return tensor

    def _filled(self) -> GmAddress:
        if self._address is None:
            raise ContractError("TensorDesc is empty: call ListTensorDesc.GetDesc(desc, i) first")
        return self._address
