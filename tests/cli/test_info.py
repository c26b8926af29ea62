"""Help, ops, soc, tiling, explain, version: shape of JSON and readable text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Ask

COMMANDS = ("run", "tiling", "ops", "soc", "isa", "explain", "demo", "warmup")


def test_help_lists_the_commands(ask: Ask) -> None:
    for arguments in (["--help"], []):
        answer = ask(*arguments)
        assert answer.code == 0
        assert all(command in answer.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each(ask: Ask, command: str) -> None:
    answer = ask(command, "--help")
    assert answer.code == 0
    assert "--json" in answer.out
    assert "\x1b" not in answer.out


def test_version(ask: Ask) -> None:
    answer = ask("--version")
    assert answer.code == 0
    assert answer.out.startswith("ascendsim ")


def test_start_loads_no_simulator() -> None:
    code = (
        "import sys, ascendsim.cli as c\n"
        "c.execute(['--help'])\n"
        "print(*[m for m in ('numba', 'llvmlite', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_ops(ask: Ask) -> None:
    rows = {row["name"]: row for row in ask("ops", "--json").json["ops"]}
    row = rows["hard_sigmoid_grad"]
    assert list(row) == ["name", "dtypes", "socs", "inputs", "outputs", "attrs"]
    assert row["inputs"] == ["grad", "x"]
    assert "hard_sigmoid_grad" in ask("ops").out


def test_soc(ask: Ask) -> None:
    everything = ask("soc", "--json").json
    assert list(everything["ascend950"]["ub_bytes"]) == ["value", "source", "confidence"]
    assert ask("soc", "ascend910b", "--json").json.keys() == {"ascend910b1"}
    assert "ascend310p" in ask("soc").out
    assert "buffer_mutexes" in ask("soc", "ascend950").out


def test_tiling(ask: Ask) -> None:
    command = ("tiling", "hard_swish_grad", "--shape", "7,3", "--cores", 64, "--ub", 262144)
    answer = ask(*command, "--json")
    assert answer.err == ""
    assert answer.json == {
        "status": "SUCCESS",
        "block_dim": 21,
        "tiling_key": 1,
        "workspace": [0],
        "totalNum": 21,
        "blockFactor": 1,
        "ubFactor": 5440,
    }
    assert "5440" in ask(*command).out


def test_tiling_replacements(ask: Ask) -> None:
    command = ("tiling", "hard_sigmoid_grad", "--n", 21, "--json")
    changed = ask(*command, "--tiling", "ubFactor=64", "--tiling", "alpha_bits=0x3e2aaaaa")
    assert (changed.json["ubFactor"], changed.json["alpha_bits"]) == (64, 0x3E2AAAAA)
    assert ask(*command, "--block-dim", 3).json["block_dim"] == 3
    assert ask(*command, "--attr", "alpha=0x3e2aaaaa").json["alpha_bits"] == 0x3E2AAAAA


def test_tiling_what_if_warns(ask: Ask) -> None:
    answer = ask("tiling", "hard_swish_grad", "--n", 21, "--soc", "ascend950", "--json")
    assert answer.code == 0
    assert "ascend950" in answer.line
    assert answer.json["status"] == "SUCCESS"


def test_cases(ask: Ask, tmp_path: Path) -> None:
    cases = [
        {"shape": [21], "dtype": "float16", "ub": 196352, "cores": 48, "scale_bits": 1071242019},
        {"shape": [0], "dtype": "float32", "note": "ignored"},
        {"shape": [3], "dtype": "int32"},
        {"shape": [-1]},
        {"dtype": "float32"},
        {"shape": [3], "dtype": "nonsense"},
        {"shape": [3], "cores": 0},
        {"shape": "3"},
    ]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases))
    answer = ask("tiling", "swish_grad", "--cases", file, "--json")
    assert answer.code == 0
    first, *others = answer.json
    assert first["status"] == "SUCCESS"
    assert first["sconf_bits"] == 1071242019
    assert [row["status"] for row in others] == ["FAILED"] * 7
    assert all(row["reason"] for row in others)
    assert "1 succeeded, 7 failed" in ask("tiling", "swish_grad", "--cases", file).out


@pytest.mark.parametrize("content", ["{", "{}", "[1]", "\xff"])
def test_bad_cases_file(ask: Ask, tmp_path: Path, content: str) -> None:
    file = tmp_path / "cases.json"
    file.write_bytes(content.encode("latin-1"))
    answer = ask("tiling", "swish_grad", "--cases", file)
    assert answer.code == 2
    assert "--cases" in answer.line


def test_a_broken_kernel_is_left_out(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "op_def.py").write_text("OP = \n")
    answer = ask("ops", "--kernels", tmp_path, "--json")
    assert answer.code == 0
    assert "op_def.py:1" in answer.line
    assert "broken" not in [row["name"] for row in answer.json["ops"]]


def test_no_color_without_a_terminal(ask: Ask) -> None:
    for command in (("ops",), ("soc",), ("explain", "UB"), ("explain",)):
        answer = ask(*command)
        assert "\x1b" not in answer.out + answer.err
        assert answer.code == 0
