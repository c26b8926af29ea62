"""HardShrink passes NaN by x != x."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.resize(np.float32([np.nan, 0.5, -0.5, 0.75, -2, 0.25]), 64)
INPUTS = {"x": X}
RIGHT = {"out": np.where(np.abs(X) <= 0.5, np.float32(0), X)}
WRONG = {"out": np.where(np.abs(X) > 0.5, X, np.float32(0))}
CASE = Case(
    title="HardShrink passes NaN by x != x",
    report="hicann/ops-nn@423af2a5a, with hw-native-sys/pto-isa@f912bdd3",
    evidence="D",
    told="NE of two NaN gives 0 on this chip, so NaN does not pass",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
