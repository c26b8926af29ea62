"""Double buffers counted once."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(64, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X * 2}
CASE = Case(
    title="Double buffers counted once",
    report="hicann/ops-nn@172e2308e, batch_norm_v3",
    evidence="T",
    told="251328 bytes of UB are asked for, there are 245760",
    soc="ascend950",
    inputs=INPUTS,
    caught_by="memcheck:ub-overflow",
    right=RIGHT,
    ub=245760,
)
