"""Loop count 0 - 1 in uint16."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(64, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X}  # nothing to fold
CASE = Case(
    title="Loop count 0 - 1 in uint16",
    report="hicann/ops-nn@9708049d4, batch_norm",
    evidence="T",
    told="0 - 1 in uint16 is a loop count of 65535: VEC_ERROR, or mean = var = 0",
    soc="ascend950",
    inputs=INPUTS,
    caught_by="memcheck:illegal-range",
    right=RIGHT,
)
