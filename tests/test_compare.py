"""Where two chips or option sets part: the rule, the first call, the way to the output."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ascendsim as asim
from ascendsim import Options
from ascendsim.dtypes import ALL, float16, float32
from ascendsim.errors import RequestError, UbOverflow, UnsupportedError
from ascendsim.explore import compare_search
from ascendsim.explore.boundary import MOST, boundary_inputs, boundary_values
from ascendsim.explore.compare import Side, compare
from ascendsim.explore.compare_rules import _DECIDED, _OTHER_OPTIONS
from ascendsim.options import CHOICES, FILLS, NOT_YET

A2, A5, A1 = Side("ascend910b1"), Side("ascend950"), Side("ascend910")

DEF = """
from ascendsim.host import Attr, OpDef

OP = OpDef("gate", inputs=("x",), attrs=(Attr("mode", int, 1), Attr("mask", int, 64)),
           dtypes=("float32", "float16"), socs=("ascend910b1", "ascend950"))
"""
HOST = """
from ascendsim.host import Tiling


def tiling(ctx, fixed={}):
    large = ctx.platform.soc.name == "ascend950"
    mask = 64 if large else ctx.attr("mask")
    fields = {"n": ctx.n, "mode": ctx.attr("mode"), "mask": mask, "spare": 0}
    if ctx.attr("mask") == 0 and large:
        fields["spare"] = 200 * 1024
    return Tiling(1, 0, fields)
"""
KERNEL = """
from ascendsim.ascendc import *


def gate(x, out, workspace, tiling):
    Gate(x, out, tiling).Process()


class Gate:
    def __init__(self, x, out, tiling):
        self.tiling, self.T = tiling, x.dtype
        self.xGm, self.outGm = GlobalTensor(self.T), GlobalTensor(self.T)
        self.xGm.SetGlobalBuffer(x, tiling.n)
        self.outGm.SetGlobalBuffer(out, tiling.n)
        self.pipe = TPipe()
        self.xBuf, self.maskBuf, self.outBuf, self.spare = TBuf(), TBuf(), TBuf(), TBuf()
        for buffer in (self.xBuf, self.outBuf):
            self.pipe.InitBuffer(buffer, 4096)
        self.pipe.InitBuffer(self.maskBuf, 256)
        if tiling.spare:
            self.pipe.InitBuffer(self.spare, tiling.spare)

    def Process(self):
        n, T = self.tiling.n, self.T
        x, mask, out = self.xBuf.Get(T), self.maskBuf.Get(uint8_t), self.outBuf.Get(T)
        params = DataCopyParams(1, n * sizeof(T), 0, 0)
        DataCopyPad(x, self.xGm, params, DataCopyPadParams())
        Duplicate(out, 7.0, self.tiling.mask, 1, 1, 8)
        CompareScalar(mask, x, 1.0, list(CMPMODE)[self.tiling.mode], n)
        Select(out, mask, x, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, n)
        Add(out, out, out, n)
        DataCopyPad(self.outGm, out, params)
"""


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels") / "gate"
    folder.mkdir()
    for name, text in (("op_def", DEF), ("op_host", HOST), ("op_kernel", KERNEL)):
        (folder / f"{name}.py").write_text(text)
    return asim.load(folder)


def mode(name):
    from ascendsim.enums import CMPMODE

    return [each.name for each in CMPMODE].index(name)


def named(rows):
    return {row.rule: row for row in rows}


def test_one_kernel_on_two_chips_says_what_differs_and_that_it_does_not_matter():
    found = compare("hard_sigmoid_grad", A2, A5, dtype="float16")
    rules = named(found.rules)
    tail, scratch = rules["compare-tail"], rules["select-scratch"]
    assert (tail.a, tail.b, tail.grade, tail.instructions) == ("floor", "ceil", "code", ())
    assert (scratch.b, scratch.grade, scratch.instructions) == ("none", "assumed", ("Select",))
    assert (rules["compare-ne-nan"].grade, rules["ub_bytes"].b) == ("report", "253952")
    assert rules["pad-bytes"].instructions == ("DataCopyPad",)
    assert "launch-overflow-mode" not in rules  # the same on both
    assert (found.outputs.differing, found.first, found.lane) == (0, None, ())
    assert {"rule": "round-once", "a": "assumed", "b": "documented"} in found.graded
    assert "every call stored the same bytes" in str(found)
    assert any("not registered for ascend910b1" in text for text in found.warnings)


def test_a_tail_that_one_chip_leaves_away(gate):
    x = np.linspace(-3, 3, 100, dtype=np.float32)
    found = compare(gate, A2, A5, {"x": x}, mode=mode("GT"))
    runs = [
        asim.launch(gate, {"x": x}, gate.tiling((100,), soc=s.soc, mode=mode("GT")))
        for s in (A2, A5)
    ]
    outs = [run.out.view(np.uint32) for run in runs]
    wrong = np.flatnonzero(outs[0] != outs[1])
    assert found.outputs.differing == wrong.size > 0
    assert found.outputs.element == ("out", wrong[0])
    first = found.first
    assert (first.name, first.call["count"]) == ("CompareScalar", (64, 100))
    assert first.lane >= 64  # the first repeat is the same
    assert [(rule.rule, rule.grade) for rule in found.first_rules] == [("compare-tail", "code")]
    assert [step.name for step in found.lane][-2:] == ["Select", "Add"]
    assert found.tiling == "same"


def test_a_nan_that_one_chip_finds_unequal(gate):
    x = np.array([1, np.nan, 2, -0.0] * 16, np.float32)
    found = compare(gate, A2, A5, {"x": x}, mode=mode("NE"))
    assert found.outputs.differing == 16
    assert [(r.rule, r.a, r.b, r.grade) for r in found.first_rules] == [
        ("compare-ne-nan", "0", "1", "report")
    ]
    assert (found.first.name, found.first.lane, found.first.bits) == ("CompareScalar", 1, (0, 1))
    assert found.outputs.element == ("out", 1)
    told = compare(gate, A2, Side("ascend910b1", Options(ne_nan="1")), {"x": x}, mode=mode("NE"))
    assert named(told.rules).keys() == {"compare-ne-nan"}
    assert told.first_rules[0].rule == "compare-ne-nan"


def test_two_rules_at_one_instruction_are_told_apart():
    found = compare("swish_grad", Side(), Side(options=Options.of("ieee")), dtype="float16")
    assert (found.first.name, found.first.bits) == ("Cast", (0x7FFFFFFF, 0x7FC00000))
    assert [rule.rule for rule in found.first_rules] == ["nan-word"]
    assert found.lane[0].name == "Div"
    assert [rule.rule for rule in found.lane_rules] == ["flush-subnormals"]
    assert found.lane[-1].name == "Cast"
    each = found.outputs.by_name["out"]
    assert each.differing - each.nan_words == 2
    assert each.ulp is None  # of these two, one side is NaN


def test_saturation_is_the_first_thing_that_parts():
    x = np.array([1, 60000, -60000, np.inf], np.float16)
    saturated = Side(options=Options(overflow="saturate"))
    found = compare("add", Side(), saturated, {"x": x, "y": x}, dtype="float16")
    assert (found.first.name, found.first.lane) == ("Add", 1)
    assert found.first.bits == (0x7C00, 0x7BFF)
    assert [rule.rule for rule in found.first_rules] == ["launch-overflow-mode"]
    assert (found.outputs.differing, found.outputs.by_name["z"].ulp) == (3, 1)


def test_whose_tiling_runs(gate):
    x = np.ones(64, np.float32)
    assert compare(gate, A2, A5, {"x": x}).tiling == "same"
    assert compare("hard_sigmoid_grad", A2, A5).tiling == "a"
    assert compare("hard_sigmoid_grad", A5, A2).tiling == "b"
    own = compare(gate, A2, A5, {"x": np.full(65, np.nan, np.float32)}, mask=0, mode=mode("NE"))
    assert (own.tiling, own.outputs.differing) == ("own", 64)
    assert (own.first.name, own.first_rules[0].rule) == ("CompareScalar", "compare-ne-nan")
    assert "each side its own" in str(own)


@pytest.mark.parametrize(
    ("op", "other", "how", "error", "text"),
    [
        ("swish_grad", A1, {"dtype": "bfloat16"}, RequestError, "on ascend910: ascend910 has no"),
        (
            "hard_sigmoid_grad",
            A1,
            {},
            UnsupportedError,
            "on ascend910: .* has no DataCopyPad",
        ),
        ("swish_grad", A2, {}, RequestError, "both sides are ascend910b1 with the same options"),
    ],
)
def test_what_does_not_run_says_where(op, other, how, error, text):
    with pytest.raises(error, match=text):
        compare(op, A2, other, **how)


def test_a_tiling_that_neither_chip_takes():
    def larger(tiling):
        return tiling.replace({"ubFactor": 1 << 20})

    with pytest.raises(UbOverflow, match="on ascend910b1: "):
        compare("hard_sigmoid_grad", A2, A5, adjust=larger)


def test_of_a_large_run_the_block_that_parts_is_recorded(monkeypatch):
    monkeypatch.setattr(compare_search, "RECORDED", 100)
    x = np.ones(3000, np.float16)
    x[2500] = 60000
    sides = Side(), Side(options=Options(overflow="saturate"))
    found = compare("add", *sides, {"x": x, "y": x}, dtype="float16", cores=4)
    assert len(found.blocks) == 1
    assert found.first.block == found.blocks[0] > 0
    assert (found.first.name, found.outputs.element) == ("Add", ("z", 2500))


def test_the_document_holds_only_what_json_has():
    found = compare("swish_grad", Side(), Side(options=Options.of("ieee")), dtype="float16")
    document = json.loads(json.dumps(found.to_json()))
    assert set(document["first"]) >= {"seq", "where", "rules", "ulp", "a", "b"}
    assert document["first"]["where"]["file"].endswith("op_kernel.py")
    assert document["differing"] == found.outputs.differing
    assert {"rule", "a", "b", "grade"} <= document["rules"][0].keys()
    assert document["lane"]["steps"][0]["name"] == "Div"


def test_every_option_with_a_choice_is_compared():
    modelled = {
        name: [v for v in values if (name, v) not in NOT_YET] for name, values in CHOICES.items()
    }
    chosen = {name for name, values in modelled.items() if len(values) > 1} | FILLS.keys()
    # no bit depends on when the simulator checks itself, and on what a finding does
    chosen -= {"fused_check", "out_of_bounds", "race", "sync", "uninitialized"}
    assert chosen == {option for _, option, _ in _DECIDED if option} | set(_OTHER_OPTIONS)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_boundary_values(dtype):
    values = boundary_values(dtype)
    words = values.view(dtype.bits)
    assert values.dtype == dtype.numpy
    assert len(set(words.tolist())) == words.size
    if dtype.kind != "float":
        limits = np.iinfo(dtype.numpy)
        assert {0, 1, limits.min, limits.max} <= set(values.tolist())
        return
    sign = 1 << (8 * dtype.nbytes - 1)
    infinity = dtype.to_bits(np.inf)
    wanted = (0, 1, infinity, infinity - 1, infinity + 1, dtype.to_bits(1.0), sign - 1)
    assert {word | side for word in wanted for side in (0, sign)} <= set(words.tolist())
    assert ((words & (sign - 1)) > infinity).sum() >= 6


def test_boundary_ties_lie_between_two_halves():
    tie = np.float32(1 + 2**-11)
    assert tie in boundary_values(float32)
    assert np.float32(65520) in boundary_values(float32)
    assert {1024.5, 512.5} & {float(v) for v in boundary_values(float16)}


def test_boundary_inputs_are_all_pairs_or_a_choice_with_every_value():
    pairs = boundary_inputs({"x": float16, "y": float16})
    size = boundary_values(float16).size
    both = set(zip(*(pairs[k].view(np.uint16).tolist() for k in "xy"), strict=True))
    assert len(both) == size**2 == pairs["x"].size
    three = boundary_inputs(dict.fromkeys("abc", float32))
    every = set(boundary_values(float32).view(np.uint32).tolist())
    assert all(set(v.view(np.uint32).tolist()) == every for v in three.values())
    assert three["a"].size == MOST
    assert boundary_inputs({"x": float32}, 7)["x"].size == 7
