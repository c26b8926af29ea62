"""Atomic mode left on."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(64, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"total": X, "copy": X}
WRONG = {"total": X, "copy": X + 5}
CASE = Case(
    title="Atomic mode left on",
    report="hicann/ops-math@2cc30d578, histogram_v2",
    evidence="D",
    told="copies after the atomic one accumulate, too",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="synccheck:atomic-left-on",
    right=RIGHT,
    wrong=WRONG,
)
