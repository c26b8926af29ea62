"""Sqrt of half rounded upwards."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.arange(1, 0x7C00, dtype=np.uint16).view(np.float16)  # all positive finite numbers
INPUTS = {"x": X}
ROOT = np.sqrt(X.astype(np.float32))
NEAR = ROOT.astype(np.float16)
UP = np.where(NEAR.astype(np.float32) < ROOT, np.nextafter(NEAR, np.float16(np.inf)), NEAR)
RIGHT, WRONG = {"out": NEAR}, {"out": UP}
assert (NEAR != UP).sum() == 15426
CASE = Case(
    title="Sqrt of half rounded upwards",
    report="hicann/ops-math@b425ec62c (#1505)",
    evidence="D",
    told="x = 2, 10: 0x3da9, 0x4254 instead of 0x3da8, 0x4253; 15426 of 31743 inputs differ",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
