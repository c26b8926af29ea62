"""Round of a whole tile instead of count elements."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.arange(64, dtype=np.float32) / 4
INPUTS = {"x": X}
RIGHT = {"out": np.where(np.arange(64) < 10, np.rint(X), X)}
WRONG = {"out": np.rint(X)}
CASE = Case(
    title="Round of a whole tile instead of count elements",
    report="tile-ai/tilelang-ascend#1650 (in #1707)",
    evidence="D",
    told="the count operand is never read: the whole tile is overwritten",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
