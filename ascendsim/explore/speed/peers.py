"""Other simulators of kernels, where they are installed: JAX Pallas and Triton, interpreted.

Both run the naive expression of op_ref.py, tile by tile, as their users would write it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ascendsim.host import Op

TILE = 6144  # elements of a block, about what the kernels' own tiles hold
TRITON_TILE = 8192  # Triton wants a power of two


def pallas(op: Op, arrays: Sequence[np.ndarray]) -> Callable[[], Any] | str:
    """Return what runs the operator in Pallas' interpret mode, or why it cannot."""
    try:
        jax = importlib.import_module("jax")
        pl = importlib.import_module("jax.experimental.pallas")
    except ImportError:
        return "jax is not installed"
    numpy_like = _Shim(importlib.import_module("jax.numpy"))
    count = -(-arrays[0].size // TILE) * TILE
    padded = [jax.numpy.asarray(np.resize(each, count)) for each in arrays]

    def kernel(*references: Any) -> None:
        *inputs, out = references
        out[...] = op.ref.naive(numpy_like, *(each[...] for each in inputs))  # type: ignore[union-attr]

    spec = pl.BlockSpec((TILE,), lambda i: (i,))
    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((count,), padded[0].dtype),
        grid=(count // TILE,),
        in_specs=[spec] * len(arrays),
        out_specs=spec,
        interpret=True,
    )
    compiled = jax.jit(call)
    return lambda: compiled(*padded).block_until_ready()


def triton(op: Op, arrays: Sequence[np.ndarray]) -> Callable[[], Any] | str:
    """Return what runs the operator in Triton's interpreter, or why it cannot."""
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when triton is imported
    try:
        module = importlib.import_module("ascendsim.explore.speed.triton_tile")
    except ImportError as error:
        return f"{error.name} is not installed"
    count = -(-arrays[0].size // TRITON_TILE) * TRITON_TILE
    padded = [np.resize(each, count) for each in arrays]
    return module.work_of(op.ref.naive, padded, TRITON_TILE)  # type: ignore[no-any-return, union-attr]


class _Shim:
    """jax.numpy with numpy's `errstate`, which it lacks."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    @staticmethod
    @contextmanager
    def errstate(**_: Any) -> Any:
        """Do nothing: jax never warns."""
        yield
