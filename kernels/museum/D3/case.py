"""A flag is waited for in every tile and set once."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(192, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X * 2}
CASE = Case(
    title="A flag is waited for in every tile and set once",
    report="hicann/ops-nn@7df93a44a, fused_mul_apply_momentum",
    evidence="T",
    told="deadlock in the second tile",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="synccheck:wait-without-set",
    right=RIGHT,
)
