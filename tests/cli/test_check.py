"""`ascendsim check`: exit codes, the document, the text, and the pages of what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ascendsim.observe.checks import CODES, TOOLS
from ascendsim.view import explain
from tests.cli.conftest import Ask

KEYS = [
    "code",
    "severity",
    "message",
    "core",
    "seq",
    "other_seq",
    "where",
    "bytes",
    "count",
    "instruction",
    "partner",
    "memory",
    "way_out",
    "buffer",
]
NPUCHK = [
    "ErrorRead1",
    "ErrorRead2",
    "ErrorRead3",
    "ErrorRead4",
    "ErrorWrite1",
    "ErrorWrite2",
    "ErrorWrite3",
    "ErrorWrite4",
    "ErrorSync1",
    "ErrorSync2",
    "ErrorSync3",
    "ErrorSync4",
    "ErrorLeak",
    "ErrorFree",
    "ErrorBuffer0",
    "ErrorBuffer1",
    "ErrorBuffer2",
    "ErrorBuffer3",
    "ErrorBuffer4",
]

KERNEL = """
from ascendsim.ascendc import *


def racy(x, out, workspace, tiling):
    pipe, buf = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buf, 256)
    a, xGm, outGm = buf.Get(float32), GlobalTensor(float32), GlobalTensor(float32)
    xGm.SetGlobalBuffer(x)
    outGm.SetGlobalBuffer(out)
    DataCopy(a, xGm, 64)
    Muls(a, a, 2.0, 64)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(outGm, a, 64)
"""
HOST = """
from ascendsim.host import Tiling


def tiling(ctx, fixed={}):
    return Tiling(1, 0, {})
"""
DEFINITION = """
from ascendsim.host import OpDef

OP = OpDef("racy", ("x",), ("out",), dtypes=("float32",), socs=("ascend910b1",))
"""


@pytest.fixture
def racy(tmp_path: Path) -> Path:
    folder = tmp_path / "racy"
    folder.mkdir()
    for name, text in (("op_kernel", KERNEL), ("op_host", HOST), ("op_def", DEFINITION)):
        (folder / f"{name}.py").write_text(text)
    return folder


def test_a_clean_kernel(ask: Ask) -> None:
    answer = ask("check", "hard_swish_grad", "--n", 5000, "--json")
    assert (answer.code, answer.json) == (0, {"findings": []})
    text = ask("check", "hard_swish_grad", "--n", 5000)
    assert text.out.startswith(f"{', '.join(TOOLS)} of hard_swish_grad float32 n=5000 on ")
    assert text.out.endswith(": nothing found\n")


def test_errors_make_the_exit_code_1(ask: Ask, racy: Path) -> None:
    answer = ask("check", racy, "--n", 64, "--json")
    assert answer.code == 1
    (found,) = answer.json["findings"]
    assert list(found) == KEYS
    assert (found["code"], found["severity"]) == ("racecheck:raw-inter-pipe", "error")
    assert found["where"] == {"file": str(racy / "op_kernel.py"), "line": 12}
    assert (found["bytes"], found["memory"], found["count"]) == ([0, 256], "UB", 1)
    assert (found["instruction"], found["core"]) == ("Muls", 0)
    assert found["partner"] == f"DataCopy on MTE2 at {racy / 'op_kernel.py'}:11"
    assert found["other_seq"] < found["seq"]


def test_the_text_of_a_finding(ask: Ask, racy: Path) -> None:
    out = ask("check", racy, "--n", 64).out.splitlines()
    assert out[0].endswith(": 1 error, 0 warnings")
    assert out[2].startswith(f"{racy / 'op_kernel.py'}:12: error: Muls on V reads bytes that ")
    assert out[4:6] == [
        "  UB[0x0, 0x100) of UB0",
        f"  with DataCopy on MTE2 at {racy / 'op_kernel.py'}:11",
    ]
    assert out[6].startswith("  way out: EnQue and DeQue of a queue; or SetFlag(")


def test_tools_are_chosen(ask: Ask, racy: Path) -> None:
    answer = ask("check", racy, "--n", 64, "--tools", "memcheck, synccheck", "--json")
    assert (answer.code, answer.json) == (0, {"findings": []})
    assert ask("check", racy, "--n", 64, "--tools", "racecheck").code == 1


def test_an_error_of_the_kernel_is_a_finding(ask: Ask, racy: Path) -> None:
    kernel = racy / "op_kernel.py"
    kernel.write_text(KERNEL.replace("Muls(a, a, 2.0, 64)", "Muls(a, a, 2.0, 65)"))
    answer = ask("check", racy, "--n", 64, "--json")
    assert answer.code == 1
    (found,) = answer.json["findings"]
    assert (found["code"], found["where"]["line"]) == ("memcheck:out-of-bounds", 12)
    assert answer.err == ""  # told once, by the finding
    text = ask("check", racy, "--n", 64)
    assert text.out.count("out-of-bounds") == 1
    assert text.out.endswith("what comes behind it was neither run nor checked.\n")
    assert text.err == ""


def test_warnings_do_not_change_the_exit_code(ask: Ask) -> None:
    answer = ask("check", "swish_grad", "--n", 5, "--json")
    assert answer.code == 0
    assert {each["severity"] for each in answer.json["findings"]} == {"warning"}


def test_strict(ask: Ask) -> None:
    found = ask("check", "hard_swish_grad", "--n", 5000, "--strict", "--json").json["findings"]
    assert {each["code"] for each in found} == {"initcheck:uninitialized-read"}


def test_the_option_raises(ask: Ask, racy: Path) -> None:
    answer = ask("check", racy, "--n", 64, "--option", "race=raise")
    assert answer.code == 1
    assert answer.line.endswith("[racecheck:raw-inter-pipe] [block 0]")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--tools", "races"), "'races' is unknown"),
        (("--tools", ","), "name some of memcheck"),
        (("--tools", ""), "name some of memcheck"),
    ],
)
def test_bad_requests(ask: Ask, arguments: tuple[str, ...], text: str) -> None:
    answer = ask("check", "add", "--n", 64, *arguments)
    assert answer.code == 2
    assert text in answer.line


@pytest.mark.parametrize("code", [*CODES, *TOOLS, *NPUCHK, "mssanitizer", "npuchk"])
def test_every_code_has_its_page(code: str) -> None:
    page = explain.find(code)
    assert page is not None
    assert len(page.text) > 80
    if code in CODES:
        assert (page.name, page.kind) == (code, "finding")
        assert f"Severity: {CODES[code].severity}." in page.text
    if code in NPUCHK:
        assert page.name in CODES
        assert code in page.text


def test_the_list_of_topics_names_the_findings(ask: Ask) -> None:
    assert "findings (" in ask("explain").out
    assert "racecheck:raw-inter-pipe" in ask("explain", "--json").json["topics"]
