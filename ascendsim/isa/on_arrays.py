"""Execute a declaration's own array body on UB: for functions that have no compiled one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ascendsim.isa.roles import Role
from ascendsim.numerics.opcodes import ENV_FLUSH


def on_arrays(decl: Any, tensors: tuple[Any, ...], count: int) -> Callable[[int, float], None]:
    """Return what executes the count form of `decl` on these tensors."""
    core = tensors[0].core
    env = core.env | (ENV_FLUSH if core.options.subnormals == "flush" else 0)
    sources = {
        name: _view(tensor, count)
        for (name, role), tensor in zip(decl.operands, tensors, strict=True)
        if role is Role.IN
    }
    target = _view(tensors[0], count)

    def execute(address: int, scalar: float) -> None:
        scalars = {} if decl.scalar is None else {decl.scalar: scalar}
        target[:] = decl.compute(dst=None, **sources, **scalars, env=env)

    return execute


def _view(tensor: Any, count: int) -> np.ndarray:
    raw = tensor.core.ub.array[tensor.start : tensor.start + count * tensor.dtype.nbytes]
    return raw.view(tensor.dtype.numpy)
