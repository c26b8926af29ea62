"""Midpoints to bfloat16: half away where half to even is the reference."""

import ml_dtypes

from ascendsim.explore.museum import BITS, Case, words

INPUTS = {"x": words("f4", 0x3F808000, 0x3F818000, 0xBF808000, 0x40008000)}
RIGHT = {"out": words(ml_dtypes.bfloat16, 0x3F80, 0x3F82, 0xBF80, 0x4000)}
WRONG = {"out": words(ml_dtypes.bfloat16, 0x3F81, 0x3F82, 0xBF81, 0x4001)}
CASE = Case(
    title="Midpoints to bfloat16: half away where half to even is the reference",
    report="hw-native-sys/pypto-lib#279",
    evidence="D",
    told="round for rint at 44 casts: midpoints go away from zero",
    soc="ascend910b1",
    inputs=INPUTS,
    caught_by=BITS,
    right=RIGHT,
    wrong=WRONG,
)
