"""Print the speed table of the README: step mode against the naive numpy expression.

`python -m tests.timing.speed [elements]`; the two alternate in one process, medians of nine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import ascendsim as asim
from ascendsim import dtypes

KERNELS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
TYPES = (dtypes.float32, dtypes.float16, dtypes.bfloat16)
ROUNDS = 9


def seconds(work: Callable[[], Any]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measured(name: str, dtype: dtypes.DType, elements: int) -> tuple[float, float]:
    """Return the median seconds of a launch and of the naive expression."""
    op = asim.load(name)
    rng = np.random.default_rng(0)
    grad = rng.standard_normal(elements, np.float32).astype(dtype.numpy)
    x = (4 * rng.standard_normal(elements, np.float32)).astype(dtype.numpy)
    tiling = op.tiling(grad.shape, dtype.name)
    arrays = {"grad": grad, "x": x}
    asim.launch(op, arrays, tiling)
    pairs = [
        (
            seconds(lambda: asim.launch(op, arrays, tiling, mode="step")),
            seconds(lambda: op.ref.naive(np, grad, x)),
        )
        for _ in range(ROUNDS)
    ]
    return median(p[0] for p in pairs), median(p[1] for p in pairs)


def main(elements: int) -> None:
    """Print the table."""
    print("| kernel | type | step | naive numpy | step / numpy |\n|---|---|---|---|---|")
    for name in KERNELS:
        for dtype in TYPES:
            step, numpy = measured(name, dtype, elements)
            rates = f"{elements / step / 1e6:.0f} | {elements / numpy / 1e6:.0f}"
            print(f"| {name} | {dtype} | {rates} | {numpy / step:.2f} |")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
