"""Compiled Exp and Ln are correctly rounded: array twin, all half patterns, all float32 (slow)."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.numerics import transcend
from ascendsim.numerics.exact import exact_exp, exact_ln
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import FLOAT32
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import DTYPES, LENGTHS, fresh, interesting, random_bits, run

TWINS = {"exp": transcend.exp, "ln": transcend.ln}
ENVS = (0, ENV_NAN_ONES, ENV_SATURATE, ENV_FLUSH, ENV_NAN_ONES | ENV_SATURATE | ENV_FLUSH)
#: relative error that float64 exp and log of numpy surely keep
MARGIN = 2.0**-49
BLOCK = 1 << 18  # its arrays stay in the cache
ALL = 1 << 32


def check(instruction, a, env=0):
    body = f"{instruction}_{a.dtype.name}"
    got = fresh(body, a.dtype, a.size, a, env=env)
    assert_same_bits(got, TWINS[instruction](a, env=env), a)


def ulps_around(center, count=512):
    start = np.float32(center).view(np.uint32)
    return (start + np.arange(-count, count).astype(np.uint32)).view(np.float32)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("instruction", TWINS)
def test_all_half_patterns(instruction, env):
    check(instruction, np.arange(65536, dtype=np.uint16).view(np.float16), env)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("instruction", TWINS)
def test_random_and_special_float32(instruction, env):
    a = np.concatenate([interesting(np.float32), random_bits(np.float32, 100_000, 1)])
    check(instruction, a, env)


@pytest.mark.parametrize("instruction", TWINS)
def test_ordinary_ranges(instruction):
    rng = np.random.default_rng(2)
    spread = [rng.uniform(0, width, 50_000) for width in (1e-3, 1, 10, 104)]
    a = np.concatenate(spread).astype(np.float32)
    check(instruction, np.concatenate([a, -a]))


@pytest.mark.parametrize("env", [0, ENV_FLUSH])
@pytest.mark.parametrize("center", [87.33655, 88.72284, 103.97, 103.2789, 1.0, 0.6931472, 2.0**-24])
def test_where_results_change_kind(center, env):
    for sign in (1, -1):
        check("exp", ulps_around(sign * center), env)
    check("ln", ulps_around(center), env)


def test_subnormal_results_are_gradual_unless_flushed():
    a = np.array([-88.0, -103.0, -103.9, -104.0], np.float32)
    assert_same_bits(
        fresh("exp_float32", a.dtype, 4, a), np.exp(a.astype(np.float64)).astype(np.float32)
    )
    assert (fresh("exp_float32", a.dtype, 4, a, env=ENV_FLUSH) == 0).all()


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("name", ["float32", "float16"])
@pytest.mark.parametrize("instruction", TWINS)
def test_lengths_and_in_place(instruction, name, count):
    a = random_bits(DTYPES[name], count, 3)
    check(instruction, a)
    place = a.copy()
    run(f"{instruction}_{name}", place, place, count=count)
    assert_same_bits(place, TWINS[instruction](a), a)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instruction", "function", "exact"), [("exp", np.exp, exact_exp), ("ln", np.log, exact_ln)]
)
def test_every_float32(instruction, function, exact):
    """All 2**32 patterns; where float64 cannot tell, exact arithmetic decides."""
    for start in range(0, ALL, BLOCK):
        bits = np.arange(start, start + BLOCK, dtype=np.uint64).astype(np.uint32)
        got = fresh(f"{instruction}_float32", np.float32, BLOCK, bits.view(np.float32))
        with np.errstate(all="ignore"):
            near = function(bits.view(np.float32).astype(np.float64))
            want = near.astype(np.float32)
            other = [(near * (1 + side * MARGIN)).astype(np.float32) for side in (-1, 1)]
        nan = np.isnan(want)
        want[nan] = np.float32(np.nan)
        for place in np.flatnonzero((other[0] != other[1]) & ~nan):
            want.view(np.uint32)[place] = exact(int(bits[place]), FLOAT32)
        assert_same_bits(got, want, bits.view(np.float32))
