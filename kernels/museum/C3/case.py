"""Mask multiplied onto an infinity."""

import numpy as np

from ascendsim.explore.museum import BITS, Case, words

X = np.resize(np.float32([0, 1]), 64)
INPUTS = {"x": X}
RIGHT = {"out": X}  # 1 to any power, and 0 where the mask says so
WRONG = {"out": np.where(X == 0, words("f4", 0x7FFFFFFF), X)}
CASE = Case(
    title="Mask multiplied onto an infinity",
    report="hicann/ops-math@794834927 (#2096), cdist_grad",
    evidence="D",
    told="distance 0: inf * 0 gives NaN instead of 0",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
