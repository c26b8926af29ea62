"""Round: ties away where ties to even is documented."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

INPUTS = {"x": np.arange(-4.5, 5, 1, np.float32)}
RIGHT = {"out": np.float32([-4, -4, -2, -2, -0.0, 0, 2, 2, 4, 4])}
WRONG = {"out": np.float32([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5])}
CASE = Case(
    title="Round: ties away where ties to even is documented",
    report="tile-ai/tilelang-ascend#1648, #1612",
    evidence="T",
    told="-4.5 ... 4.5 give -5 -4 -3 -2 -1 1 2 3 4 5",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
