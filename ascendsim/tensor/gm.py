"""GmAddress and GlobalTensor: a kernel's GM arguments and typed windows on them."""

from __future__ import annotations

from typing import Any

from ascendsim.core import observed, require_data
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import PIPE, CacheMode
from ascendsim.errors import BoundsError, ContractError
from ascendsim.isa.symbolic import BlockNumber
from ascendsim.memory import GM_FAST_START, Allocation
from ascendsim.record import GM, Access, Call, Span, current_core
from ascendsim.tensor.scalar import offset_of, read_element, scalar_call, write_element

MAX_GM_ELEMENTS = 1 << 62


def _elements(offset: Any, dtype: DType) -> int:
    """Return a GM offset as a plain int; of a block number only its alignment matters."""
    if isinstance(offset, BlockNumber):
        return offset.residue(dtype.nbytes, GM_FAST_START)
    return int(offset)


class GmAddress:
    """An untyped GM argument of a kernel: an allocation, a byte offset and the tensor's dtype.

    `address[offset:]` and `address + offset` move by elements of `dtype`.
    """

    __slots__ = ("allocation", "dtype", "start")

    def __init__(self, allocation: Allocation, start: int = 0, dtype: DType | None = None) -> None:
        self.allocation, self.start = allocation, start
        self.dtype = dtype or allocation.dtype

    def __add__(self, offset: int) -> GmAddress:
        if type(offset) is not int:
            if isinstance(offset, bool) or not hasattr(offset, "__index__"):
                raise ContractError(f"GM address + {offset!r}: the offset must be an integer")
            offset = _elements(offset, self.dtype)
        start = self.start + offset * self.dtype.nbytes
        return GmAddress(self.allocation, start, self.dtype)

    def __getitem__(self, index: slice) -> GmAddress:
        return self + offset_of(self.allocation.name, index, MAX_GM_ELEMENTS)

    def cast(self, T: Any) -> GmAddress:
        """Return the same address as a pointer to `T`."""
        return GmAddress(self.allocation, self.start, as_dtype(T))

    def __repr__(self) -> str:
        return f"GM {self.allocation.name}+{self.start:#x}"


class GlobalTensor:
    """A typed window on GM: `SetGlobalBuffer` says where; copies check the real allocation."""

    __slots__ = ("cache", "core", "count", "dtype", "holder", "start")
    space = GM

    def __init__(self, T: Any = None) -> None:
        self.dtype: DType = None if T is None else as_dtype(T)  # type: ignore[assignment]
        self.holder: Allocation = None  # type: ignore[assignment]
        self.core: Any = None
        self.start = self.count = 0
        self.cache = CacheMode.CACHE_MODE_NORMAL

    def SetL2CacheHint(self, mode: CacheMode) -> None:
        """Let copies of this tensor allocate in L2 (the default) or bypass it; time only."""
        if not isinstance(mode, CacheMode):
            raise ContractError(
                f"SetL2CacheHint: {mode!r}: use CacheMode.CACHE_MODE_NORMAL or _DISABLE"
            )
        self.cache = mode

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
            observed(
                self.core, Call("SetGlobalBuffer", PIPE.PIPE_S, self.core, (at,), fields=fields)
            )

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
        offset = offset_of("GlobalTensor", index, MAX_GM_ELEMENTS)
        if type(offset) is not int:
            offset = _elements(offset, self.dtype)
        moved = GlobalTensor.__new__(GlobalTensor)
        moved.dtype, moved.core, moved.holder = self.dtype, self.core, self.holder
        moved.count, moved.cache = self.count, self.cache
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
            require_data(self.core, "GetValue", "what the kernel does next may depend on the value")
            observed(self.core, scalar_call("GetValue", self, start, False))
        return read_element(self.holder.memory, start, self.dtype)

    def SetValue(self, index: int, value: Any) -> None:
        """Write one element through the scalar unit, rounded to the type."""
        start = self._element("SetValue", index, store=True)
        bits = self.dtype.to_bits(value)
        self.holder.writes.append((start, start + self.dtype.nbytes))
        if self.core.readers:
            memory = self.holder.memory if self.core.executing else None
            call = scalar_call("SetValue", self, start, True, memory, bits)
            observed(self.core, call, value)
        else:
            write_element(self.holder.memory, start, self.dtype, bits)

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
        if stop <= holder.nbytes and self.start + shift >= 0:
            return
        if self.start + shift < 0 or stop > holder.nbytes + holder.slack:
            behind = (max(self.start + shift, holder.nbytes), stop)
            outside = behind if stop > holder.nbytes else (self.start + shift, min(stop, 0))
            raise BoundsError(
                f"{name}: {role} reaches {holder.name}[{self.start + shift:#x}, {stop:#x}) but the "
                f"tensor has {holder.nbytes:#x} bytes (and {holder.slack} of slack); check "
                f"offset, count and tiling",
                finding="memcheck:gm-out-of-bounds",
                about=Span(GM, holder, *outside),
            )
        if store:
            holder.slack_written = max(holder.slack_written, stop - holder.nbytes)
        else:
            holder.slack_read = max(holder.slack_read, stop - holder.nbytes)
