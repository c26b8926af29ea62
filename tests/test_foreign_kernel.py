"""A kernel folder that the simulator has never seen, held against exact arithmetic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import TilingError
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES
from ascendsim.numerics.rounding import FLOAT16, FLOAT32
from tests.helpers import assert_same_bits
from tests.kit import interesting

FOLDER = Path(__file__).parent / "ports" / "blend"
FORMATS = {"float32": FLOAT32, "float16": FLOAT16}
SOCS = ("ascend910b1", "ascend910_93", "ascend950")


def arrays(dtype, n, seed=0):
    T = as_dtype(dtype)
    x, y = interesting(T, n, seed), interesting(T, n, seed + 1)
    x[3::7] = y[3::7]  # equal operands, NaN included
    x[5::11] = np.abs(x[5::11])
    return {"x": x, "y": y, "weight": np.array([1.7], T.numpy)}


def shapes(given):
    return {name: array.shape for name, array in given.items()}


def oracle(op, given, dtype, shift=0.25):
    """Compute every element with fractions; nothing compiled takes part."""
    T, fmt = as_dtype(dtype), FORMATS[dtype]
    words = {name: array.view(T.bits).tolist() for name, array in given.items()}
    settings = T.to_bits(np.float32(shift)), fmt, ENV_NAN_ONES, ENV_NAN_ONES | ENV_FLUSH
    bits = [
        op.ref.exact(x, y, words["weight"][0], *settings)
        for x, y in zip(words["x"], words["y"], strict=True)
    ]
    return np.array(bits, T.bits).view(T.numpy)


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_element_is_exact(dtype):
    op = asim.load(FOLDER)
    given = arrays(dtype, 1000)
    want = oracle(op, given, dtype)
    for soc in SOCS:
        til = op.tiling(shapes(given), dtype, soc=soc)
        assert til.block_dim == 2
        run = asim.launch(op, given, til)
        assert_same_bits(run.out, want, given["x"], given["y"])
        assert not run.warnings


@pytest.mark.parametrize("dtype", FORMATS)
def test_lengths(dtype):
    op = asim.load(FOLDER)
    given = arrays(dtype, 1300, seed=4)
    want = oracle(op, given, dtype)
    for n in (1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1300):
        some = {name: array[:n] for name, array in given.items()}
        run = asim.launch(op, some, op.tiling(shapes(some), dtype), seed=n)
        assert_same_bits(run.out, want[:n], some["x"], some["y"])


def test_the_call_log_shows_both_tiles_of_each_block():
    op = asim.load(str(FOLDER))
    given = arrays("float32", 1024)
    til = op.tiling(shapes(given), "float32")
    calls = asim.launch(op, given, til, record="calls").calls
    for block in range(2):
        ops = [call["op"] for call in calls if call["core"] == block]
        assert ops.count("Ln") == ops.count("GetValue") == 2
    absolute = next(call for call in calls if call["op"] == "Abs")
    assert (absolute["repeatTimes"], absolute["mask"]) == (4, (1 << 64) - 1)
    assert absolute["dst"]["buf"] == "maxBuf"
    assert Path(absolute["file"]).name == "op_kernel.py"


def test_attributes_and_fields():
    op = asim.load(FOLDER)
    given = arrays("float16", 700, seed=9)
    for til in (
        op.tiling(shapes(given), "float16", shift=-3.0),
        op.tiling(shapes(given), "float16", shift=-3.0, fixed={"tileLength": 128}),
    ):
        run = asim.launch(op, given, til)
        assert_same_bits(run.out, oracle(op, given, "float16", -3.0))
    assert til.block_dim == 3
    with pytest.raises(TilingError, match=r"weight has shape \(2,\)"):
        op.tiling({"x": (4,), "y": (4,), "weight": (2,)})


def test_the_command_line(tmp_path):
    given = arrays("float16", 600, seed=2)
    raw = {name: array.view(np.uint16) for name, array in given.items()}
    np.savez(tmp_path / "in.npz", **raw)
    start = "from ascendsim.cli import main; main()"
    command = [sys.executable, "-c", start, "run", FOLDER, "--dtype", "float16", "--json"]
    command += ["--input", tmp_path / "in.npz", "--output", tmp_path / "out.npz"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["op"], answer["n"], answer["block_dim"]) == ("blend", 600, 2)
    with np.load(tmp_path / "out.npz") as out:
        want = oracle(asim.load(FOLDER), given, "float16")
        assert_same_bits(out["out"].view(np.float16), want)


def test_the_naive_expression_is_close_in_float32():
    op = asim.load(FOLDER)
    x, y = np.random.default_rng(0).uniform(0.1, 4, (2, 500)).astype(np.float32)
    given = {"x": x, "y": y, "weight": np.array([1.7], np.float32)}
    out = asim.launch(op, given, op.tiling(shapes(given))).out
    ulp = np.abs(out.view(np.int32) - op.ref.naive(np, **given).view(np.int32))
    assert np.median(ulp) <= 1
