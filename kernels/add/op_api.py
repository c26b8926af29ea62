"""The numpy-level function of Add."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent


def add(x, y, *, soc="ascend910b1"):
    """Return x + y, bit for bit as the kernel computes it.

    `x` and `y` are float16 or float32 arrays of one type and shape (no broadcasting), any rank
    and strides.

    Raises
    ------
    ShapeError, TilingError
        When types or shapes differ or the type is not supported.
    """
    op = asim.load(FOLDER)
    x, y = (np.asarray(array, order="C") for array in (x, y))
    til = op.tiling({"x": x.shape, "y": y.shape}, {"x": x.dtype, "y": y.dtype}, soc=soc)
    return asim.launch(op, {"x": x, "y": y}, til).out
