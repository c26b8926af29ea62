"""A bench for single instructions: one core, UB and GM tensors, no launch and no tiling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from ascendsim.ascendc import TBuf, TPipe, TPosition
from ascendsim.core import AivCore
from ascendsim.dtypes import DType
from ascendsim.options import Options
from ascendsim.record import CURRENT
from ascendsim.soc import Soc
from ascendsim.tensor import GlobalTensor, GmAddress


class Bench:
    """One core of `soc` on which instructions are called one at a time.

    `pipe` is the TPipe of the block that is running; valid inside `block()`.
    """

    def __init__(self, soc: Soc) -> None:
        self.core = AivCore(soc, soc.ub_bytes, Options())
        self.core.ub.set_fill("0x5a", 0)
        self.pipe: Any = None
        self._names = count()

    @contextmanager
    def block(self) -> Iterator[Bench]:
        """Run a fresh block: empty UB, no events, a new pipe."""
        token = CURRENT.set(self.core)
        try:
            self.core.begin_block(0, ())
            self.core.block_num = 1
            self.pipe = TPipe()
            yield self
        finally:
            self.pipe = self.core.pipe = None
            CURRENT.reset(token)

    def local(self, dtype: DType, values: np.ndarray | int) -> Any:
        """Return a LocalTensor that holds `values`, or room for that many elements."""
        elements = values if isinstance(values, int) else values.size
        buffer = TBuf(TPosition.VECCALC)
        self.pipe.InitBuffer(buffer, max(32, -(-elements * dtype.nbytes // 32) * 32))
        tensor = buffer.Get(dtype)
        if isinstance(values, np.ndarray):
            self.bytes_of(tensor)[: values.nbytes] = values.reshape(-1).view(np.uint8)
            tensor.written(values.nbytes)
        return tensor

    def array(self, tensor: Any, elements: int) -> np.ndarray:
        """Return the first elements of a LocalTensor as values (a copy)."""
        part = self.bytes_of(tensor)[: elements * tensor.dtype.nbytes]
        return part.copy().view(tensor.dtype.numpy)

    def bytes_of(self, tensor: Any) -> np.ndarray:
        """Return the bytes of a LocalTensor."""
        return self.core.ub.array[tensor.start : tensor.start + tensor.nbytes]

    def address(self, dtype: DType, values: np.ndarray) -> Any:
        """Return a GM address with `values`, as a kernel gets it."""
        return GmAddress(self.core.gm.upload(f"gm{next(self._names)}", dtype, values))

    def gm(self, dtype: DType, values: np.ndarray) -> Any:
        """Return a GlobalTensor that holds `values`."""
        tensor = GlobalTensor(dtype)
        tensor.SetGlobalBuffer(self.address(dtype, values), values.size)
        return tensor


def sample(dtype: DType, elements: int, turn: int = 0) -> np.ndarray:
    """Return values of `dtype` with its special ones among them; `turn` gives another order."""
    generator = np.random.default_rng(turn)
    bits = generator.integers(0, 1 << (8 * dtype.nbytes), elements, np.uint64, endpoint=False)
    values = bits.astype(dtype.bits).view(dtype.numpy)
    if dtype.kind == "float":
        special = np.array([0.0, -0.0, 1, -1, 0.5, 3, -3, np.inf, -np.inf, np.nan], np.float32)
        values[: special.size] = np.roll(special, turn).astype(dtype.numpy)
        half = elements // 2
        values[half:] = (4 * generator.standard_normal(elements - half)).astype(dtype.numpy)
    return values
