"""A value read by the scalar unit before V has stored it."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(1, 65, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X * 2}
CASE = Case(
    title="A value read by the scalar unit before V has stored it",
    report="hicann/ops-nn@720451f93, adaptive_avg_pool3d_grad",
    evidence="D",
    told="no order between V and S: sporadic",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="racecheck:raw-inter-pipe",
    right=RIGHT,
    options={"auto_sync": "off"},
)
