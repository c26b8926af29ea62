"""Div flushes subnormal numbers."""

import numpy as np

from ascendsim.explore.museum import BITS, Case, words

X = words("f4", *[0x00800000, 0x00800000, 0x3F800000, 0x00400000] * 2)
Y = np.float32([2, 4, 3, 1] * 2)
INPUTS = {"x": X, "y": Y}
RIGHT = {"out": X / Y}
WRONG = {"out": np.where(RIGHT["out"] < words("f4", 0x00800000), np.float32(0), RIGHT["out"])}
CASE = Case(
    title="Div flushes subnormal numbers",
    report="hicann/ops-nn@af2ee7e9a",
    evidence="T",
    told="a subnormal quotient becomes 0 in the kernel, the reference keeps it",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
