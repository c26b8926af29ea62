"""Expint near 0: an interval where a point is meant."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.resize(np.float32([1e-11, 0, 1e-3]), 64)
INPUTS = {"x": X}
with np.errstate(divide="ignore"):
    LN = np.log(X.astype(np.float64)).astype(np.float32)
RIGHT = {"out": LN + np.float32(0.5772156649015329) + X}
WRONG = {"out": np.where(X <= 1e-10, np.float32(-np.inf), RIGHT["out"])}
assert abs(RIGHT["out"][0] + 24.75) < 0.01
CASE = Case(
    title="Expint near 0: an interval where a point is meant",
    report="hicann/ops-math@ec36d1828",
    evidence="D",
    told="x = 1e-11: -inf instead of about -24.75",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
