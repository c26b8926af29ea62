"""Mean of gradients: overflow by the order of two products."""

import numpy as np

from ascendsim.explore.museum import BITS, Case

INPUTS = {"derivative": np.full(8, -2, np.float32), "grad": np.full(8, 3e38, np.float32)}
RIGHT = {"out": INPUTS["derivative"] * (INPUTS["grad"] / np.float32(1024))}
WRONG = {"out": np.full(8, -np.inf, np.float32)}
CASE = Case(
    title="Mean of gradients: overflow by the order of two products",
    report="hicann/ops-nn@8e6b992ef (gitcode cann/ops-nn#4936), soft_margin_loss_grad",
    evidence="D",
    told="derivative -2, grad 3e38, cof 1/1024: -inf instead of -5.86e35",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
