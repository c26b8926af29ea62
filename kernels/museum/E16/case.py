"""Sum over a tail with old values behind it."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.arange(1, 105, dtype=np.float32)  # a tile of 64 and a tail of 40
INPUTS = {"x": X}
RIGHT = {"out": np.float32([X[:64].sum(), X[64:].sum()])}
WRONG = {"out": np.float32([X[:64].sum(), X[64:].sum() + X[40:64].sum()])}
CASE = Case(
    title="Sum over a tail with old values behind it",
    report="mirror-cann/asc-devkit@c7f5d1567, load and store sample",
    evidence="D",
    told="data of an earlier tile are mixed in",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
