"""Abs copied out before it is done."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(-32, 32, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": np.abs(X)}
CASE = Case(
    title="Abs copied out before it is done",
    report="hicann/ops-nn@a0bc12f0a, scatter_nd",
    evidence="T",
    told="half-computed data are stored",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="racecheck:raw-inter-pipe",
    right=RIGHT,
)
