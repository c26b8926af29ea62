"""Outputs of a run: arrays, or of an opened run what the file holds of them; what a face shows."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ascendsim.errors import RequestError
from ascendsim.observe.held import HeldBytes, total

FIRST = 8  # values that a face shows


class Shown(NamedTuple):
    """What a face says of an output: its first values, how many are not 0, how many are NaN."""

    first: np.ndarray
    nonzero: int
    nans: int


@dataclass(frozen=True, slots=True, eq=False)
class PartOfOutput:
    """An output of an opened run of which the file holds what the recorded blocks stored.

    `out[k]` and `out[row, column]` give an element that is there; shape and dtype are those of the
    whole, as are `crc32` (of its bytes) and `shown`. To take it as an array is refused.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    crc32: int
    shown: Shown
    held: HeldBytes

    @property
    def size(self) -> int:
        """Elements of the whole."""
        return self.held.size // self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the whole."""
        return self.held.size

    def __getitem__(self, index: Any) -> Any:
        try:
            at = int(np.ravel_multi_index(index if len(self.shape) > 1 else (index,), self.shape))
        except (ValueError, TypeError):
            if self._flat(index):
                at = int(index)
            else:
                raise self._partial(self._why_not(index)) from None
        start = at * self.dtype.itemsize
        return self.held[start : start + self.dtype.itemsize].view(self.dtype)[0]

    def _flat(self, index: Any) -> bool:
        return hasattr(index, "__index__") and 0 <= index < self.size

    def _why_not(self, index: Any) -> str:
        parts = index if isinstance(index, tuple) else (index,)
        if all(hasattr(part, "__index__") for part in parts):
            return f"there is no element [{_typed(index)}] in its shape {self.shape}"
        return f"[{_typed(index)}] is no single element, and not all of its elements are here"

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise self._partial("it is no whole array")

    def __iter__(self) -> Iterator[Any]:
        raise self._partial("it cannot be gone through")

    def __repr__(self) -> str:
        kept = f"{total(self.held.ranges)} of {self.nbytes} bytes"
        return f"PartOfOutput({self.name} {self.dtype} {self.shape}, {kept})"

    def _partial(self, why: str) -> RequestError:
        return RequestError(
            f"{self.name}: {why}: the file holds only what the recorded blocks stored of it; ask "
            f"for single elements, {self.name}[k], or launch the operator again"
        )


def _typed(index: Any) -> str:
    """Return an index as it is written between brackets."""
    if isinstance(index, tuple):
        return ", ".join(map(_typed, index))
    if isinstance(index, slice):
        ends = ("" if each is None else repr(each) for each in (index.start, index.stop))
        return ":".join(ends) + ("" if index.step is None else f":{index.step!r}")
    return "..." if index is Ellipsis else repr(index)


Output = np.ndarray | PartOfOutput


def shown_of(output: Output) -> Shown:
    """Return what a face says of an output."""
    if isinstance(output, PartOfOutput):
        return output.shown
    nans = int(np.count_nonzero(output != output)) if output.dtype.kind not in "iub" else 0
    return Shown(output.reshape(-1)[:FIRST], int(np.count_nonzero(output)), nans)


def crc_of(output: Output) -> int:
    """Return the CRC of all bytes of an output."""
    return output.crc32 if isinstance(output, PartOfOutput) else zlib.crc32(output.tobytes())


def bits_of(output: Output, lane: int) -> int:
    """Return the raw bits of the element with flat index `lane`."""
    size = output.dtype.itemsize
    if isinstance(output, PartOfOutput):
        word = output.held[lane * size : (lane + 1) * size]
    else:
        word = np.ascontiguousarray(output).reshape(-1)[lane : lane + 1]
    return int.from_bytes(word.tobytes(), "little")
