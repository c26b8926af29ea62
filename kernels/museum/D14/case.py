"""No barrier behind Min."""

import numpy as np

from ascendsim.explore.museum import Case

X = np.linspace(0, 2, 64, dtype=np.float32)
INPUTS = {"x": X}
RIGHT = {"out": np.minimum(X, 1) + np.float32(1)}
CASE = Case(
    title="No barrier behind Min",
    report="mirror-cann/asc-devkit@d2f29e8cb, Atan",
    evidence="D",
    told="a value may be used before Min has stored it",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="racecheck:raw-intra-pipe",
    right=RIGHT,
    options={"auto_sync": "off"},
)
