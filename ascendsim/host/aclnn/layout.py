"""Layout: where the elements of a tensor view lie in device memory.

Shapes, strides and offsets count elements of the tensor, addresses count bytes. Everything here
is arithmetic on Python integers, which do not overflow; whether a view is allowed is decided in
checks.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ascendsim.dtypes import DType

Ints = tuple[int, ...]


def row_major(shape: Ints) -> Ints:
    """Return the strides of a contiguous tensor."""
    strides, step = [], 1
    for dim in reversed(shape):
        strides.append(step)
        step *= dim
    return tuple(reversed(strides))


@dataclass(frozen=True, slots=True)
class Layout:
    """A view: `shape` and `strides`, from element `offset` of the storage at `address`."""

    dtype: DType
    shape: Ints
    strides: Ints
    offset: int = 0
    address: int = 0

    @property
    def size(self) -> int:
        """Number of elements; a scalar tensor has one."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, without those between them."""
        return self.size * self.dtype.nbytes

    @property
    def span(self) -> int:
        """Elements from the first to the last of the view, both counted; strides not below 0."""
        if self.size == 0:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    @property
    def span_bytes(self) -> int:
        """Bytes of the span."""
        return self.span * self.dtype.nbytes

    @property
    def start(self) -> int:
        """Byte address of the first element."""
        return self.address + self.offset * self.dtype.nbytes

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie one behind the other, in row-major order."""
        if self.size <= 1:
            return True
        wanted = row_major(self.shape)
        rows = zip(self.shape, self.strides, wanted, strict=True)
        return all(n == 1 or stride == want for n, stride, want in rows)

    @property
    def repeats(self) -> bool:
        """Whether two elements share an address; strides not below 0."""
        if self.size == 0:
            return False
        if self.size > self.span:
            return True
        reach = 1
        dims = zip(self.strides, self.shape, strict=True)
        for stride, n in sorted((s, n) for s, n in dims if n > 1):
            if stride < reach:
                return self.size != np.unique(self._places()).size
            reach = stride * (n - 1) + reach
        return False

    def collides(self, other: Layout) -> bool:
        """Whether the two share a byte, unless they are the same elements in the same order."""
        low = max(self.start, other.start)
        high = min(self._stop, other._stop)
        if low >= high or self.same_elements(other):
            return False
        if self.contiguous and other.contiguous:
            return True
        return bool((self._touched(low, high) & other._touched(low, high)).any())

    def same_elements(self, other: Layout) -> bool:
        """Whether both have the same bytes for each element."""
        return (
            (self.start, self.shape, self.dtype.nbytes)
            == (other.start, other.shape, other.dtype.nbytes)
        ) and all(
            n == 1 or one == two
            for n, one, two in zip(self.shape, self.strides, other.strides, strict=True)
        )

    def view_on(self, memory: np.ndarray) -> np.ndarray:
        """Return the view as an array on `memory`, the bytes from `start` over the whole span."""
        dims = zip(self.shape, self.strides, strict=True)
        strides = tuple(s * self.dtype.nbytes if n > 1 else 0 for n, s in dims)
        return np.ndarray(self.shape, self.dtype.numpy, memory.data, 0, strides)

    @property
    def _stop(self) -> int:
        return self.start + self.span_bytes

    def _places(self) -> np.ndarray:
        """Return the place of every element, in elements from the first."""
        places = np.zeros(1, np.int64)
        dims = zip(self.shape, self.strides, strict=True)
        for n, stride in (each for each in dims if each[0] > 1):
            places = (places[:, None] + np.arange(n, dtype=np.int64) * stride).reshape(-1)
        return places

    def _touched(self, low: int, high: int) -> np.ndarray:
        """Return for every byte address in [low, high) whether an element holds it."""
        touched = np.zeros(high - low, bool)
        for byte in range(self.dtype.nbytes):
            places = self._places() * self.dtype.nbytes + (self.start + byte - low)
            touched[places[(places >= 0) & (places < high - low)]] = True
        return touched
