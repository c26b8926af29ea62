"""`ascendsim run`: arrays in and out, files whole or absent, JSON pure, warnings on stderr."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Ask

HARD = "hard_sigmoid_grad"
KEYS = (
    "op dtype n soc block_dim tiling mode fallback out_crc32 seconds elements_per_second "
    "warnings evidence"
)
OP_DEF = """
from ascendsim.host import OpDef
OP = OpDef("two", inputs=("a",), outputs=("file", "twice"), dtypes=("float32", "float16"))
"""
OP_HOST = """
from ascendsim.host import Tiling
def tiling(ctx, fixed={}):
    return Tiling(2, 0, {"length": ctx.n, "stop": STOP})
"""
OP_KERNEL = """
from ascendsim.ascendc import *
def two(a, file, twice, workspace, tiling):
    half_length = tiling.length // 2
    pipe, buf = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(buf, half_length * sizeof(a.dtype))
    t = buf.Get(a.dtype)
    start = GetBlockIdx() * half_length
    for address, factor in ((file, 1.0), (twice, 2.0)):
        source, target = GlobalTensor(a.dtype), GlobalTensor(a.dtype)
        source.SetGlobalBuffer(a[start:], half_length)
        target.SetGlobalBuffer(address[start:], half_length)
        DataCopy(t, source, half_length)
        Muls(t, t, factor, half_length)
        DataCopy(target, t, half_length)
    if tiling.stop == GetBlockIdx():
        t.FreeTensorr(t)
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Write a kernel with two outputs; it breaks in block `stop` when --tiling stop=1."""
    folder = tmp_path / "two"
    folder.mkdir()
    (folder / "op_def.py").write_text(OP_DEF)
    (folder / "op_host.py").write_text(OP_HOST.replace("STOP", "9"))
    (folder / "op_kernel.py").write_text(OP_KERNEL)
    return folder


def _files_in(directory: Path) -> tuple[object, ...]:
    names = {"--output": "o.npz", "--calls": "c.gz", "--ub-images": "u"}
    return tuple(word for option, name in names.items() for word in (option, directory / name))


def test_document_and_output(ask: Ask, inputs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = ask("run", HARD, "--input", inputs, "--output", out, "--json", "--n", 21)
    assert answer.code == 0
    assert answer.err == ""
    document = answer.json
    assert list(document) == KEYS.split(" ")
    assert document["n"] == 21
    assert document["evidence"]["rules"]
    with np.load(out) as archive:
        assert archive.files == ["out"]
        assert archive["out"].dtype == np.uint32
        assert zlib.crc32(archive["out"].tobytes()) == document["out_crc32"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.npz", "out"]


def test_readable(ask: Ask, inputs: Path) -> None:
    answer = ask("run", HARD, "--input", inputs)
    assert answer.code == 0
    assert "launch-overflow-mode" in answer.out
    assert "\x1b" not in answer.out + answer.err


@pytest.mark.parametrize("shape", ["7,3", "0", "()"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_shape_is_kept(ask: Ask, tmp_path: Path, shape: str, dtype: str) -> None:
    out = tmp_path / "out.npz"
    command = ("run", HARD, "--random", "--shape", shape, "--dtype", dtype, "--output", out)
    assert ask(*command).code == 0
    with np.load(out) as archive:
        words = {"bfloat16": np.uint16, "float32": np.uint32}
        assert archive["out"].dtype == words[dtype]
        assert archive["out"].shape == tuple(int(d) for d in shape.strip("()").split(",") if d)


def test_same_seed_same_bits(ask: Ask) -> None:
    def crc(seed: int) -> int:
        command = ("run", HARD, "--random", "--n", 100, "--seed", seed, "--json")
        return int(ask(*command).json["out_crc32"])

    assert crc(3) == crc(3) != crc(4)


def test_calls_and_images(ask: Ask, inputs: Path, tmp_path: Path) -> None:
    log, images = tmp_path / "calls.jsonl.gz", tmp_path / "ub"
    command = ("run", HARD, "--input", inputs, "--calls", log, "--ub-images", images)
    command += ("--ub", 16384, "--block-dim", 2, "--tiling", "blockFactor=11", "--json")
    assert ask(*command).code == 0
    with gzip.open(log, "rt") as lines:
        calls = [json.loads(line) for line in lines]
    assert calls[0]["op"] == "SetGlobalBuffer"
    assert {call["core"] for call in calls} == {0, 1}
    assert {p.name: p.stat().st_size for p in images.iterdir()} == {
        "core0.bin": 16384,
        "core1.bin": 16384,
    }
    first = log.read_bytes()
    assert ask(*command).code == 0
    assert log.read_bytes() == first


def test_warnings_go_to_stderr(ask: Ask, inputs: Path) -> None:
    answer = ask("run", HARD, "--input", inputs, "--tiling", "blockFactor=5", "--json")
    assert answer.code == 0
    assert answer.line.startswith("ascendsim: warning: coverage: ")
    assert answer.json["warnings"][0].startswith("coverage: ")
    answer = ask("run", HARD, "--input", inputs, "--ub", 300000, "--cores", 99, "--json")
    assert answer.code == 0
    assert answer.err.count("what-if: ") == 2
    answer = ask("run", HARD, "--input", inputs, "--soc", "ascend910b", "--json")
    assert answer.json["soc"] == "ascend910b1"
    assert "what-if" in answer.line


@pytest.mark.parametrize(
    ("setting", "words"),
    [("ubFactor=32768", "UB"), ("ubFactor=100000000000", "UB")],
)
def test_ub_overflow(ask: Ask, inputs: Path, tmp_path: Path, setting: str, words: str) -> None:
    files = _files_in(tmp_path)
    answer = ask("run", HARD, "--input", inputs, "--tiling", setting, *files, "--json")
    assert answer.code == 1
    assert words in answer.line
    assert "op_kernel.py:" in answer.line
    assert answer.json["exit"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["in.npz"]


def test_tiling_failure_is_a_document(ask: Ask) -> None:
    answer = ask("run", "swish_grad", "--random", "--n", 0, "--json")
    assert answer.code == 1
    assert answer.json["status"] == "FAILED"
    assert answer.json["reason"]


def test_kernel_folder_with_two_outputs(ask: Ask, two: Path, tmp_path: Path) -> None:
    values = np.arange(64, dtype=np.float32)
    np.savez(tmp_path / "in.npz", a=values)
    out = tmp_path / "out.npz"
    answer = ask("run", two, "--input", tmp_path / "in.npz", "--output", out, "--json")
    assert answer.code == 0, answer.err
    with np.load(out) as archive:
        assert sorted(archive.files) == ["file", "twice"]
        assert np.array_equal(archive["twice"].view(np.float32), values * np.float32(2))
        crcs = {name: zlib.crc32(archive[name].tobytes()) for name in archive.files}
    assert answer.json["outputs"] == crcs
    assert answer.json["out_crc32"] == crcs["file"]
    by_name = ask("run", "two", "--kernels", tmp_path, "--input", tmp_path / "in.npz", "--json")
    assert by_name.json["outputs"] == crcs


def test_mistake_in_the_kernel_leaves_no_file(ask: Ask, two: Path, tmp_path: Path) -> None:
    files = _files_in(tmp_path)
    answer = ask("run", two, "--random", "--n", 64, "--tiling", "stop=1", *files)
    assert answer.code == 1
    assert "op_kernel.py:17: " in answer.line
    assert "FreeTensorr" in answer.line
    assert "[block 1]" in answer.line
    assert [p.name for p in tmp_path.iterdir()] == ["two"]


def test_interrupted_run_leaves_no_file(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ascendsim.api.launch", interrupt)
    answer = ask("run", HARD, "--random", "--n", 64, "--output", tmp_path / "out.npz")
    assert answer.code == 130
    assert "interrupted" in answer.line
    assert list(tmp_path.iterdir()) == []
