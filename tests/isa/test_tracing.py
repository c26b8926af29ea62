"""What the stepper and explain_lane say of calls that mix lanes, and of Copy, which does not."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError

HOST = """
from ascendsim.host import Tiling
def tiling(ctx, fixed={}):
    return Tiling(1, 0, {})
"""
DEFINITION = """
from ascendsim.host import OpDef
OP = OpDef("moved", ("x",), ("out",), dtypes=("float32",), socs=("ascend910b1",))
"""
REFERENCE = """
def definition(x):
    return x
"""
KERNEL = """
from ascendsim.ascendc import *
class Moved:
    def __init__(self, x, out):
        self.pipe, self.a, self.b = TPipe(), TBuf(), TBuf()
        self.pipe.InitBuffer(self.a, 256)
        self.pipe.InitBuffer(self.b, 2048)
        self.x, self.out = GlobalTensor(float32), GlobalTensor(float32)
        self.x.SetGlobalBuffer(x)
        self.out.SetGlobalBuffer(out)
    def Compute(self):
        a, b = self.a.Get(float32), self.b.Get(float32)
        DataCopy(a, self.x, 64)
        {line}
def moved(x, out, workspace, tiling):
    Moved(x, out).Compute()
"""
STORE = "; DataCopy(self.out, b, 64)"


def moved(tmp_path, line):
    files = {"op_def": DEFINITION, "op_host": HOST, "op_ref": REFERENCE}
    files["op_kernel"] = KERNEL.replace("{line}", line)
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    op = asim.load(str(tmp_path))
    x = np.arange(64, dtype=np.float32)
    return asim.launch(op, {"x": x}, op.tiling((64,)), record="bytes")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "moved"
    place.mkdir()
    return place


def test_copy_is_followed(folder):
    run = moved(folder, "Copy(b, a, 64, 1, CopyRepeatParams())" + STORE)
    assert run.explain_lane(5).kind == "exact"
    at = run.stepper()
    at.goto(len(at))
    assert "GM x[5]" in str(at.why("b", 5))


def test_what_mixes_lanes_is_named(folder):
    run = moved(folder, "Brcb(b, a, 8, BrcbRepeatParams(1, 8))" + STORE)
    with pytest.raises(RequestError, match=r"depends on Brcb at line .* not followed"):
        run.explain_lane(9)
    at = run.stepper()
    assert at.until(name="Brcb")
    at.next()
    assert list(at.view("b")[7:10]) == [0, 1, 1]
    value, read = str(at.why("b", 9)).splitlines()
    assert value.endswith(f"Brcb b[byte 0x24] = {np.float32(1).view(np.uint32):#x}")
    assert read == "  mixes lanes of a UB[0x0, 0x100)"
    before = at.ub.copy()
    at.back().next()
    assert np.array_equal(at.ub, before)


def test_atomic_stores_are_named(folder):
    run = moved(
        folder, "InitOutput(self.out, 64); SetAtomicAdd(float32); DataCopy(self.out, a, 64)"
    )
    assert list(run.out) == list(range(64))
    with pytest.raises(RequestError, match="depends on DataCopy"):
        run.explain_lane(9)


REDUCTION = "WholeReduceMax(b, a, 64, 1, 1, 1, 8)"
GATHER = (
    "ArithProgression(b[64:].ReinterpretCast(int32_t), 0, 4, 64); "
    "Gather(b, a, b[64:].ReinterpretCast(uint32_t), 0, 64)"
)
MIXING = {
    "WholeReduceMax": (REDUCTION, ["a UB[0x0, 0x100)"], 1),
    "Gather": (GATHER, ["a UB[0x0, 0x100)", "b UB[0x200, 0x300)"], 63),
}


@pytest.mark.parametrize("name", MIXING)
def test_every_question_on_a_call_that_mixes_lanes(folder, tmp_path, name):
    line, sources, lane = MIXING[name]
    run = moved(folder, "Duplicate(b, 0.0, 512); " + line + STORE)
    answer = str(run.why("out", lane))
    assert [each.strip() for each in answer.splitlines()[-len(sources) :]] == [
        f"mixes lanes of {source}" for source in sources
    ]
    assert run.why("out", lane)._repr_html_()
    with pytest.raises(RequestError, match=rf"depends on {name} .* lanes of a UB\[0x0, 0x100\)"):
        run.explain_lane(lane)
    x = np.arange(64, dtype=np.float32)
    x[63] = 777
    op = asim.load(str(folder))
    other = asim.launch(op, {"x": x}, op.tiling((64,)), record="bytes")
    later = run.diff(other).chain[0]
    assert (later.name, later.place, later.ulp) == (name, f"b[{0 if lane == 1 else 63}]", None)
    saved = tmp_path / "run.asim"
    run.save(saved)
    again = asim.open(saved)
    assert str(again.why("out", lane)) == answer
    assert str(again.diff(other)) == str(run.diff(other))
    one, two = (each.stepper() for each in (run, again))
    for at in (one, two):
        at.until(holds=63.0, buffer="b")
    assert str(one) == str(two)
    assert one.entries[one.position - 1].instr.call.name == name
    page = tmp_path / "run.html"
    run.save_capsule(page)
    assert str(asim.open(page).why("out", lane)) == answer
