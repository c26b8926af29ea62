"""Timelines of real kernels, with their records, computed once."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import ascendsim as asim
from tests.cli.conftest import ask  # noqa: F401

#: one buffer with tokens back; two buffers; a stream too long to draw; three rounds on 4 cores
CASES = {
    "single": ("hard_swish_grad", (300_000,), "float16", {"cores": 4}),
    "double": ("hard_sigmoid_grad", (3_000_000,), "float32", {}),
    "long": ("swish_grad", (10_000_000,), "bfloat16", {}),
    "rounds": ("hard_sigmoid_grad", (300_000,), "float32", {"cores": 4}),
}


@cache
def timed(name: str) -> Any:
    op_name, shape, dtype, request = CASES[name]
    op = asim.load(op_name)
    tiling = op.tiling(shape, dtype, **request)
    if name == "rounds":
        tiling = tiling.replace({"blockFactor": "25000"}, block_dim=12)
    return asim.time(op, tiling, keep=True)


@pytest.fixture(params=CASES)
def timeline(request: pytest.FixtureRequest) -> Any:
    return timed(request.param)
