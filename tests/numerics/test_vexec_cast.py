"""Compiled casts equal the array twin, bit for bit, in every mode."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from ascendsim import dtypes
from ascendsim.enums import RoundMode
from ascendsim.numerics.cast import cast
from ascendsim.numerics.families import CASTS
from ascendsim.numerics.formats import NO_F16C_VARIABLE
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import DTYPES, LENGTHS, fresh, random_bits, run

ENVS = (0, ENV_NAN_ONES, ENV_SATURATE, ENV_FLUSH, ENV_NAN_ONES | ENV_SATURATE)
NARROWING = [pair for pair in CASTS if pair[0] == "float32"]
EVERY_16_BIT = np.arange(65536, dtype=np.uint16)


def check(source, target, src, mode, env):
    want = cast(src, dtypes.dtype(target), mode, env=env)
    got = fresh(f"cast_{source}_{target}", want.dtype, src.size, src, mode=mode, env=env)
    assert_same_bits(got, want, src)


def around_every_tie(target):
    """Return each number of a 16-bit format, each half-way point, and the neighbours of both."""
    values = EVERY_16_BIT.view(DTYPES[target]).astype(np.float32).view(np.int32)
    if target == "float16":
        with np.errstate(all="ignore"):
            middle = np.convolve(values.view(np.float32).astype(np.float64), [0.5, 0.5])[1:]
            middle = middle.astype(np.float32).view(np.int32)
    else:
        middle = values + 0x8000
    near = [base + step for base in (values, middle) for step in (-1, 0, 1)]
    return np.concatenate(near).astype(np.int32).view(np.float32)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("mode", RoundMode)
@pytest.mark.parametrize(("source", "target"), [p for p in CASTS if p not in NARROWING])
def test_all_sixteen_bit_sources(source, target, mode, env):
    check(source, target, EVERY_16_BIT.view(DTYPES[source]), mode, env)


@pytest.mark.parametrize("env", [0, ENV_NAN_ONES | ENV_SATURATE])
@pytest.mark.parametrize("mode", RoundMode)
@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_ties_and_their_neighbours(target, mode, env):
    check("float32", target, around_every_tie(target), mode, env)


@pytest.mark.parametrize("mode", RoundMode)
def test_float32_to_whole_numbers_near_ties(mode):
    quarters = np.arange(-4096, 4096, dtype=np.float32) / 4
    near = np.concatenate([quarters, *(np.nextafter(quarters, np.float32(s)) for s in (-9e9, 9e9))])
    large = np.float32(2.0) ** np.arange(20, 40, dtype=np.float32)
    large = np.concatenate([large - 1, large - 0.5, large, large + 1])
    check("float32", "float32", np.concatenate([near, large, -large]).astype(np.float32), mode, 0)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("mode", RoundMode)
@pytest.mark.parametrize(("source", "target"), NARROWING)
def test_random_float32(source, target, mode, env):
    check(source, target, random_bits(np.float32, 200_000 if env == 0 else 20_000, 7), mode, env)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize(("source", "target"), CASTS)
def test_lengths(source, target, count):
    for mode in (RoundMode.CAST_NONE, RoundMode.CAST_ODD):
        check(source, target, random_bits(DTYPES[source], count, 8), mode, 0)


@pytest.mark.parametrize("pair", [("float32", "float32"), ("float16", "bfloat16")])
def test_in_place(pair):
    source, target = pair
    src = random_bits(DTYPES[source], 1000, 9)
    want = cast(src, dtypes.dtype(target), RoundMode.CAST_CEIL)
    place = src.copy()
    run(f"cast_{source}_{target}", place, place, count=1000, mode=RoundMode.CAST_CEIL)
    assert_same_bits(place.view(want.dtype), want, src)


def test_unknown_mode_leaves_the_destination():
    got = np.full(8, 7.0, np.float32)
    run("cast_float32_float32", got, random_bits(np.float32, 8, 1), count=8, mode=7)
    assert (got == 7.0).all()


@pytest.mark.slow
@pytest.mark.parametrize("mode", RoundMode)
@pytest.mark.parametrize(("source", "target"), NARROWING)
def test_ten_million_random_float32(source, target, mode):
    for seed in range(20):
        check(source, target, random_bits(np.float32, 500_000, (seed, 11)), mode, 0)


@pytest.mark.slow
def test_without_f16c_in_a_process_of_its_own(tmp_path):
    """The bit-by-bit half conversions pass the same tests as those of the processor."""
    environment = {**os.environ, NO_F16C_VARIABLE: "1"}
    files = [__file__.replace("_cast", part) for part in ("_cast", "_arith", "_select", "_exp")]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-k",
        "float16 or half",
        *files,
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
