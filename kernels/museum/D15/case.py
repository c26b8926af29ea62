"""Input buffer given back before its last use."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(64, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X * 2}
CASE = Case(
    title="Input buffer given back before its last use",
    report="hicann/ops-math@1a303c365, top_k_v2",
    evidence="D",
    told="the buffer of a queue is used again before its consumer is done",
    soc="ascend950",
    inputs=INPUTS,
    caught_by="memcheck:use-after-free",
    right=RIGHT,
)
