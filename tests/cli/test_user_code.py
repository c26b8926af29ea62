"""Kernel folders with mistakes at the command line: one line that says where, pure JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Ask

DEFINITION = """
from ascendsim.host import Attr, OpDef
OP = OpDef("scale", inputs=("x",), outputs=("out",), dtypes=("float32", "float16"))
"""
HOST = """
from ascendsim.host import Tiling
def tiling(ctx, fixed={}):
    return Tiling(1, 0, {"n": ctx.n})
"""
KERNEL = """
from ascendsim.ascendc import *
def scale(x, out, workspace, tiling):
    pipe, buf = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buf, 256)
    Duplicate(buf.Get(float32), 1.0, 64)
"""
DEMO = """
def step():
    return 3
STEPS = [step]
"""


def write(folder: Path, **changes: str) -> Path:
    folder.mkdir()
    files = {"op_def": DEFINITION, "op_host": HOST, "op_kernel": KERNEL, "demo": DEMO} | changes
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


BROKEN = [  # exit code, file, what is replaced, by what, the line
    (
        2,
        "op_def",
        "\nOP",
        "\nraise SystemExit(3)\nOP",
        "op_def.py:3: cannot be loaded: SystemExit: 3",
    ),
    (2, "op_def", "\nOP", "\nraise BaseException\nOP", "op_def.py:3: cannot be loaded: BaseExc"),
    (2, "op_host", "return", "raise SystemExit\n    return", "op_host.py:4: fails: SystemExit"),
    (
        2,
        "op_host",
        "return",
        "raise StopIteration\n    return",
        "op_host.py:4: fails: StopIteration",
    ),
    (
        2,
        "op_kernel",
        "\ndef",
        "\nraise GeneratorExit\ndef",
        "op_kernel.py:3: cannot be loaded: Gen",
    ),
    (1, "op_kernel", "pipe,", "exit(3)\n    pipe,", "op_kernel.py:4: SystemExit: 3"),
    (1, "op_kernel", "pipe,", "raise SystemExit(0)\n    pipe,", "op_kernel.py:4: SystemExit: 0"),
    (1, "op_kernel", "pipe,", "raise GeneratorExit\n    pipe,", "op_kernel.py:4: GeneratorExit"),
    (1, "op_kernel", "pipe,", "raise MemoryError\n    pipe,", "op_kernel.py:4: MemoryError [block"),
]


@pytest.mark.parametrize(("code", "file", "old", "new", "line"), BROKEN, ids=lambda v: str(v)[:30])
def test_broken(
    ask: Ask, tmp_path: Path, code: int, file: str, old: str, new: str, line: str
) -> None:
    sources = {"op_def": DEFINITION, "op_host": HOST, "op_kernel": KERNEL}
    folder = write(tmp_path / "scale", **{file: sources[file].replace(old, new, 1)})
    answer = ask("run", folder, "--random", "--n", 64, "--json")
    assert answer.code == code, answer
    assert line in answer.line
    assert answer.json["exit"] == code


def test_prints_of_a_folder_are_no_results(ask: Ask, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "scale",
        op_def="print('definition')\n" + DEFINITION,
        op_host=HOST.replace("return", "print('host')\n    return"),
        op_kernel=KERNEL.replace("pipe,", "print('kernel')\n    pipe,"),
    )
    answer = ask("run", folder, "--random", "--n", 64, "--json")
    assert answer.json["op"] == "scale"
    assert answer.err.startswith("definition\nhost\nkernel\n")
    assert "kernel" in ask("run", folder, "--random", "--n", 64).out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_no_mistake_of_the_kernel(ask: Ask) -> None:
    answer = ask("run", "swish_grad", "--random", "--n", 100_000, "--calls", "/dev/full")
    assert answer.code == 2
    assert answer.line.startswith("ascendsim: error: --calls /dev/full: cannot be written")
    assert "[block" not in answer.line


def test_a_demo_without_a_table(ask: Ask, tmp_path: Path) -> None:
    answer = ask("demo", write(tmp_path / "scale"))
    assert answer.code == 2
    assert "demo.py: step gives 3" in answer.err


def test_explained_by_folder_or_search_path(ask: Ask, tmp_path: Path) -> None:
    folder = write(tmp_path / "scale")
    by_folder = ask("explain", folder, "--json").json
    assert by_folder["inputs"] == ["x"]
    assert ask("explain", "scale", "--kernels", tmp_path, "--json").json == by_folder


def test_the_last_line_of_time_can_be_run(ask: Ask) -> None:
    answer = ask("time", "hard_sigmoid_grad", "--n", 1000)
    words = answer.out.splitlines()[-1].split()
    assert words[:3] == ["more", "ascendsim", "explain"]
    pages = ask(*words[2:], "--json").json
    assert len(pages) == len(words[3:]) == 4


def test_a_compressed_trace(ask: Ask, tmp_path: Path) -> None:
    trace = tmp_path / "t.json.gz"
    assert ask("time", "hard_sigmoid_grad", "--n", 1000, "--trace", trace).code == 0
    assert json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]


def test_time_of_more_than_memory_holds(ask: Ask) -> None:
    assert ask("time", "add", "--n", 999_999_999, "--json").json["aiv_us"] > 1000
