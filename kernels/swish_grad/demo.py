"""What `ascendsim demo` shows of SwishGrad: STEPS, each titled by its docstring."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent
EXAMPLE_SHAPE = (2, 3)
EXAMPLE_BETA = 1.1


def example():
    """Run the example of the aclnn call: gradOutput = 1, self = 1..6, beta = 1.1."""
    return rows(np.arange(1, 7, dtype=np.float32).reshape(EXAMPLE_SHAPE), EXAMPLE_BETA)


def edges():
    """Edges: exp overflows below -88.72, an infinite x gives NaN."""
    return rows(np.array([-88, -89, -np.inf, np.inf, 0], np.float32), 1.0)


def rows(x, beta):
    op = asim.load(FOLDER)
    grad = np.ones_like(x)
    out = asim.launch(op, {"grad": grad, "x": x}, op.tiling(x.shape, "float32", sconf=beta)).out
    triples = zip(grad.ravel(), x.ravel(), out.ravel(), strict=True)
    return [{"grad": float(g), "x": float(v), "out": float(y)} for g, v, y in triples]


STEPS = [example, edges]
