"""GlobalTensor and LocalTensor: typed windows on GM and UB.

A LocalTensor is made once per (buffer, type, offset) and found again, since identity is what
makes a bound call cheap to find. Its bytes never change place; only the buffer's state does.
Source of the rules: asc-devkit impl/basic_api, tensor headers, and the data structure pages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.core import observed
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import PIPE
from ascendsim.errors import BoundsError, ContractError, QueueError
from ascendsim.isa.geometry import CopyShape
from ascendsim.memory import Allocation
from ascendsim.record import GM, UB, Access, Call, current_core

MAX_SLICES = 256  # sub-tensors kept per tensor before the table is cleared
MAX_GM_ELEMENTS = 1 << 62


def _offset(what: str, index: Any, limit: int) -> int:
    if not isinstance(index, slice) or index.stop is not None or index.step not in (None, 1):
        raise ContractError(
            f"{what}[{index!r}]: write {what}[offset:] for the tensor that starts at offset, and "
            f"GetValue(i) for one element"
        )
    start = 0 if index.start is None else index.start
    if isinstance(start, bool) or not hasattr(start, "__index__"):
        raise ContractError(f"{what}[{start!r}:]: the offset must be an integer")
    start = int(start)
    if not 0 <= start < limit and start != 0:
        raise BoundsError(f"{what}[{start}:]: the offset must lie in 0..{limit - 1} elements")
    return start


class LocalTensor:
    """`count` elements of `dtype` at byte `start` of UB.

    address : absolute byte address; nbytes : bytes of the window; calls : bound calls with this
    destination; buffer : the queue slot or TBuf that the bytes belong to.
    """

    __slots__ = (
        "address",
        "buffer",
        "calls",
        "core",
        "count",
        "dtype",
        "nbytes",
        "slices",
        "start",
    )
    space = UB

    def __init__(self, core: Any, buffer: Any, dtype: DType, start: int, nbytes: int) -> None:
        self.core, self.buffer, self.dtype = core, buffer, dtype
        self.start, self.address = start, core.ub.base + start
        self.count = nbytes // dtype.nbytes
        self.nbytes = nbytes
        self.calls: dict[Any, Call] = {}
        self.slices: dict[Any, LocalTensor] = {}

    @property
    def holder(self) -> Any:
        """The buffer that the bytes belong to (as a record names it)."""
        return self.buffer

    def __repr__(self) -> str:
        stop = self.start + self.nbytes
        return f"{self.buffer.name} {self.dtype} UB[{self.start:#x}, {stop:#x})"

    def __getitem__(self, index: slice) -> LocalTensor:
        """Return the tensor that starts `offset` elements further on: `t[offset:]`."""
        offset = _offset("LocalTensor", index, self.count)
        return self._view(self.dtype, offset * self.dtype.nbytes) if offset else self

    def ReinterpretCast(self, T: Any) -> LocalTensor:
        """Return the same bytes as elements of `T`."""
        return self._view(as_dtype(T), 0)

    def _view(self, dtype: DType, shift: int) -> LocalTensor:
        key = (dtype, shift, self.nbytes)
        found = self.slices.get(key)
        if found is None:
            if len(self.slices) >= MAX_SLICES:
                self.slices.clear()
            nbytes = self.nbytes - shift
            found = LocalTensor(self.core, self.buffer, dtype, self.start + shift, nbytes)
            self.slices[key] = found
        return found

    def GetSize(self) -> int:
        """Return the number of elements."""
        return self.count

    def SetSize(self, size: int) -> None:
        """Set the number of elements that the tensor claims (at most the buffer's)."""
        nbytes = size * self.dtype.nbytes
        room = self.buffer.start + self.buffer.nbytes - self.start
        if not 0 <= nbytes <= room:
            raise BoundsError(
                f"SetSize({size}): {self!r} has room for {room // self.dtype.nbytes} elements"
            )
        self.buffer.forget(self)  # other holders of these bytes keep the size that they know
        self.calls, self.slices = {}, {}
        self.count, self.nbytes = size, nbytes

    def GetPhyAddr(self, offset: int = 0) -> int:
        """Return the byte address in UB of element `offset`."""
        return self.start + offset * self.dtype.nbytes

    def GetValue(self, index: int) -> Any:
        """Read one element on the scalar pipe (floats keep their type, integers are Python's)."""
        start = self._element("GetValue", index)
        core = self.core
        if core.readers:
            if not core.executing:
                raise ContractError("GetValue: this run makes records only; run it with data")
            observed(core, _scalar_call("GetValue", self, start, False))
        return _value(core.ub.array, start, self.dtype)

    def SetValue(self, index: int, value: Any) -> None:
        """Write one element on the scalar pipe, rounded to the type."""
        start = self._element("SetValue", index)
        core, bits = self.core, self.dtype.to_bits(value)
        call = None
        if core.readers:
            call = _scalar_call("SetValue", self, start, True, core.ub.array, bits)
            observed(core, call, value)
        else:
            _store(core.ub.array, start, self.dtype, bits)

    def _element(self, name: str, index: Any) -> int:
        if not self.buffer.state:
            raise QueueError(f"{name}: {self!r} was freed; read it before FreeTensor")
        if not hasattr(index, "__index__") or not 0 <= index < self.count:
            raise BoundsError(f"{name}({index!r}): {self!r} has elements 0..{self.count - 1}")
        return self.start + int(index) * self.dtype.nbytes


class GmAddress:
    """An untyped GM argument of a kernel: an allocation, a byte offset and the tensor's dtype.

    `address[offset:]` and `address + offset` move by elements of `dtype`.
    """

    __slots__ = ("allocation", "dtype", "start")

    def __init__(self, allocation: Allocation, start: int = 0, dtype: DType | None = None) -> None:
        self.allocation, self.start = allocation, start
        self.dtype = dtype or allocation.dtype

    def __add__(self, offset: int) -> GmAddress:
        if isinstance(offset, bool) or not hasattr(offset, "__index__"):
            raise ContractError(f"GM address + {offset!r}: the offset must be an integer")
        return GmAddress(self.allocation, self.start + int(offset) * self.dtype.nbytes, self.dtype)

    def __getitem__(self, index: slice) -> GmAddress:
        return self + _offset(self.allocation.name, index, MAX_GM_ELEMENTS)

    def cast(self, T: Any) -> GmAddress:
        """Return the same address as a pointer to `T`."""
        return GmAddress(self.allocation, self.start, as_dtype(T))

    def __repr__(self) -> str:
        return f"GM {self.allocation.name}+{self.start:#x}"


class GlobalTensor:
    """A typed window on GM: `SetGlobalBuffer` says where; copies check the real allocation."""

    __slots__ = ("core", "count", "dtype", "holder", "start")
    space = GM

    def __init__(self, T: Any = None) -> None:
        self.dtype: DType = None if T is None else as_dtype(T)  # type: ignore[assignment]
        self.holder: Allocation = None  # type: ignore[assignment]
        self.core: Any = None
        self.start = self.count = 0

    def SetGlobalBuffer(self, address: GmAddress, count: int = 0) -> None:
        """Set where the tensor starts and how many elements the kernel means to use."""
        if not isinstance(address, GmAddress):
            raise ContractError(
                f"SetGlobalBuffer: {address!r} is no GM address: pass a GM argument of the kernel"
            )
        self.core = current_core()
        self.holder, self.start, self.count = address.allocation, address.start, int(count)
        self.dtype = self.dtype or address.dtype
        if self.core.readers:
            at = Access("dst", GM, self.holder, self.start, self.dtype, False, 0, 0, 0)
            fields = {"dtype": self.dtype, "count": self.count}
            observed(self.core, Call("SetGlobalBuffer", PIPE.PIPE_S, self.core, (at,), fields=fields))

    @property
    def address(self) -> int:
        """Absolute byte address of the first element."""
        return self.holder.address + self.start

    def __repr__(self) -> str:
        if self.holder is None:
            return "GlobalTensor without SetGlobalBuffer"
        return f"GM {self.holder.name} {self.dtype} from byte {self.start:#x}"

    def __getitem__(self, index: slice) -> GlobalTensor:
        """Return the tensor `offset` elements further on; its size stays (as in Ascend C)."""
        offset = _offset("GlobalTensor", index, MAX_GM_ELEMENTS)
        moved = GlobalTensor(self.dtype)
        moved.core, moved.holder, moved.count = self.core, self.holder, self.count
        moved.start = self.start + offset * self.dtype.nbytes
        return moved

    def GetSize(self) -> int:
        """Return the element count given to SetGlobalBuffer (0 without one)."""
        return self.count

    def GetPhyAddr(self, offset: int = 0) -> GmAddress:
        """Return the GM address of element `offset`."""
        return GmAddress(self.holder, self.start, self.dtype) + offset

    def GetValue(self, index: int) -> Any:
        """Read one element through the scalar unit."""
        start = self._element("GetValue", index, store=False)
        if self.core.readers:
            if not self.core.executing:
                raise ContractError("GetValue: this run makes records only; run it with data")
            observed(self.core, _scalar_call("GetValue", self, start, False))
        return _value(self.holder.memory, start, self.dtype)

    def SetValue(self, index: int, value: Any) -> None:
        """Write one element through the scalar unit, rounded to the type."""
        start = self._element("SetValue", index, store=True)
        bits = self.dtype.to_bits(value)
        self.holder.writes.append((start, start + self.dtype.nbytes))
        if self.core.readers:
            call = _scalar_call("SetValue", self, start, True, self.holder.memory, bits)
            observed(self.core, call, value)
        else:
            _store(self.holder.memory, start, self.dtype, bits)

    def _element(self, name: str, index: Any, store: bool) -> int:
        if not hasattr(index, "__index__"):
            raise BoundsError(f"{name}({index!r}): the index must be an integer")
        shift = int(index) * self.dtype.nbytes
        self.touch(name, "element", shift + self.dtype.nbytes, store, shift)
        return self.start + shift

    def touch(self, name: str, role: str, reach: int, store: bool, shift: int = 0) -> None:
        """Check that bytes [shift, reach) from the start lie in the allocation; count slack.

        Raises
        ------
        BoundsError
            Beyond the slack behind the tensor, or before the tensor.
        """
        holder = self.holder
        if holder is None:
            raise ContractError(f"{name}: {role} has no SetGlobalBuffer")
        stop = self.start + reach
        if 0 <= self.start + shift and stop <= holder.nbytes:
            return
        if self.start + shift < 0 or stop > holder.nbytes + holder.slack:
            raise BoundsError(
                f"{name}: {role} reaches {holder.name}[{self.start + shift:#x}, {stop:#x}) but the "
                f"tensor has {holder.nbytes:#x} bytes (and {holder.slack} of slack); check "
                f"offset, count and tiling"
            )
        if store:
            holder.slack_written = max(holder.slack_written, stop - holder.nbytes)
        else:
            holder.slack_read = max(holder.slack_read, stop - holder.nbytes)


def _value(memory: np.ndarray, start: int, dtype: DType) -> Any:
    value = memory[start : start + dtype.nbytes].view(dtype.numpy)[0]
    return value if dtype.kind == "float" else int(value)


def _store(memory: np.ndarray, start: int, dtype: DType, bits: int) -> None:
    memory[start : start + dtype.nbytes].view(dtype.bits)[0] = bits


def _scalar_call(
    name: str, tensor: Any, start: int, writes: bool, memory: Any = None, bits: int = 0
) -> Call:
    role, dtype = ("dst" if writes else "src0"), tensor.dtype
    at = Access(role, tensor.space, tensor.holder, start, dtype, writes, dtype.nbytes, 0, 0)

    def execute(address: int, scalar: float) -> None:
        _store(memory, start, dtype, bits)

    return Call(
        name,
        PIPE.PIPE_S,
        tensor.core,
        (at,),
        execute if writes else None,
        encode=lambda value: 0.0,
        geometry=CopyShape(1),
        fields={"dtype": dtype, "count": 1},
    )
