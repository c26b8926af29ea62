"""The library's functions against mpmath, against exact cases, and where float64 cannot decide."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from ascendsim.numerics import library
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import FLOAT16, FLOAT32, round_to, round_to_integral
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import random_bits

ONE = sorted(set(library.FUNCTIONS) - {"power"})
POSITIVE = {"log", "log2", "log10", "acosh"}
INSIDE = {"asin", "acos", "atanh"}


def arguments(name, T, count):
    """Return arguments of all sizes inside of the domain."""
    rng = np.random.default_rng(len(name))
    x = rng.standard_normal(count) * 10.0 ** rng.integers(-6, 2, count)
    x = np.abs(x) if name in POSITIVE else x
    x = np.tanh(x) if name in INSIDE else x + 1 if name == "acosh" else x
    with np.errstate(all="ignore"):
        return x.astype(T)


def nearest(name, x, fmt):
    """Return the pattern that mpmath gives at 300 bits."""
    with mpmath.workprec(300):
        result = library.FUNCTIONS[name].exact(mpmath.mp, *(mpmath.mpf(float(each)) for each in x))
        sign, mantissa, exponent, _ = result._mpf_
    return round_to((-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent), fmt)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("T", [np.float32, np.float16])
def test_correctly_rounded(name, T):
    fmt = FLOAT32 if T is np.float32 else FLOAT16
    src = arguments(name, T, 150)
    src = src[np.isfinite(library.rounded(name, src)) & (src != 0)]
    want = np.array([nearest(name, (x,), fmt) for x in src], f"u{src.itemsize}").view(T)
    got = library.rounded(name, src)
    nonzero = got != 0
    assert nonzero.sum() > 60
    assert_same_bits(got[nonzero], want[nonzero], src[nonzero])


def test_power():
    rng = np.random.default_rng(3)
    a = np.abs(rng.standard_normal(200) * 5).astype(np.float32)
    b = (rng.standard_normal(200) * 3).astype(np.float32)
    want = [nearest("power", pair, FLOAT32) for pair in zip(a, b, strict=True)]
    assert_same_bits(library.rounded("power", a, b), np.array(want, "u4").view("f4"), a, b)
    # squares of 13-bit numbers: many are exact ties of half
    x = np.arange(1025, 2047, 2, dtype=np.float16) / np.float16(1024)
    exact = [round_to(Fraction(float(v)) ** 2, FLOAT16) for v in x]
    assert_same_bits(library.rounded("power", x, 2.0), np.array(exact, "u2").view("f2"), x)


def test_where_float64_cannot_decide():
    """Every number is sent to mpmath here: the bits stay the same."""
    src = arguments("sin", np.float32, 60)
    want = library.rounded("sin", src)
    wide = [library.settled(library.FUNCTIONS["sin"], [Fraction(float(x))], FLOAT32) for x in src]
    assert_same_bits(np.array(wide, "u4").view("f4"), want, src)


@pytest.mark.parametrize(
    ("name", "given", "want"),
    [
        ("sigmoid", [-np.inf, np.inf, 0], [0, 1, 0.5]),
        ("tanh", [-np.inf, np.inf, -0.0], [-1, 1, -0.0]),
        ("log", [0, -1, 1, np.inf], [-np.inf, np.nan, 0, np.inf]),
        ("log2", [8, 0.25, 2.0**-20], [3, -2, -20]),
        ("log10", [1000, 1, 10], [3, 0, 1]),
        ("acos", [1, 2, -2], [0, np.nan, np.nan]),
        ("sin", [np.inf, 0, -0.0], [np.nan, 0, -0.0]),
        ("cos", [0, np.inf], [1, np.nan]),
        ("erfc", [-np.inf, np.inf, 0], [2, 0, 1]),
    ],
)
def test_special_numbers(name, given, want):
    got = library.rounded(name, np.array(given, np.float32), env=ENV_NAN_ONES)
    words = np.array(want, np.float32).view(np.uint32)
    words[np.isnan(want)] = 0x7FFFFFFF
    assert_same_bits(got, words.view(np.float32))


def test_env():
    x = np.array([12, 1e-7, np.nan], np.float16)
    assert library.rounded("cosh", x, env=ENV_SATURATE)[0] == 65504
    assert library.rounded("cosh", x, env=ENV_SATURATE)[2] == 0
    assert library.rounded("sin", x, env=ENV_FLUSH)[1] == 0
    assert library.rounded("sin", x)[1] == x[1]


@pytest.mark.parametrize("name", sorted(library.INTEGRAL))
def test_whole_numbers(name):
    src = random_bits(np.float32, 1000, 3)
    src[:400] = np.arange(-100, 100, 0.5, dtype=np.float32)
    mode = library.INTEGRAL[name]
    want = [round_to_integral(int(bits), FLOAT32, mode) for bits in src.view(np.uint32)]
    assert_same_bits(library.integral(name, src), np.array(want, "u4").view("f4"), src)
    some = np.arange(0, 65536, 7, dtype=np.uint16)
    want = [round_to_integral(bits, FLOAT16, mode) for bits in some.tolist()]
    got = library.integral(name, some.view(np.float16))
    assert_same_bits(got, np.array(want, "u2").view("f2"), some)


def test_sign():
    src = np.array([-0.0, 0.0, -1e-45, 7, -np.inf, np.nan], np.float32)
    want = np.array([0, 0, 0xBF800000, 0x3F800000, 0xBF800000, 0x7FC00000], np.uint32)
    assert_same_bits(library.sign(src), want.view(np.float32), src)
