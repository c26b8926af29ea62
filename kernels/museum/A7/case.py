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
    told="scratch 128 bytes behind the start of a longer mask: 0.6 % of the elements wrong",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
