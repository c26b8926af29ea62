"""The numpy-level function of SwishGrad."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent


def swish_backward(grad, x, beta=1.0, *, soc="ascend910b1"):
    """Return the gradient of x * sigmoid(beta * x), bit for bit as the kernel computes it.

    `grad` and `x` are float32, float16 or ml_dtypes.bfloat16 arrays of one type and shape, any
    rank and strides. Infinite or NaN x gives NaN. An empty tensor never reaches the kernel, whose
    tiling refuses it.

    Raises
    ------
    ShapeError
        When shapes or types differ or the type is not supported.
    """
    op = asim.load(FOLDER)
    grad, x = (np.asarray(array, order="C") for array in (grad, x))
    shapes = {"grad": grad.shape, "x": x.shape}
    dtypes = {"grad": grad.dtype, "x": x.dtype}
    if x.size == 0:
        op.output_shapes(op.context(shapes, dtypes, soc, attrs={"sconf": beta}))
        return np.empty(x.shape, x.dtype)
    til = op.tiling(shapes, dtypes, soc=soc, sconf=beta)
    return asim.launch(op, {"grad": grad, "x": x}, til).out
