"""Exp beyond the range of float."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.float32([89, 88, 1, 0] * 2)
INPUTS = {"x": X}
RIGHT = {"out": np.exp(np.minimum(X, 88).astype(np.float64)).astype(np.float32)}
WRONG = {"out": np.where(X > 88, np.float32(np.inf), RIGHT["out"])}
CASE = Case(
    title="Exp beyond the range of float",
    report="hicann/ops-math@ec36d1828, expint",
    evidence="T",
    told="x = 89: inf instead of exp(88) = 1.65e38",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
