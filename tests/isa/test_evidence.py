"""Which rules a run names, and how well each is known on its SoC."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.isa import RULES
from ascendsim.isa.rules import GRADES, weakest
from tests.kit import Ub, run_block


def evidence(name, soc, dtype="float32", options=None):
    op = asim.load(name)
    x = np.linspace(-4, 4, 65).astype(op.definition.choose_dtypes(dtype)["x"].numpy)
    til = op.tiling(x.shape, dtype, soc=soc)
    run = asim.launch(op, {"grad": x, "x": x}, til, options=options)
    return run.evidence, {row["rule"]: row for row in run.evidence["rules"]}


def test_swish_grad_on_910b_stands_on_assumptions():
    whole, rules = evidence("swish_grad", "ascend910b1")
    assert whole["weakest"] == "assumed"
    for rule, instructions in (
        ("exp-bits", ["Exp"]),
        ("div-bits", ["Div"]),
        ("flush-subnormals", ["Div", "Exp"]),
    ):
        assert rules[rule]["grade"] == "assumed"
        assert rules[rule]["instructions"] == instructions
    assert rules["copy-datablocks"]["grade"] == "documented"
    assert rules["gm-slack"]["grade"] == "assumed"


def test_hard_sigmoid_grad_on_950_names_the_overflow_mode():
    _, rules = evidence("hard_sigmoid_grad", "ascend950", "float16")
    assert rules["launch-overflow-mode"]["grade"] == "assumed"
    assert "CTRL[48]" in rules["launch-overflow-mode"]["text"]
    assert rules["round-once"]["grade"] == "documented"
    assert rules["compare-nan"]["grade"] == "documented"
    assert rules["pad-bytes"]["grade"] == "documented"
    assert "exp-bits" not in rules
    _, older = evidence("hard_sigmoid_grad", "ascend910b1", "float16")
    assert older["round-once"]["grade"] == older["compare-nan"]["grade"] == "assumed"


def test_the_weakest_come_first():
    whole, _ = evidence("hard_swish_grad", "ascend910b1")
    grades = [row["grade"] for row in whole["rules"]]
    order = [GRADES.index(g) for g in grades]
    assert order == sorted(order, reverse=True)
    assert whole["weakest"] == grades[0]
    assert all(row["text"] and row["source"] for row in whole["rules"])


def test_a_second_run_on_the_same_core_says_the_same():
    assert evidence("swish_grad", "ascend910b1")[0] == evidence("swish_grad", "ascend910b1")[0]


@pytest.mark.parametrize("setting", ["keep", "flush"])
def test_the_flush_rule_is_not_relied_on_when_an_option_decides(setting):
    _, rules = evidence("swish_grad", "ascend910b1", options=asim.Options(subnormals=setting))
    assert "flush-subnormals" not in rules


def compare_ne():
    u = Ub(a=(float32, 64), m=(uint8, 32))
    Compare(u["m"], u["a"], u["a"], CMPMODE.NE, 64)


def test_not_equal_of_nan():
    grades = [
        run_block(compare_ne, soc=soc).rules["compare-ne-nan"]
        for soc in ("ascend910b1", "ascend950", "ascend310p")
    ]
    assert grades == ["report", "documented", "assumed"]


def cast(mode):
    def body():
        u = Ub(a=(float32, 64), b=(half, 64))
        Cast(u["b"], u["a"], mode, 64)

    return run_block(body).rules


def test_directed_rounding_overflow_is_a_rule_of_its_own():
    assert "cast-directed-overflow" not in cast(RoundMode.CAST_RINT)
    assert cast(RoundMode.CAST_FLOOR)["cast-directed-overflow"] == "assumed"


def test_forms_and_order():
    def counted():
        t = Ub(a=(float32, 64))["a"]
        Adds(t, t, 1.0, 64)

    def repeated():
        t = Ub(a=(float32, 64))["a"]
        Adds(t, t, 1.0, 64, 1)

    rules = run_block(counted).rules
    assert rules["count-form"] == "code"
    assert "repeat-order" not in rules
    rules = run_block(repeated).rules
    assert "count-form" not in rules
    assert rules["repeat-order"] == "assumed"


def test_every_rule_is_complete():
    for rule in RULES.values():
        assert rule.text
        assert rule.source
        for arch in ("c100", "m200", "c220", "3510"):
            assert rule.grade(arch) in GRADES
    assert weakest([]) == "documented"
    assert weakest(["code", "report", "documented"]) == "report"
