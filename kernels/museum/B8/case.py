"""Selu of integers: int8 saturates where the reference wraps."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.arange(128, dtype=np.float32)
INPUTS = {"x": X.astype(np.float16)}
PRODUCT = np.floor(X * np.float32(1.05078125))
RIGHT = {"out": np.where(PRODUCT >= 128, PRODUCT - 256, PRODUCT).astype(np.int8)}
WRONG = {"out": np.minimum(PRODUCT, 127).astype(np.int8)}
assert RIGHT["out"][122:].tolist() == [-128, -127, -126, -125, -124, -123]
CASE = Case(
    title="Selu of integers: int8 saturates where the reference wraps",
    report="hicann/ops-nn@7e484a64b (gitcode cann/ops-nn#3828)",
    evidence="T",
    told="x = 122 ... 127: 127 instead of -128 ... -123",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
