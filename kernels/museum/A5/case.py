"""NE as the negation of EQ, over a part of the mask."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

A = np.resize(np.float32([np.nan, 1, 1, 3]), 512)
B = np.resize(np.float32([np.nan, 1, 2, 3]), 512)
INPUTS = {"a": A, "b": B}
UNEQUAL = A != B
NEGATED = np.arange(512) // 64 % 4 == 0  # 8 bytes of every 32
RIGHT = {"out": UNEQUAL.astype(np.float32)}
WRONG = {"out": np.where(NEGATED, UNEQUAL, ~UNEQUAL).astype(np.float32)}
CASE = Case(
    title="NE as the negation of EQ, over a part of the mask",
    report="hw-native-sys/pto-isa@b0f4c061 (gitcode cann/pto-isa#505)",
    evidence="D",
    told="Not goes by the repeats of the comparison: the mask is wrong beyond the first of them",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
