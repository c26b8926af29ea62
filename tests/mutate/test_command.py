"""`ascendsim mutate`: its document, its exit codes, and ctrl-c."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ascendsim.cli import execute
from ascendsim.explore.mutate import KINDS
from tests.house.tree import ROOT
from tests.mutate.kernels import double

COMMAND = [sys.executable, "-c", "import sys; from ascendsim.cli import main; sys.exit(main())"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
WEAK = """
from pathlib import Path
import numpy as np
import ascendsim as asim

def test_zero():
    op, x = asim.load(Path(__file__).parent), np.zeros(3, np.float32)
    assert asim.launch(op, {"x": x}, op.tiling(x.shape)).out.tolist() == [0, 0, 0]
"""


@pytest.fixture
def ask(capsys, monkeypatch):
    """Run `ascendsim mutate` in this process; return its code and what it printed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*arguments: object) -> tuple[int, str, str]:
        code = execute(["mutate", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_document(tmp_path, ask, monkeypatch):
    folder = double(tmp_path / "weak", WEAK, factor="1 / 6")
    monkeypatch.chdir(tmp_path)
    code, printed, _ = ask("./weak", "--kind", "exact-constant", "--jobs", 1, "--json")
    assert code == 0
    assert printed.count("\n") == 1
    (mutant,) = json.loads(printed)["mutants"]
    shown = {key: mutant[key] for key in ("kind", "file", "line", "killed_by")}
    assert shown == {
        "kind": "exact-constant",
        "file": "weak/op_kernel.py",
        "line": 29,
        "killed_by": None,
    }
    assert mutant["differs"]["got"] != mutant["differs"]["want"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "op_def.py",
        "op_host.py",
        "op_kernel.py",
        "test_weak.py",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("no_such",), 2, "op 'no_such' is unknown"),
        (("add", "--kind", "typo"), 2, "kind 'typo' is unknown; use one of drop-sync"),
        (("add", "--jobs", "0"), 2, "jobs = 0: use 1 or more"),
        (("add", "--shape", "many"), 2, "write whole numbers"),
    ],
)
def test_refusals(arguments, code, said, ask):
    found, printed, told = ask(*arguments)
    assert (found, printed, said in told) == (code, "", True)


def test_tests_that_fail_make_exit_code_1(tmp_path, ask):
    folder = double(tmp_path / "bad", WEAK.replace("[0, 0, 0]", "[1, 1, 1]"))
    code, printed, told = ask(folder, "--jobs", 1, "--json")
    assert (code, json.loads(printed)["exit"]) == (1, 1)
    assert "its own tests fail without any fault" in told
    assert "test_bad.py::test_zero: assert [0.0, 0.0, 0.0] == [1, 1, 1]" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_ctrl_c_leaves_nothing(tmp_path, number, code):
    """Stop it while a test waits for ever: directories and processes are gone afterwards."""
    marks = tmp_path / "marks"
    marks.mkdir()
    waits = f"""
import os, time
from pathlib import Path
def test_waits():
    (Path({str(marks)!r}) / str(os.getpid())).touch()
    while True:
        time.sleep(0.01)
"""
    folder, temporary = double(tmp_path / "waits", waits), tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "mutate", str(folder), "--jobs", "1"],
        env=ENVIRONMENT | {"TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: any(marks.iterdir()))
    assert list(temporary.iterdir())
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == code, told
    assert "Traceback" not in told
    assert not list(temporary.iterdir())
    for mark in marks.iterdir():
        until(lambda mark=mark: not alive(int(mark.name)))


def until(true) -> None:
    """Wait for something that has to happen."""
    limit = time.monotonic() + 60
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.02)


def alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_help_names_the_kinds(capsys):
    assert execute(["mutate", "--help"]) == 0
    printed = capsys.readouterr().out
    assert all(kind in printed for kind in KINDS)
