"""`ascendsim compare`: two chips or option sets on the command line."""

from __future__ import annotations

import numpy as np
import pytest

SWISH = ("compare", "swish_grad", "--dtype", "float16")


def test_two_chips_as_json(ask):
    answer = ask(
        "compare", "hard_sigmoid_grad", "--soc", "ascend910b", "--soc", "ASCEND950", "--json"
    )
    found = answer.json
    assert answer.code == 0
    assert "what-if: hard_sigmoid_grad is not registered for ascend910b1" in answer.line
    assert (found["socs"], found["tiling"]) == (["ascend910b1", "ascend950"], "a")
    assert (found["first"], found["differing"], found["lane"]) == (None, 0, None)
    rules = {row["rule"]: row for row in found["rules"]}
    assert (rules["compare-tail"]["a"], rules["compare-tail"]["b"]) == ("floor", "ceil")
    assert {row["grade"] for row in found["rules"]} <= {"documented", "code", "report", "assumed"}


@pytest.mark.parametrize(
    "sides",
    [
        ("--profile", "documented", "--profile", "ieee"),
        ("--against-option", "nan=qnan", "--against-option", "subnormals=keep"),
        ("--option", "pad_bytes=none", "--profile", "documented", "--profile", "ieee"),
    ],
)
def test_two_sets_of_options(ask, sides):
    found = ask(*SWISH, *sides, "--json").json
    assert found["options"]["a"].keys() <= {"pad_bytes"}
    assert found["options"]["b"]["nan"] == "qnan"
    assert (found["first"]["name"], found["first"]["rules"]) == ("Cast", ["nan-word"])
    assert found["first"]["where"]["file"].endswith("op_kernel.py")
    assert found["first"]["where"]["line"] > 0
    assert (found["lane"]["rules"], found["lane"]["output"]) == (["flush-subnormals"], "out")
    assert found["differing"] == found["outputs"]["out"]["differing"] > 1000


def test_the_text_names_rule_line_and_way(ask):
    answer = ask(*SWISH, "--against-option", "subnormals=keep")
    assert (answer.code, "gm-slack" in answer.line) == (0, True)
    lines = answer.out.splitlines()
    assert "  options of b  subnormals=keep" in lines
    first = lines.index("the first call that stored other bytes, in block 0")
    assert lines[first + 3] == "    by rule flush-subnormals (assumed)"
    assert any(line.startswith("behind out[") for line in lines[first:])
    assert "\x1b" not in answer.out


def test_data_of_a_file_random_data_and_a_shape(ask, inputs):
    sides = ("--against-option", "overflow=saturate", "--json")
    file = ask("compare", "swish_grad", "--input", inputs, *sides).json
    assert (file["n"], file["differing"], file["first"]) == (21, 0, None)
    drawn = ask("compare", "swish_grad", "--random", "--shape", "7,3", "--seed", 4, *sides).json
    assert drawn["n"] == 21
    bounds = ask("compare", "swish_grad", "--shape", "70,3", *sides).json
    assert bounds["n"] == 210


def test_nothing_to_compare(ask):
    answer = ask("compare", "hard_sigmoid_grad", "--n", 0, "--against-option", "nan=qnan", "--json")
    assert (answer.json["differing"], answer.json["first"], answer.json["blocks"]) == (0, None, [])


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("swish_grad",), 2, "both sides are ascend910b1 with the same options: give one of"),
        (("swish_grad", "--soc", "a", "--soc", "b", "--soc", "c"), 2, "--soc c: there are two"),
        (("swish_grad", "--soc", "ascend911", "--soc", "ascend950"), 2, "'ascend911' is unknown"),
        (("swish_grad", "--against-option", "nan=x"), 2, "option nan='x'"),
        (("swish_grad", "--against-option", "nan"), 2, "--against-option 'nan': write it as"),
        (("swish_grad", "--profile", "x", "--profile", "ieee"), 2, "profile 'x' is unknown"),
        (("nope", "--soc", "ascend910b1", "--soc", "ascend950"), 2, "nope"),
        (
            ("swish_grad", "--dtype", "bfloat16", "--soc", "ascend910b1", "--soc", "ascend910"),
            2,
            "on ascend910: ascend910 has no bfloat16",
        ),
        (
            ("hard_sigmoid_grad", "--soc", "ascend950", "--soc", "ascend310p"),
            1,
            "on ascend310p: ascend310p has no DataCopyPad",
        ),
        (
            ("hard_sigmoid_grad", "--attr", "alpha=0", "--against-option", "nan=qnan"),
            1,
            "on ascend950: ",
        ),
        (("swish_grad", "--random", "--against-option", "nan=qnan"), 2, "--random needs the size"),
        (("swish_grad", "--ub", 0, "--against-option", "nan=qnan"), 2, "--ub 0"),
        (("swish_grad", "--seed", -1, "--against-option", "nan=qnan"), 2, "--seed -1"),
    ],
)
def test_wrong_requests(ask, arguments, code, reason):
    answer = ask("compare", *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert answer.line.startswith("ascendsim: error: ")
    assert reason in answer.line
    assert ask("compare", *arguments, "--json").code == code


def test_a_nan_of_the_data_reaches_the_answer(ask, tmp_path):
    path = tmp_path / "in.npz"
    x = np.full(8, np.nan, np.float32)
    np.savez(path, grad=np.ones_like(x), x=x)
    how = ("--input", path, "--against-option", "nan=qnan")
    answer = ask("compare", "swish_grad", *how)
    assert answer.code == 0
    assert "8 of 8 elements differ, 8 of them in the word of a NaN only" in answer.out
