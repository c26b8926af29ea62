"""The numpy-level function of HardSigmoidGrad."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent


def hardsigmoid_backward(grad, x, alpha=1 / 6, beta=0.5, *, soc="ascend950"):
    """Return the gradient with respect to x, bit for bit as the kernel computes it.

    `grad` and `x` are float32, float16 or ml_dtypes.bfloat16 arrays of one type and shape, any
    rank and strides. A NaN in x gives +0.

    Raises
    ------
    ShapeError
        When shapes or types differ or the type is not supported.
    TilingError
        When alpha is 0, infinite or NaN, or beta is not finite.
    """
    op = asim.load(FOLDER)
    grad, x = (np.asarray(array, order="C") for array in (grad, x))
    shapes = {"grad": grad.shape, "x": x.shape}
    dtypes = {"grad": grad.dtype, "x": x.dtype}
    til = op.tiling(shapes, dtypes, soc=soc, alpha=alpha, beta=beta)
    return asim.launch(op, {"grad": grad, "x": x}, til).out
