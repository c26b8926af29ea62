"""Round of half: no such conversion."""

import numpy as np

from ascendsim.explore.museum import Case

INPUTS = {"x": np.resize(np.arange(-4.5, 5, 1), 64).astype(np.float16)}
RIGHT = {"out": np.rint(INPUTS["x"])}
CASE = Case(
    title="Round of half: no such conversion",
    report="tile-ai/tilelang-ascend#1637, #1649, #1707",
    evidence="T",
    told="half to half is no supported pair: 56 of 64 elements wrong, silently",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="memcheck:illegal-type",
    right=RIGHT,
)
