"""Compiled arithmetic equals the array twins, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.numerics import arith
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import DTYPES, LENGTHS, fresh, interesting, random_bits, run

TWINS = {
    "add": arith.add,
    "sub": arith.sub,
    "mul": arith.mul,
    "div": arith.div,
    "max": arith.maximum,
    "min": arith.minimum,
}
SCALARS = {"adds": "add", "muls": "mul", "maxs": "max", "mins": "min"}
UNARY = {"abs": arith.absolute, "sqrt": arith.sqrt}
ENVS = (0, ENV_NAN_ONES, ENV_SATURATE, ENV_FLUSH, ENV_NAN_ONES | ENV_SATURATE | ENV_FLUSH)
NOT_BFLOAT16 = ("div", "sqrt")
RANDOM_COUNT = 200_000


def pairs(instructions):
    return [
        (i, d) for d in DTYPES for i in instructions if not (d == "bfloat16" and i in NOT_BFLOAT16)
    ]


def operands(dtype, count=RANDOM_COUNT):
    special = interesting(dtype)
    a = np.concatenate([np.repeat(special, special.size), random_bits(dtype, count, 1)])
    b = np.concatenate([np.tile(special, special.size), random_bits(dtype, count, 2)])
    return a, b


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize(("instruction", "name"), pairs(TWINS))
def test_binary_on_special_and_random_patterns(instruction, name, env):
    a, b = operands(DTYPES[name], RANDOM_COUNT if env in (0, ENV_FLUSH) else 20_000)
    got = fresh(f"{instruction}_{name}", a.dtype, a.size, a, b, env=env)
    assert_same_bits(got, TWINS[instruction](a, b, env=env), a, b)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize(("instruction", "name"), pairs(SCALARS))
def test_scalar_forms_on_every_interesting_scalar(instruction, name, env):
    a = operands(DTYPES[name], 500)[0]
    for scalar in interesting(DTYPES[name]):
        got = fresh(f"{instruction}_{name}", a.dtype, a.size, a, env=env, scalar=float(scalar))
        assert_same_bits(got, TWINS[SCALARS[instruction]](a, scalar, env=env), a)


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize(("instruction", "name"), pairs(UNARY))
def test_unary_on_all_sixteen_bit_and_random_patterns(instruction, name, env):
    dtype = DTYPES[name]
    a = np.arange(65536, dtype=np.uint16).view(dtype) if dtype.itemsize == 2 else operands(dtype)[0]
    got = fresh(f"{instruction}_{name}", a.dtype, a.size, a, env=env)
    assert_same_bits(got, UNARY[instruction](a, env=env), a)


@pytest.mark.parametrize("scalar", [0.3330078125, -1.5, 65504.0, 6e-8])
@pytest.mark.parametrize("instruction", SCALARS)
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_scalar_forms_on_all_sixteen_bit_patterns(instruction, name, scalar):
    a = np.arange(65536, dtype=np.uint16).view(DTYPES[name])
    typed = np.float64(scalar).astype(a.dtype)
    got = fresh(f"{instruction}_{name}", a.dtype, a.size, a, scalar=float(typed))
    assert_same_bits(got, TWINS[SCALARS[instruction]](a, typed), a)


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize(("instruction", "name"), pairs(TWINS))
def test_lengths_and_in_place(instruction, name, count):
    a, b = (random_bits(DTYPES[name], count, seed) for seed in (3, 4))
    want = TWINS[instruction](a, b)
    body = f"{instruction}_{name}"
    assert_same_bits(fresh(body, a.dtype, count, a, b), want, a, b)
    first, second, both = a.copy(), b.copy(), a.copy()
    run(body, first, first, b, count=count)
    assert_same_bits(first, want, a, b)
    run(body, second, a, second, count=count)
    assert_same_bits(second, want, a, b)
    run(body, both, both, both, count=count)
    assert_same_bits(both, TWINS[instruction](a, a), a)


@pytest.mark.parametrize("name", DTYPES)
def test_no_lanes_write_nothing(name):
    a = random_bits(DTYPES[name], 64, 5)
    before = a.copy()
    run(f"add_{name}", a, a, a, count=0)
    assert_same_bits(a, before)


def test_operands_need_no_alignment():
    memory = np.frombuffer(random_bits(np.float32, 1002, 6).tobytes(), np.uint8)
    a, b = (memory[start : start + 2000].copy()[: 500 * 4] for start in (1, 3))
    shifted = np.zeros(2003, np.uint8)
    shifted[3:] = a
    got = np.zeros(2001, np.uint8)
    run("add_float32", got[1:], shifted[3:], b, count=500)
    want = arith.add(a.view(np.float32), b.view(np.float32))
    assert_same_bits(np.frombuffer(got[1:].tobytes(), np.float32), want)


@pytest.mark.slow
@pytest.mark.parametrize("env", [0, ENV_FLUSH])
@pytest.mark.parametrize(("instruction", "name"), pairs(TWINS))
def test_binary_on_ten_million_random_pairs(instruction, name, env):
    for seed in range(10):
        a, b = (random_bits(DTYPES[name], 1_000_000, (seed, i)) for i in (1, 2))
        got = fresh(f"{instruction}_{name}", a.dtype, a.size, a, b, env=env)
        assert_same_bits(got, TWINS[instruction](a, b, env=env), a, b)
