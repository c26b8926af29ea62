"""`ascendsim time`: keys, text, files, and how it says no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ascendsim.view import explain
from tests.cli.conftest import Ask

HARD = "hard_sigmoid_grad"
READS = """
from ascendsim.ascendc import *
def reads(x, out, workspace, tiling):
    pipe, buf = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buf, 64)
    t = buf.Get(x.dtype)
    source = GlobalTensor(x.dtype)
    source.SetGlobalBuffer(x, 16)
    DataCopy(t, source, 16)
    if t.GetValue(0) > 0:
        Muls(t, t, 2.0, 16)
"""


def test_json_keys(ask: Ask) -> None:
    document = ask("time", HARD, "--n", 1_000_000, "--json").json
    keys = {"aiv_us", "task_us", "cycles", "cores", "bound", "pipes", "bytes", "ub", "confidence"}
    assert keys <= set(document)
    assert list(document["pipes"]) == ["S", "MTE2", "V", "MTE3"]
    for pipe in document["pipes"].values():
        assert set(pipe) == {"busy_cycles", "ratio"}
    assert document["bound"] in ("HBM", "MTE2", "V", "MTE3", "S", "launch")
    assert document["bytes"]["read"] == 8_000_000
    assert document["bytes"]["write"] == 4_000_000
    assert set(document["ub"]) == {"used", "capacity"}
    assert 0 <= document["confidence"]["low_share"] <= 1
    assert document["cores"] == 64
    assert document["task_us"] > document["aiv_us"] > 0


def test_text(ask: Ask) -> None:
    answer = ask("time", "swish_grad", "--n", 10_000_000, "--dtype", "float16")
    assert answer.code == 0
    assert answer.err == ""
    words = "aiv time|task time|UB used|pipes of|MTE2|stalls|GB/s|bound by|advice|confidence"
    for word in words.split("|"):
        assert word in answer.out
    assert "█" in answer.out


def test_defaults_and_common_options(ask: Ask) -> None:
    one = ask("time", HARD, "--n", 1000, "--json").json
    assert one == ask("time", HARD, "--shape", "10,100", "--dtype", "float32", "--json").json
    few = ask("time", HARD, "--n", 1_000_000, "--cores", 4, "--json").json
    many = ask("time", HARD, "--n", 1_000_000, "--json").json
    assert few["cores"] == 4
    assert few["aiv_us"] > many["aiv_us"]


def test_buffer_num(ask: Ask) -> None:
    request = ("time", "hard_swish_grad", "--n", 3_000_000, "--ub", 300_000, "--json")
    one, two = (ask(*request, "--buffer-num", number).json for number in (1, 2))
    assert two["ub"]["used"] > one["ub"]["used"]
    assert two["aiv_us"] < one["aiv_us"]
    assert "--buffer-num 0: must be at least 1" in ask(*request[:-1], "--buffer-num", 0).line


def test_files(ask: Ask, tmp_path: Path) -> None:
    trace, plot, folder = tmp_path / "t.json", tmp_path / "p.svg", tmp_path / "prof"
    files = ("--trace", trace, "--plot", plot, "--profile-csv", folder)
    assert ask("time", HARD, "--n", 1_000_000, *files).code == 0
    events = json.loads(trace.read_text())["traceEvents"]
    assert len({e["pid"] for e in events}) == 2
    assert plot.read_text().startswith("<svg")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["PipeUtilization.csv", "ResourceConflictRatio.csv"]
    assert ask("time", HARD, "--n", 1_000_000, "--trace", trace, "--all-blocks").code == 0
    assert len({e["pid"] for e in json.loads(trace.read_text())["traceEvents"]}) == 64


def test_a_failure_leaves_no_file(ask: Ask, tmp_path: Path) -> None:
    files = ("--trace", tmp_path / "t.json", "--plot", tmp_path / "p.svg")
    folder = tmp_path / "prof"
    request = ("time", HARD, "--n", 1_000_000, "--tiling", "ubFactor=99999999", *files)
    answer = ask(*request, "--profile-csv", folder)
    assert answer.code == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("soc", ["ascend910", "ascend310p"])
def test_no_costs(ask: Ask, soc: str) -> None:
    answer = ask("time", HARD, "--n", 1000, "--soc", soc)
    assert answer.code == 1
    assert f"no timing data for {soc}" in answer.line
    assert "nearest SoC with costs is ascend910b1" in answer.line


def test_a_kernel_that_reads_data(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "reads"
    folder.mkdir()
    head = "from ascendsim.host import OpDef, Tiling\n"
    (folder / "op_def.py").write_text(
        head + 'OP = OpDef("reads", inputs=("x",), outputs=("out",), dtypes=("float32",))\n'
    )
    (folder / "op_host.py").write_text(head + "def tiling(ctx):\n    return Tiling(1, 0, {})\n")
    (folder / "op_kernel.py").write_text(READS)
    answer = ask("time", folder, "--n", 16)
    assert answer.code == 1
    assert "op_kernel.py:10: GetValue: this run makes records only (time" in answer.line


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ((), "give the size"),
        (("--n", -1), "must not be negative"),
        (("--n", 9, "--all-blocks"), "--all-blocks goes with --trace"),
        (("--n", 9, "--option", "nan=maybe"), "nan"),
        (("--n", 9, "--trace", "missing/t.json"), "there is no directory"),
    ],
)
def test_bad_requests(ask: Ask, more: tuple[object, ...], text: str) -> None:
    answer = ask("time", HARD, *more)
    assert answer.code == 2
    assert text in answer.line


@pytest.mark.parametrize(
    "topic", ["bound", "stall", "hbm", "bank-conflict", "latency", "trace", "low-share"]
)
def test_pages(topic: str) -> None:
    page = explain.find(topic)
    assert page is not None
    assert len(page.text) > 200
