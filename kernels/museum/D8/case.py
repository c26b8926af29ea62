"""The next tile is copied over one that is still read."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(192, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X * 2}
CASE = Case(
    title="The next tile is copied over one that is still read",
    report="hicann/ops-math@9edcfa333 (#2159), sinkhorn",
    evidence="D",
    told="hazards between V and MTE2: 51 of 200 cases fail",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="racecheck:war-inter-pipe",
    right=RIGHT,
)
