"""`ascendsim tile`: its document, its table, its files, and what it refuses."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ascendsim.cli.tile import parse_axis
from ascendsim.errors import RequestError
from ascendsim.view import sweep_plot
from tests.cli.conftest import Ask

OP = ("tile", "swish_grad", "--n", 100_000, "--dtype", "float16")
SWEEP = ("--sweep", "tileDataNum=512:8192:2560", "--sweep", "buffer_num=1,2,9")
KEYS = {"valid", "reason", "aiv_us", "low", "high", "bound", "ub_used"}


def test_document(ask: Ask):
    answer = ask(*OP, *SWEEP, "--top", 2, "--json")
    assert answer.code == 0
    # a slow machine may show progress, nothing else
    assert all(line.endswith(" of 12") for line in answer.err.splitlines())
    document = answer.json
    assert {"rows", "best", "pareto", "shipped"} <= document.keys()
    assert len(document["rows"]) == 12
    assert {"tileDataNum", "buffer_num"} | KEYS <= document["rows"][0].keys()
    valid = [row for row in document["rows"] if row["valid"]]
    assert document["best"][0] == min(valid, key=lambda row: row["aiv_us"])
    assert len(document["best"]) == 2
    assert document["shipped"]["tileDataNum"] == 8176
    dead = [row for row in document["rows"] if not row["valid"]]
    assert all(row["reason"] and row["aiv_us"] is None for row in dead)


def test_coverage_is_the_whole_reason(ask: Ask):
    document = ask(*OP, "--sweep", "tileDataNum=512", "--block-dim", 3, "--json").json
    assert [(row["valid"], row["reason"]) for row in document["rows"]] == [(False, "coverage")]


def test_table(ask: Ask):
    answer = ask(*OP, *SWEEP, "--top", 1)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == "tilings of swish_grad on ascend910b1"
    assert "shipped, not among the points" in answer.out
    assert any(line.startswith("8 of 12 points are valid") for line in lines)
    assert "UB capacity" in answer.out
    assert "queue limits" in answer.out
    marked = ask(*OP, "--sweep", "tileDataNum=512,8176", "--top", 1).out
    assert [line for line in marked.splitlines() if "8176" in line and "shipped" in line]


def test_files(ask: Ask, tmp_path: Path):
    table, picture = tmp_path / "points.csv", tmp_path / "points.svg"
    answer = ask(*OP, *SWEEP, "--csv", table, "--plot", picture, "--json")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["tileDataNum"] for row in rows] == [
        str(row["tileDataNum"]) for row in answer.json["rows"]
    ]
    assert ElementTree.fromstring(picture.read_bytes()).tag.endswith("svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points.csv", "points.svg"]


def test_no_file_after_a_failure(ask: Ask, tmp_path: Path):
    answer = ask(*OP, "--sweep", "nosuch=1", "--csv", tmp_path / "points.csv")
    assert answer.code == 2
    assert list(tmp_path.iterdir()) == []
    assert ask(*OP, *SWEEP, "--csv", tmp_path / "none" / "points.csv").code == 2


@pytest.mark.parametrize("installed", [False, True])
def test_picture(ask: Ask, monkeypatch: pytest.MonkeyPatch, installed: bool):
    document = ask(*OP, *SWEEP, "--json").json
    if installed:
        pytest.importorskip("matplotlib")
    monkeypatch.setattr(sweep_plot.importlib.util, "find_spec", lambda name: installed or None)
    names = ["tileDataNum", "buffer_num"]
    drawn = sweep_plot.sweep_svg("a < b", names, document["rows"], document["shipped"])
    assert drawn == sweep_plot.sweep_svg("a < b", names, document["rows"], document["shipped"])
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    if not installed:
        text = drawn.decode()
        for label in ("buffer_num 1", "buffer_num 2", "shipped", "rejected", "tileDataNum"):
            assert f">{label}<" in text
        assert text.count("<circle") == 8 + 2


def test_axes():
    assert parse_axis("a=1:7:3") == ("a", [1, 4, 7])
    assert parse_axis("a=1:6:3") == ("a", [1, 4])
    assert parse_axis(" a = 0x10, 2.5 ,-1") == ("a", [16, 2.5, -1])


@pytest.mark.parametrize(
    "word",
    ["", "a", "a=", "=1", "a=1:2", "a=1:2:3:4", "a=1:9:0", "a=9:1:1", "a=1:x:1", "a=1,,2", "a=x"],
)
def test_malformed_sweeps(ask: Ask, word: str):
    answer = ask(*OP, "--sweep", word)
    assert answer.code == 2
    assert "--sweep" in answer.line


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "give what to sweep"),
        (("--sweep", "a=1", "--sweep", "a=2"), "a is swept twice"),
        (("--sweep", "nosuch=1"), "tiling field 'nosuch' is unknown"),
        (("--sweep", "block_dim=0"), "block_dim = 0"),
        (("--sweep", "tileDataNum=512", "--top", "0"), "--top 0"),
        (("--sweep", "tileDataNum=512", "--scheduler", "far"), "use local or tcp://HOST:PORT"),
        (("--sweep", "tileDataNum=512", "--tiling", "nosuch=1"), "'nosuch' is unknown"),
    ],
)
def test_requests_that_make_no_sense(ask: Ask, arguments: tuple[str, ...], text: str):
    answer = ask(*OP, *arguments)
    assert answer.code == 2
    assert text in answer.line


def test_too_many_values():
    with pytest.raises(RequestError, match="at most 1000000"):
        parse_axis("a=0:1000000000000:1")


def test_no_costs_on_this_chip(ask: Ask):
    answer = ask(*OP, "--soc", "ascend310p", "--sweep", "tileDataNum=512")
    assert answer.code == 1
    assert "no timing data" in answer.line


@pytest.mark.slow
def test_interrupted(tmp_path: Path):
    command = [str(Path(sys.executable).with_name("ascendsim")), "tile", "swish_grad"]
    command += ["--n", "100000000", "--dtype", "float16", "--sweep", "tileDataNum=256:8192:16"]
    process = subprocess.Popen(
        [*command, "--csv", str(tmp_path / "points.csv")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(12)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "ascendsim: error: interrupted; no output file was written"
    assert list(tmp_path.iterdir()) == []
    for _ in range(50):  # nobody of the session is left
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process of the sweep is still there")
