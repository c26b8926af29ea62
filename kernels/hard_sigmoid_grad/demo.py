"""What `ascendsim demo` shows of HardSigmoidGrad: STEPS, each titled by its docstring."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent
EXAMPLE_SHAPE = (4, 2)
ALPHAS = {"1.0f/6.0f": "0x3e2aaaab", "0.16666666f": "0x3e2aaaaa"}


def example():
    """Run the example of the aclnn call: self = gradOutput = 0..7.

    Index 3 is zero too: 3/6 + 0.5 = 1 is not below 1.
    """
    op = asim.load(FOLDER)
    values = np.arange(8, dtype=np.float32).reshape(EXAMPLE_SHAPE)
    out = asim.launch(op, {"grad": values, "x": values}, op.tiling(values.shape, "float32")).out
    pairs = zip(values.ravel(), out.ravel(), strict=True)
    return [{"grad": float(v), "x": float(v), "out": float(y)} for v, y in pairs]


def leak():
    """At x = -3 a literal 0.16666666f for alpha leaks the gradient.

    -3 * 0x3e2aaaaa + 0.5 is 2^-25, which is above 0.
    """
    op = asim.load(FOLDER)
    rows = []
    for dtype in ("float32", "float16", "bfloat16"):
        for written, alpha in ALPHAS.items():
            til = op.tiling((1,), dtype, alpha=alpha)
            grad, x = (np.full(1, value, til.dtype.numpy) for value in (1, -3))
            out = asim.launch(op, {"grad": grad, "x": x}, til).out
            bits = int(out.view(til.dtype.bits)[0])
            row = {"dtype": dtype, "alpha": written, "alpha_bits": alpha, "grad": 1.0, "x": -3.0}
            width = 2 + 2 * til.dtype.nbytes
            rows.append(row | {"out": float(out[0]), "out_bits": f"{bits:#0{width}x}"})
    return rows


STEPS = [example, leak]
