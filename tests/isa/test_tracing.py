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
    assert str(at.why("b", 9)).endswith(f"= {np.float32(1).view(np.uint32):#x}")
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
