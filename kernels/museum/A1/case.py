"""SeluGrad at outputs = 0: LT where LE is meant."""

import numpy as np

from ascendsim.explore.museum import BITS, Case, words

OUTPUTS = np.resize(np.float32([0, -1, 2, -0.5]), 64)
INPUTS = {"grad": np.ones(64, np.float32), "outputs": OUTPUTS}
SCALED = words("f4", 0x3F867D5F)[0]  # scale * grad
BRANCH = OUTPUTS + np.float32(1.0507009873554805 * 1.6732632423543772)
RIGHT = {"out": np.where(OUTPUTS <= 0, BRANCH, SCALED)}
WRONG = {"out": np.where(OUTPUTS < 0, BRANCH, SCALED)}
assert RIGHT["out"][0].view("u4") == 0x3FE10966
CASE = Case(
    title="SeluGrad at outputs = 0: LT where LE is meant",
    report="hicann/ops-nn@52d86f03c, selu_grad (#3976)",
    evidence="T",
    told="outputs=0, grad=1: 0x3f867d5f instead of 0x3fe10966",
    soc="ascend950",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
