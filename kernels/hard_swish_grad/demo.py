"""What `ascendsim demo` shows of HardSwishGrad: STEPS, each titled by its docstring."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent


def example():
    """Run the example of the aclnn call: x = -4..4."""
    return rows((1, 2, 3, -4, 5, -6, 7, 8, -9), (-4, -3, -2, -1, 0, 1, 2, 3, 4))


def edges():
    """Edges: below -3 the kernel multiplies by 0, and a NaN in x is lost.

    -0 for a negative grad, NaN for an infinite one; NaN fails both compares, which gives grad.
    """
    return rows((-1, np.inf, 2, 2, 2), (-3, -4, 3, -3, np.nan))


def rows(grad, x):
    op = asim.load(FOLDER)
    grad, x = (np.array(values, np.float32) for values in (grad, x))
    out = asim.launch(op, {"grad": grad, "x": x}, op.tiling(x.shape, "float32")).out
    triples = zip(grad, x, out, strict=True)
    return [{"grad": float(g), "x": float(v), "out": float(y)} for g, v, y in triples]


STEPS = [example, edges]
