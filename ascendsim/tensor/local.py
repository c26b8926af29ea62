"""LocalTensor: a typed window on UB.

Made once per (buffer, type, offset) and found again, since identity is what makes a bound call
cheap to find. Its bytes never change place; only the buffer's state does.
"""

from __future__ import annotations

from typing import Any

from ascendsim.core import observed, require_data
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import BoundsError, ContractError, QueueError
from ascendsim.isa.beyond import tolerated
from ascendsim.isa.operators import Expression, store
from ascendsim.record import UB, Call, Span
from ascendsim.tensor.scalar import offset_of, read_element, scalar_call, write_element

MAX_SLICES = 256  # sub-tensors kept per tensor before the table is cleared


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
        offset = int(offset_of("LocalTensor", index, self.count))
        return self._view(self.dtype, offset * self.dtype.nbytes) if offset else self

    def __setitem__(self, index: slice, value: Expression) -> None:
        """Compute an expression into this tensor: `dst[:] = a + b` covers all its elements."""
        store(self[index], value)

    def __add__(self, other: LocalTensor) -> Expression:
        return Expression("Add", self, other)

    def __sub__(self, other: LocalTensor) -> Expression:
        return Expression("Sub", self, other)

    def __mul__(self, other: LocalTensor) -> Expression:
        return Expression("Mul", self, other)

    def __truediv__(self, other: LocalTensor) -> Expression:
        return Expression("Div", self, other)

    def __and__(self, other: LocalTensor) -> Expression:
        return Expression("And", self, other)

    def __or__(self, other: LocalTensor) -> Expression:
        return Expression("Or", self, other)

    def ReinterpretCast(self, T: Any) -> LocalTensor:
        """Return the same bytes as elements of `T`."""
        return self._view(as_dtype(T), 0)

    def _view(self, dtype: DType, shift: int) -> LocalTensor:
        key = (dtype, shift, self.nbytes)
        found = self.slices.get(key)
        nbytes = self.nbytes - shift
        if found is None or found.nbytes != nbytes:  # SetSize gave the found one another size
            if len(self.slices) >= MAX_SLICES:
                self.slices.clear()
            found = LocalTensor(self.core, self.buffer, dtype, self.start + shift, nbytes)
            self.slices[key] = found
        return found

    def written(self, nbytes: int) -> None:
        """Note that a call may write the first `nbytes` of this tensor from now on."""
        buffer = self.buffer
        reach = min(self.start - buffer.start + nbytes, buffer.nbytes)
        if reach > buffer.reach:
            buffer.reach = reach

    def GetSize(self) -> int:
        """Return the number of elements."""
        return self.count

    def SetSize(self, size: int) -> None:
        """Set the number of elements that the tensor claims (at most the buffer's)."""
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise ContractError(f"SetSize({size!r}): the number of elements must be an integer")
        nbytes = int(size) * self.dtype.nbytes
        room = self.buffer.start + self.buffer.nbytes - self.start
        if not 0 <= nbytes <= room:
            raise BoundsError(
                f"SetSize({size}): {self!r} has room for {room // self.dtype.nbytes} elements"
            )
        self.buffer.forget(self)  # other holders of these bytes keep the size that they know
        self.core.forget_calls()  # calls that read this tensor were checked against its old size
        self.calls, self.slices = {}, {}
        self.core.resized.append(self)
        self.count, self.nbytes = int(size), nbytes

    def forget_calls(self) -> None:
        """Forget the bound calls of this tensor and of its sub-tensors."""
        self.calls.clear()
        for part in self.slices.values():
            part.forget_calls()

    def GetPhyAddr(self, offset: int = 0) -> int:
        """Return the byte address in UB of element `offset`."""
        return self.start + offset * self.dtype.nbytes

    def GetValue(self, index: int) -> Any:
        """Read one element on the scalar pipe (floats keep their type, integers are Python's)."""
        start = self._element("GetValue", index)
        core = self.core
        if core.readers:
            require_data(core, "GetValue", "what the kernel does next may depend on the value")
            call = scalar_call("GetValue", self, start, False)
            call.beyond = self._beyond("GetValue", index)
            observed(core, call)
        return read_element(core.ub.array, start, self.dtype)

    def SetValue(self, index: int, value: Any) -> None:
        """Write one element on the scalar pipe, rounded to the type."""
        start = self._element("SetValue", index)
        self.written(start + self.dtype.nbytes - self.start)
        core, bits = self.core, self.dtype.to_bits(value)
        call = None
        if core.readers:
            call = scalar_call("SetValue", self, start, True, core.ub.array, bits)
            call.beyond = self._beyond("SetValue", index)
            observed(core, call, value)
        else:
            write_element(core.ub.array, start, self.dtype, bits)

    def _element(self, name: str, index: Any) -> int:
        if not self.buffer.state:
            raise QueueError(
                f"{name}: {self!r} was freed; read it before FreeTensor",
                finding="memcheck:use-after-free",
                about=self.buffer,
            )
        self._beyond(name, index)
        return self.start + int(index) * self.dtype.nbytes

    def _beyond(self, name: str, index: Any) -> tuple[BoundsError, ...]:
        """Return what is reported of an element outside (out_of_bounds=report), or raise it."""
        integer = hasattr(index, "__index__")
        if integer and 0 <= index < self.count:
            return ()
        error = BoundsError(f"{name}({index!r}): {self!r} has elements 0..{self.count - 1}")
        if not integer:
            raise error
        start = self.start + int(index) * self.dtype.nbytes
        error.about = Span(UB, self.buffer, start, start + self.dtype.nbytes)
        return tolerated(self.core, "", error)
