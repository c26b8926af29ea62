"""Blocks that wait for blocks that cannot start."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(8 * 80, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"parts": 2 * X, "out": np.roll(2 * X, -8)}
CASE = Case(
    title="Blocks that wait for blocks that cannot start",
    report="hicann/ops-nn@0eccc23a0, @d35e5342a, ifmr and max_pool_grad",
    evidence="T",
    told="SyncAll with more blocks than are launched together hangs",
    soc="ascend950",
    inputs=INPUTS,
    caught_by="synccheck:block-deadlock",
    right=RIGHT,
)
