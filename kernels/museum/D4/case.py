"""A widening Cast over its own source."""

import ml_dtypes
import numpy as np

from ascendsim.explore.museum import Case

X = np.arange(128).astype(ml_dtypes.bfloat16)
INPUTS = {"x": X}
RIGHT = {"out": X.astype(np.float32) * 2}
CASE = Case(
    title="A widening Cast over its own source",
    report="hicann/ops-nn@8636fb4dd (gitcode cann/ops-nn#4787), swiglu_group_quant_grad",
    evidence="T",
    told="wrong data: the source lies at the start of the wider destination",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by="memcheck:overlap",
    right=RIGHT,
)
