"""Selu of integers: product rounded where the reference truncates."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.arange(128, dtype=np.float32)
INPUTS = {"x": X.astype(np.float16)}
PRODUCT = X * np.float32(1.05078125)  # exact
RIGHT = {"out": np.floor(PRODUCT)}
NEAR = np.trunc(PRODUCT.astype(np.float16).astype(np.float32))
WRONG = {"out": NEAR}
assert X[RIGHT["out"] != NEAR].tolist() == [59, 98, 118]
assert NEAR[[59, 98, 118]].tolist() == [62, 103, 124]
CASE = Case(
    title="Selu of integers: product rounded where the reference truncates",
    report="hicann/ops-nn@7e484a64b (gitcode cann/ops-nn#3828)",
    evidence="T",
    told="x = 59, 98, 118: 62, 103, 124 instead of 61, 102, 123",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
