"""The naive expression of an operator as a kernel for Triton's interpreter.

Importing this needs triton, with TRITON_INTERPRET=1 set before. Tensors are numpy arrays behind the
few methods that the interpreter asks a torch tensor for, so torch is not needed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import triton
import triton.language as tl

TYPES = {"float32": tl.float32, "float16": tl.float16, "bfloat16": tl.bfloat16}
_naive: list[Callable[..., Any]] = []  # the interpreter runs the kernel without its closure


def _kernel(inputs, out, tile: tl.constexpr):
    """Compute one tile."""
    offsets = tl.program_id(0) * tile + tl.arange(0, tile)
    tiles = [Tile(tl.load(pointer + offsets)) for pointer in inputs]
    tl.store(out + offsets, _naive[0](Namespace(), *tiles).value)


class Tile:
    """A tile that behaves as a numpy array where an expression needs it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.value.dtype

    def astype(self, kind: Any) -> Tile:
        """Return the tile in another type."""
        name = kind if isinstance(kind, tl.dtype) else TYPES[np.dtype(kind).name]
        return Tile(self.value.to(name))

    def __neg__(self) -> Tile:
        return Tile(-self.value)


def _operation(rule: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[..., Tile]:
    def apply(self: Tile, other: Any) -> Tile:
        pair = (_plain(other), self.value) if swapped else (self.value, _plain(other))
        return Tile(rule(*pair))

    return apply


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Tile, f"__{_name}__", _operation(getattr(operator, _name)))
    setattr(Tile, f"__r{_name}__", _operation(getattr(operator, _name), swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_"):
    setattr(Tile, f"__{_name.strip('_')}__", _operation(getattr(operator, _name)))


class Namespace:
    """The part of numpy that naive expressions use."""

    float32 = np.float32

    @staticmethod
    def where(condition: Any, one: Any, two: Any) -> Tile:
        """Choose lane by lane."""
        return Tile(tl.where(condition.value, _plain(one), _plain(two)))

    @staticmethod
    def exp(x: Tile) -> Tile:
        """Return e ** x."""
        return Tile(tl.exp(x.value))

    @staticmethod
    @contextmanager
    def errstate(**_: Any) -> Any:
        """Do nothing: there are no warnings to silence."""
        yield


class HostTensor:
    """An array with what the interpreter asks of a tensor; its own storage, too."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype = array, array.dtype.name

    def data_ptr(self) -> int:
        """Return the address."""
        return int(self.array.ctypes.data)

    def untyped_storage(self) -> HostTensor:
        """Return itself."""
        return self

    def cpu(self) -> HostTensor:
        """Return itself."""
        return self

    def new_empty(self, *_: Any, **__: Any) -> HostTensor:
        """Return a tensor that `set_` points elsewhere."""
        return HostTensor(self.array)

    def set_(self, storage: HostTensor, *_: Any) -> None:
        """Share a storage."""
        self.array = storage.array

    def copy_(self, _: HostTensor) -> None:
        """Do nothing: nothing was moved."""

    def storage_offset(self) -> int:
        """Return 0."""
        return 0

    def size(self) -> tuple[int, ...]:
        """Return the shape."""
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        """Return 1: arrays are flat."""
        return (1,)


def work_of(
    naive: Callable[..., Any], arrays: Sequence[np.ndarray], tile: int
) -> Callable[[], np.ndarray]:
    """Return what runs `naive` on all tiles of flat arrays and returns the result."""
    out = np.empty_like(arrays[0])
    tensors = tuple(HostTensor(each) for each in arrays)
    interpreted = triton.jit(_kernel)

    def work() -> np.ndarray:
        _naive[:] = [naive]
        interpreted[(out.size // tile,)](tensors, HostTensor(out), tile)
        return out

    return work


def _plain(value: Any) -> Any:
    if isinstance(value, Tile):
        return value.value
    return float(value) if isinstance(value, np.generic) else value
