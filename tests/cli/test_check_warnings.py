"""`ascendsim check` of kernels that launch with warnings: findings instead, and told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendsim.view import explain
from tests.cli.conftest import Ask

KERNEL = """
from ascendsim.ascendc import *


def shifts(x, out, workspace, tiling):
    pipe, queue = TPipe(), TQue(TPosition.VECOUT, 1)
    pipe.InitBuffer(queue, 1, 1024)
    xGm, outGm = GlobalTensor(float32), GlobalTensor(float32)
    xGm.SetGlobalBuffer(x)
    outGm.SetGlobalBuffer(out)
    a = queue.AllocTensor(float32)
    Duplicate(a, 1.0, 256)
    CALL
    queue.EnQue(a)
    a = queue.DeQue(float32)
    DataCopy(outGm, a, COUNT)
    queue.FreeTensor(a)
"""
HOST = """
from ascendsim.host import Tiling


def tiling(ctx, fixed={}):
    return Tiling(1, 0, {})
"""
DEFINITION = """
from ascendsim.host import OpDef


def infer(ctx):
    return (128,)


OP = OpDef("shifts", infer=infer)
"""


def written(folder: Path, call: str = "pass", count: int = 128) -> Path:
    """Write the kernel with this call, storing `count` elements."""
    folder.mkdir(exist_ok=True)
    kernel = KERNEL.replace("CALL", call).replace("COUNT", str(count))
    texts = {"kernel": kernel, "host": HOST, "def": DEFINITION}
    for name, text in texts.items():
        (folder / f"op_{name}.py").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("call", "code", "severity"),
    [
        ("Muls(a[8:], a, 2.0, 120)", "memcheck:overlap", "error"),
        ("Adds(a, a, 1.0, 65, 2, UnaryRepeatParams())", "memcheck:mask-lanes", "warning"),
    ],
)
def test_a_warning_of_an_instruction(
    ask: Ask, tmp_path: Path, call: str, code: str, severity: str
) -> None:
    folder = written(tmp_path / "shifts", call)
    for _ in range(2):
        answer = ask("check", folder, "--n", 128, "--json")
        (found,) = answer.json["findings"]
        assert (found["code"], found["severity"]) == (code, severity)
        assert found["where"] == {"file": str(folder / "op_kernel.py"), "line": 13}
        assert found["bytes"]
        assert found["way_out"]
        assert (answer.code, answer.err) == (int(severity == "error"), "")
    page = explain.find(code)
    assert page is not None
    assert f"Way out: {found['way_out']}" in page.text


def test_an_output_that_is_not_written_whole(ask: Ask, tmp_path: Path) -> None:
    folder = written(tmp_path / "shifts", count=120)
    answer = ask("check", folder, "--n", 128, "--json")
    (found,) = answer.json["findings"]
    assert (found["code"], found["severity"]) == ("memcheck:unused-memory", "warning")
    assert (found["memory"], found["bytes"], found["where"]["line"]) == ("out", [480, 512], 10)
    assert (answer.code, answer.err) == (0, "")
    others = ask("check", folder, "--n", 128, "--tools", "initcheck", "--json")
    assert others.json == {"findings": []}
    assert "coverage: out: 32 of 512 bytes never written" in others.err


def test_the_header_has_the_shape_asked(ask: Ask, tmp_path: Path) -> None:
    folder = written(tmp_path / "shifts")
    assert " n=128 on " in ask("check", folder, "--n", 128).out
    assert " n=64 on " in ask("check", folder, "--n", 64).out  # though out has 128
    assert " shape (2,16) on " in ask("check", folder, "--shape", "2,16").out
