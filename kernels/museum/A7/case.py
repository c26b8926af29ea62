"""Scratch over the end of a mask."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.arange(1, 2049, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": X}
WRONG = {"out": np.where(np.arange(2048) // 8 < 128, X, np.float32(0))}  # 8 elements a byte
CASE = Case(
    title="Scratch over the end of a mask",
    report="tile-ai/tilelang-ascend#1182, repaired by #1185",
    evidence="D",
    told="scratch over the end of a mask: 1536 of 262144 elements (0.6 %) wrong, here half of them",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
