"""A float scalar read as bfloat16."""

import ml_dtypes
import numpy as np

from ascendsim.explore.museum import BITS, Case

X = np.float32([1, 2, -4, 8] * 2)
VALUE = np.float32([0.1])
INPUTS = {"x": X, "value": VALUE}
LOW = VALUE.view(np.uint16)[:1].view(ml_dtypes.bfloat16).astype(np.float32)
RIGHT, WRONG = {"out": X * VALUE}, {"out": X * LOW}
CASE = Case(
    title="A float scalar read as bfloat16",
    report="hicann/ops-nn@fd526da65, foreach_addcdiv_scalar",
    evidence="D",
    told="the low half of the fp32 scalar is taken for bfloat16",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
