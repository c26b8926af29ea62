"""The numbers of the reports, word by word, against what the kernels of the museum give."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np
import pytest

from ascendsim.explore import museum
from ascendsim.explore.museum import find_cases, load_case

CASES = find_cases()
F32, F16, I8 = np.float32, np.float16, np.int8


def bits(array):
    return np.asarray(array).view(f"u{np.asarray(array).dtype.itemsize}").tolist()


def ran(name, half, **changes):
    """Return the inputs and outputs of one kernel of a case."""
    case = dataclasses.replace(load_case(CASES[name]), **changes)
    return case.inputs, museum._run(case, CASES[name] / half).outputs


#: case: (input, its values, observed words of out at them, expected ones)
REPORTED = {
    "A1": ("outputs", F32([0]), [0x3F867D5F], [0x3FE10966]),
    "B1": (
        "x",
        F32([-4.5, -3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5]),
        bits(F32([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5])),
        bits(F32([-4, -4, -2, -2, -0.0, 0, 2, 2, 4, 4])),
    ),
    "B5": ("x", F16([2, 10]), [0x3DA9, 0x4254], [0x3DA8, 0x4253]),
    "B7": ("x", F16([59, 98, 118]), bits(F32([62, 103, 124])), bits(F32([61, 102, 123]))),
    "B8": (
        "x",
        F16([122, 123, 124, 125, 126, 127]),
        bits(I8([127] * 6)),
        bits(I8([-128, -127, -126, -125, -124, -123])),
    ),
    "B10": (
        "x",
        np.array([0x3F808000], np.uint32).view(F32),
        [0x3F81],
        bits(np.array([1.0], ml_dtypes.bfloat16)),
    ),
    "C1": ("grad", F32([3e38]), [0xFF800000], bits(F32([-2]) * (F32([3e38]) * F32(2**-10)))),
    "C6": ("x", F32([89]), [0x7F800000], bits(F32([np.exp(88.0)]))),
    "C10": ("x", np.array([0x00800000], np.uint32).view(F32), [0x0], [0x00400000]),
}


@pytest.mark.parametrize("name", REPORTED)
def test_broken_gives_what_was_observed_and_repaired_what_was_expected(name):
    which, values, observed, expected = REPORTED[name]
    for half, words in (("broken", observed), ("fixed", expected)):
        inputs, outputs = ran(name, half)
        places = [bits(inputs[which]).index(word) for word in bits(values)]
        assert [bits(outputs["out"])[at] for at in places] == words, half


def test_how_many_inputs_differ():
    for name, number in (("B5", 15426), ("B7", 3), ("B8", 6)):
        halves = [ran(name, half)[1]["out"] for half in ("broken", "fixed")]
        assert np.count_nonzero(bits(halves[0]) != np.array(bits(halves[1]))) == number


def test_a_missing_wait_stores_what_ub_held_before():
    """D1: var_out is 0 where 0.9945 is right."""
    case = load_case(CASES["D1"])
    told = museum.run_case("D1", CASES["D1"])
    assert told.caught
    assert "out[0] is 0x0 instead of 0x3f7e978d" in told.got
    assert str(case.right["out"][0]) == "0.9945"


@pytest.mark.parametrize(("soc", "word"), [("ascend910b1", 0), ("ascend950", 0x3F800000)])
def test_ne_of_nan_is_a_matter_of_the_chip(soc, word):
    inputs, outputs = ran("A4", "broken", soc=soc)
    assert np.isnan(inputs["a"][0])
    assert np.isnan(inputs["b"][0])
    assert bits(outputs["out"])[0] == word
