"""Bad requests: the exit code, one clear line, no traceback, no file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Ask

HARD, SWISH = "hard_sigmoid_grad", "swish_grad"
TILED = ("tiling", HARD, "--n", "21")
REFUSED = [  # exit code, command line, words of the line
    (2, ("tiling", "no_such_op", "--n", "1"), "no_such_op"),
    (2, (*TILED, "--dtype", "flot32"), "float32"),
    (2, (*TILED, "--dtype", "y=float32"), "no tensor"),
    (2, (*TILED, "--soc", "ascend311"), "ascend910b1"),
    (2, (*TILED, "--soc", "ascend910", "--dtype", "bfloat16"), "bfloat16"),
    (2, (*TILED, "--tiling", "nosuch=3"), "ubFactor"),
    (2, (*TILED, "--tiling", "ubFactor"), "NAME=VALUE"),
    (2, (*TILED, "--tiling", "ubFactor=0"), "ubFactor"),
    (2, (*TILED, "--tiling", "ubFactor=-64"), "ubFactor"),
    (2, (*TILED, "--tiling", "ubFactor=many"), "integer"),
    (2, (*TILED, "--attr", "gamma=1"), "alpha"),
    (2, (*TILED, "--attr", "alpha=one"), "decimal"),
    (2, (*TILED, "--attr", "alpha"), "NAME=VALUE"),
    (2, (*TILED, "--attr", "alpha=0x123456789"), "0xffffffff"),
    (2, (*TILED, "--block-dim", "0"), "65535"),
    (2, (*TILED, "--block-dim", "1000000000"), "65535"),
    (2, (*TILED, "--block-dim", "two"), "block-dim"),
    (2, (*TILED, "--cores", "0"), "cores"),
    (2, (*TILED, "--cores", "70000"), "65535"),
    (2, (*TILED, "--ub", "-5"), "ub"),
    (2, ("tiling", HARD, "--n", "-1"), "negative"),
    (2, ("tiling", HARD, "--shape", "7,-3"), "7,3"),
    (2, ("tiling", HARD, "--shape", "a,b"), "7,3"),
    (2, ("tiling", HARD, "--shape", "7,3", "--n", "20"), "21 elements"),
    (2, ("tiling", HARD), "--n"),
    (2, ("tiling", HARD, "--cases", "/nowhere.json"), "cannot be read"),
    (2, ("tiling", HARD, "--nonsense"), "--nonsense"),
    (2, ("tiling",), "OP"),
    (2, ("nonsense",), "nonsense"),
    (2, ("soc", "ascend12"), "ascend950"),
    (2, ("explain", "ubb"), "ub"),
    (2, ("ops", "--kernels", "/nowhere"), "/nowhere"),
    (2, ("run", HARD), "--random"),
    (2, ("run", HARD, "--random"), "--n"),
    (2, ("run", HARD, "--random", "--n", "4", "--input", "x.npz"), "--input"),
    (2, ("run", HARD, "--random", "--n", "4", "--seed", "-1"), "--seed"),
    (2, ("run", HARD, "--random", "--n", "4", "--mode", "quick"), "replay"),
    (2, ("run", HARD, "--random", "--n", "4", "--profile", "fast"), "documented"),
    (2, ("run", HARD, "--random", "--n", "4", "--option", "nan=maybe"), "qnan"),
    (2, ("run", HARD, "--random", "--n", "4", "--option", "nonsense=1"), "overflow"),
    (2, ("run", HARD, "--random", "--n", "4611686018427387904"), "memory|elements|big"),
    (2, ("run", HARD, "--input", "/nowhere.npz"), "no such file"),
    (2, ("run", HARD, "--random", "--input", "a"), "choose one"),
    (2, ("run", HARD, "--random", "--n", "4", "--output", ""), "--output '': the name is empty"),
    (2, ("run", HARD, "--random", "--n", "4", "--output", "/nowhere/o"), "no directory /nowhere"),
    (2, ("run", HARD, "--random", "--n", "4", "--ub-images", "/no/where"), "no directory /no;"),
    (2, ("run", HARD, "--random", "--n", "4", "--ub", "99999999999999"), "a UB of 1 to"),
    (2, ("time", HARD, "--n", "4", "--plot", "x.png"), "end the name in .svg"),
    (2, ("tile", HARD, "--n", "4", "--sweep", "ubFactor=64", "--plot", "x.png"), ".svg"),
    (2, ("tiling", HARD, "--shape", ""), "() is a scalar"),
    (2, ("tiling", HARD, "--shape", "7,,1"), "7,3"),
    (2, (*TILED, "--dtype", "float16", "--dtype", "grad=float32"), "grad is given twice"),
    (2, (*TILED, "--attr", "alpha=1", "--attr", "alpha=2"), "alpha is given twice"),
    (2, (*TILED, "--tiling", "ubFactor=99999999999999999999999"), "below 2^63"),
    (1, (*TILED, "--dtype", "grad=float16", "--dtype", "x=float32"), "must have one type"),
    (1, (*TILED, "--attr", "alpha=nan"), "alpha"),
    (1, (*TILED, "--attr", "alpha=0"), "alpha"),
    (1, (*TILED, "--attr", "alpha=inf"), "alpha"),
    (1, (*TILED, "--ub", "64"), ""),
    (1, ("tiling", SWISH, "--n", "0"), "empty"),
    (1, (*TILED, "--dtype", "int32"), "int32"),
]


@pytest.mark.parametrize(("code", "command", "words"), REFUSED, ids=lambda v: str(v)[:60])
def test_refused(ask: Ask, code: int, command: tuple[str, ...], words: str) -> None:
    answer = ask(*command)
    assert answer.code == code, answer
    assert answer.out == ""
    assert answer.line.startswith("ascendsim: error: ")
    assert any(word in answer.line for word in words.split("|"))


@pytest.mark.parametrize("text", ["()", "7", "(7,)", "7x3", "[7, 3]"])
def test_shapes(ask: Ask, text: str) -> None:
    assert ask("tiling", HARD, "--shape", text).code == 0


def test_cases_nested_too_deeply(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    answer = ask("tiling", HARD, "--cases", tmp_path / "deep.json")
    assert answer.code == 2
    assert "nested too deeply" in answer.line


def test_a_refusal_is_one_json_document_too(ask: Ask) -> None:
    answer = ask(*TILED, "--dtype", "flot32", "--json")
    assert answer.json["exit"] == 2
    assert answer.line.endswith(answer.json["error"])
    assert ask("tiling", "--json").json["exit"] == 2
    failed = ask("tiling", SWISH, "--n", 0, "--json")
    assert failed.json == {"status": "FAILED", "reason": failed.json["reason"]}
    assert failed.code == 1


def _save(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path, **arrays)
    return path


def _truncated(path: Path) -> Path:
    _save(path, grad=np.ones(4000, np.float32), x=np.ones(4000, np.float32))
    path.write_bytes(path.read_bytes()[:9000])
    return path


def _damaged(path: Path) -> Path:
    _save(path, grad=np.ones(400, np.float32), x=np.ones(400, np.float32))
    content = bytearray(path.read_bytes())
    content[300] ^= 0xFF  # the checksum of the first array is wrong now
    path.write_bytes(content)
    return path


def _text(path: Path) -> Path:
    path.write_text("no arrays here")
    return path


def _empty(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def _one_array(path: Path) -> Path:
    with path.open("wb") as file:
        np.save(file, np.ones(3, np.float32))
    return path


def _other_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("grad.npy", "this is text")
        archive.writestr("x.npy", "this is text")
    return path


def _objects(path: Path) -> Path:
    return _save(path, grad=np.array([{}], object), x=np.ones(1, np.float32))


FILES = [
    (_truncated, "no npz"),
    (_damaged, "no npz"),
    (_text, "npz"),
    (_empty, "npz"),
    (_one_array, "numpy.savez"),
    (_other_zip, "grad"),
    (_objects, "pickle"),
    (lambda p: _save(p, grad=np.ones(3, np.float32)), "lacks x"),
    (lambda p: _save(p, grad=np.ones(3), x=np.ones(3)), "float64"),
    (lambda p: _save(p, grad=np.ones(3, np.float32), x=np.ones(3, np.uint16)), "uint16"),
    (lambda p: _save(p, grad=np.ones(3, "<f4"), x=np.ones(3, "S4")), "uint32"),
]


@pytest.mark.parametrize(("make", "words"), FILES, ids=lambda v: getattr(v, "__name__", v))
def test_bad_file(ask: Ask, tmp_path: Path, make: object, words: str) -> None:
    path = make(tmp_path / "in.npz")  # type: ignore[operator]
    output = tmp_path / "out.npz"
    answer = ask("run", HARD, "--input", path, "--output", output, "--calls", tmp_path / "c.gz")
    assert answer.code == 2, answer
    assert words in answer.line
    assert str(path) in answer.line
    assert sorted(tmp_path.iterdir()) == [path]


def test_size_beside_the_file_must_agree(ask: Ask, inputs: Path) -> None:
    answer = ask("run", HARD, "--input", inputs, "--n", 22)
    assert answer.code == 2
    assert "(21,)" in answer.line


def test_shapes_that_differ(ask: Ask, tmp_path: Path) -> None:
    path = _save(tmp_path / "in.npz", grad=np.ones(3, np.float32), x=np.ones(4, np.float32))
    answer = ask("run", HARD, "--input", path, "--output", tmp_path / "out.npz")
    assert answer.code == 1
    assert "shape" in answer.line
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize("option", ["--output", "--calls", "--ub-images"])
def test_unwritable(ask: Ask, tmp_path: Path, option: str) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    answer = ask("run", HARD, "--random", "--n", 4, option, file / "below" / "out")
    assert answer.code == 2
    assert option in answer.line
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "kept"


def test_output_is_a_directory(ask: Ask, tmp_path: Path) -> None:
    answer = ask("run", HARD, "--random", "--n", 4, "--output", tmp_path)
    assert answer.code == 2
    assert "directory" in answer.line


def test_two_outputs_in_one_file(ask: Ask, tmp_path: Path) -> None:
    same = tmp_path / "same"
    answer = ask("run", HARD, "--random", "--n", 4, "--output", same, "--calls", same)
    assert answer.code == 2
    assert list(tmp_path.iterdir()) == []
