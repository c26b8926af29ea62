"""Momentum: result copied out without waiting for V."""

import numpy as np

from ascendsim.explore.museum import ORDER, Case

VAR, ACCUM, GRAD = (np.full(8, value, np.float32) for value in (1.0, 0.5, 0.1))
INPUTS = {"var": VAR, "accum": ACCUM, "grad": GRAD}
RIGHT = {"out": VAR - (ACCUM * np.float32(0.9) + GRAD) * np.float32(0.01)}
WRONG = {"out": np.zeros(8, np.float32)}  # what UB held before
assert str(RIGHT["out"][0]) == "0.9945"
CASE = Case(
    title="Momentum: result copied out without waiting for V",
    report="hicann/ops-nn@260136131, inplace_apply_momentum",
    evidence="T",
    told="var 1, accum 0.5, lr 0.01, grad 0.1, momentum 0.9: var_out = 0 instead of 0.9945",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=ORDER,
    right=RIGHT,
    wrong=WRONG,
    options={"ub_fill": "0x00"},
)
