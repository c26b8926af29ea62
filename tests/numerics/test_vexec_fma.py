"""Multiply-add, Relu, LeakyRelu, Divs, Reciprocal, Rsqrt: compiled, array twin, exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ascendsim.numerics import arith, fma
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_REGISTER, ENV_SATURATE
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Value, decode, round_to
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import DTYPES, fresh, interesting, random_bits

FORMATS = {"float32": FLOAT32, "float16": FLOAT16, "bfloat16": BFLOAT16}
ENVS = (
    0,
    ENV_REGISTER,
    ENV_REGISTER | ENV_NAN_ONES,
    ENV_SATURATE,
    ENV_FLUSH,
    ENV_FLUSH | ENV_REGISTER,
)
PAIRS = [("float32",) * 2, ("float16",) * 2, ("bfloat16",) * 2, ("float16", "float32")]


def triples(source, target, count=450):
    a, b = (random_bits(DTYPES[source], count, seed) for seed in (1, 2))
    c = random_bits(DTYPES[target], count, 3)
    rng = np.random.default_rng(4)
    middle = slice(count // 3, None)
    with np.errstate(all="ignore"):
        size = count - count // 3
        a[middle], b[middle] = (rng.standard_normal((2, size)) * 3).astype(DTYPES[source])
        c[middle] = (rng.standard_normal(size) * 3).astype(DTYPES[target])
        # sums that cancel to the last bits of the product
        late = slice(2 * count // 3, None)
        product = a[late].astype(np.float64) * b[late].astype(np.float64)
        c[late] = (-product).astype(DTYPES[target])
    some = interesting(DTYPES[source])
    a[: some.size], b[: some.size] = some, np.roll(some, 7)
    return a, b, c


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_multiply_add(source, target):
    a, b, c = triples(source, target)
    kind = source if source == target else f"{source}_{target}"
    dst = c.dtype
    for env in ENVS:
        want = fma.multiply_add(a, b, c, env=env)
        got = fresh(f"muladddst_{kind}", dst, c.size, a, b, c, env=env)
        assert_same_bits(got, want, a, b, c)
        scalar = np.full_like(a, 1.25)
        got = fresh(f"axpy_{kind}", dst, c.size, a, c, env=env, scalar=1.25)
        assert_same_bits(got, fma.multiply_add(a, scalar, c, env=env), a, c)
        if source == target:
            got = fresh(f"fusedmuladd_{kind}", dst, c.size, a, c, b, env=env)
            assert_same_bits(got, want, a, b, c)


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_twin_rounds_as_it_says(name):
    """By fractions, without the exceptional numbers: once on 950, product and sum elsewhere."""
    a, b, c = (x[150:] for x in triples(name, name))
    fmt, bits = FORMATS[name], a.dtype.str.replace("f", "u")
    once, twice = [], []
    for x, y, z in zip(a.view(bits), b.view(bits), c.view(bits), strict=True):
        p, q, r = (decode(int(each), fmt).number for each in (x, y, z))
        rounded = decode(round_to(p * q, fmt), fmt).number
        once.append(round_to(p * q + r, fmt))
        twice.append(round_to(rounded + r, fmt))
    assert_same_bits(fma.multiply_add(a, b, c, env=ENV_REGISTER).view(bits), np.array(once, bits))
    assert_same_bits(fma.multiply_add(a, b, c).view(bits), np.array(twice, bits))
    assert once != twice


@pytest.mark.parametrize("name", ["float32", "float16"])
@pytest.mark.parametrize("body", ["relu", "leakyrelu", "divs", "subs", "reciprocal", "rsqrt"])
def test_units(body, name):
    src = random_bits(DTYPES[name], 2000, 6)
    some = interesting(DTYPES[name])
    src[: some.size] = some
    if name == "float16":
        src = np.arange(65536, dtype=np.uint16).view(np.float16)
    scalar = np.full_like(src, 0.3)
    twins = {
        "relu": fma.relu,
        "reciprocal": fma.reciprocal,
        "rsqrt": fma.rsqrt,
        "leakyrelu": lambda x, env: fma.leaky_relu(x, scalar, env=env),
        "divs": lambda x, env: arith.div(x, scalar, env=env),
        "subs": lambda x, env: arith.sub(x, scalar, env=env),
    }
    for env in ENVS:
        got = fresh(f"{body}_{name}", src.dtype, src.size, src, env=env, scalar=float(scalar[0]))
        assert_same_bits(got, twins[body](src, env=env), src)


def is_rounded_rsqrt(x, bits, fmt):
    """Whether a pattern is 1 / sqrt(x) to nearest: the squares of both middles decide."""
    below, value, above = (decode(bits + d, fmt).number for d in (-1, 0, 1))
    low, high = (below + value) / 2, (value + above) / 2
    return low * low * x <= 1 <= high * high * x


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_rsqrt_rounds_once(name):
    fmt, rng = FORMATS[name], np.random.default_rng(8)
    src = (rng.random(3000) * 4 + 2.0**-10).astype(DTYPES[name])
    bits = src.dtype.str.replace("f", "u")
    for x, got in zip(src.view(bits), fma.rsqrt(src).view(bits), strict=True):
        assert is_rounded_rsqrt(decode(int(x), fmt).number, int(got), fmt)


@pytest.mark.slow
def test_rsqrt_of_every_significand():
    """All other float32 differ from these by a power of four."""
    for start in range(0, 1 << 24, 1 << 20):
        patterns = np.arange(start, start + (1 << 20), dtype=np.uint32) + np.uint32(0x3F000000)
        src = patterns.view(np.float32)
        got = fresh("rsqrt_float32", np.float32, src.size, src)
        assert_same_bits(got, fma.rsqrt(src), src)


def test_relu_of_special_numbers():
    src = np.array([-0.0, np.nan, -np.inf, np.inf, -1, 1e-45], np.float32)
    want = np.array([0, 0x7FC00000, 0, 0x7F800000, 0, 1], np.uint32).view(np.float32)
    assert_same_bits(fma.relu(src), want, src)
    assert_same_bits(fma.relu(np.array([-5, 7], np.int32)), np.array([0, 7], np.int32))


def test_value_of_a_sum_of_zeros():
    zeros = np.array([0.0, -0.0], np.float32)
    a, c = np.repeat(zeros, 2), np.tile(zeros, 2)
    want = a * np.float32(1) + c
    assert_same_bits(fma.multiply_add(a, np.ones_like(a), c, env=ENV_REGISTER), want)
    assert Value.of(Fraction(0)).is_zero
