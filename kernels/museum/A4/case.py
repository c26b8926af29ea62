"""Compare NE of NaN."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

NAN = np.nan
A = np.resize(np.float32([NAN, 1, 1, 3]), 64)
B = np.resize(np.float32([NAN, 1, 2, 3]), 64)
INPUTS = {"a": A, "b": B}
RIGHT = {"out": (A != B).astype(np.float32)}
WRONG = {"out": np.where(np.isnan(A), 0, A != B).astype(np.float32)}
CASE = Case(
    title="Compare NE of NaN",
    report="hw-native-sys/pto-isa@f912bdd3 (gitcode cann/pto-isa#502)",
    evidence="T",
    told="a = b = NaN: NE gives 0 (inferred from the repair), IEEE says 1",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
