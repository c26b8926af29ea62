"""The numpy-level function of HardSwishGrad."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent


def hardswish_backward(grad, x, *, soc="ascend910b1"):
    """Return the gradient with respect to x, bit for bit as the kernel computes it.

    `grad` and `x` are float32, float16 or ml_dtypes.bfloat16 arrays of one type and shape, any
    rank and strides. A NaN in x gives grad; x <= -3 gives grad * 0, so -0 or NaN for some grads.

    Raises
    ------
    ShapeError, TilingError
        When types or shapes differ or the type is not supported.
    """
    op = asim.load(FOLDER)
    grad, x = (np.asarray(array, order="C") for array in (grad, x))
    shapes = {"grad": grad.shape, "x": x.shape}
    til = op.tiling(shapes, {"grad": grad.dtype, "x": x.dtype}, soc=soc)
    return asim.launch(op, {"grad": grad, "x": x}, til).out
