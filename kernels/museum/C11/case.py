"""Division by a scalar: reciprocal of the rounded scalar."""

import numpy as np

from ascendsim.explore.museum import BITS, Case, words

INPUTS = {"x": np.ones(16, np.float32)}
RIGHT = {"out": words("f4", 0x3F68BA2F, 0x447A0000).repeat(8)}
WRONG = {"out": words("f4", 0x3F68BA2E, 0x4479FFFF).repeat(8)}
CASE = Case(
    title="Division by a scalar: reciprocal of the rounded scalar",
    report="hicann/ops-math@672c12fd7 (#2002)",
    evidence="D",
    told="s = 1.1; 1e-3: 0x3f68ba2e; 0x4479ffff instead of 0x3f68ba2f; 0x447a0000",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
