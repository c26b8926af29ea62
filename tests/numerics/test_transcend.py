"""Exp and Ln on arrays: correctly rounded, against enclosures, long doubles and the manual."""

import numpy as np
import pytest

from ascendsim.errors import UnsupportedError
from ascendsim.numerics import exact, transcend
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import FLOAT16, FLOAT32, Format
from tests.helpers import assert_same_bits
from tests.numerics import patterns as p

FUNCTIONS = {
    "Exp": (transcend.exp, exact.exact_exp),
    "Ln": (transcend.ln, exact.exact_ln),
}
# float32 operands whose result lies within a few units of float64 of a tie between two float32
# numbers, the closest of all operands; for Ln float64 even gives the tie itself on the first eight
CLOSEST_TIES = {
    "Exp": [
        *(0xC16912CD, 0xBBF0EDF1, 0x377EFF81, 0x38E69CC1, 0x39C6BE5B, 0x383A3EF1, 0x3D1A274E),
        *(0xBAE0E25C, 0x4001B249, 0x40315B33, 0x36FDFFC1, 0x39E5BB1D, 0xBC2A461A, 0xC0781533),
    ],
    "Ln": [
        *(0x1F116AB8, 0x3C413D3A, 0x41178FEB, 0x4C5D65A5, 0x4D604EBE, 0x65D890D3, 0x66A8C860),
        *(0x6F31A8EC, 0x0DC8BBA4, 0x111C87F8, 0x2C4C24B7, 0x38DCBE38, 0x3BF86EF0, 0x4665A9A6),
    ],
}
EVERY_FUNCTION = pytest.mark.parametrize("name", FUNCTIONS)
EVERY_FORMAT = pytest.mark.parametrize("fmt", [FLOAT32, FLOAT16], ids=p.named)


def check(name: str, fmt: Format, given: list[int], env: int = 0) -> None:
    twin, truth = FUNCTIONS[name]
    numbers = p.array(given, fmt)
    want = p.array([truth(each, fmt, env) for each in given], fmt)
    assert_same_bits(twin(numbers, env=env), want, numbers)


@EVERY_FUNCTION
def test_every_fifth_half(name: str) -> None:
    check(name, FLOAT16, p.EVERY_16_BIT[::5].tolist())


@pytest.mark.slow
@EVERY_FUNCTION
def test_every_half(name: str) -> None:
    check(name, FLOAT16, p.EVERY_16_BIT.tolist())


@EVERY_FUNCTION
@EVERY_FORMAT
@pytest.mark.parametrize("env", p.ENVS)
def test_environments(name: str, fmt: Format, env: int) -> None:
    check(name, fmt, p.special_patterns(fmt) + p.random_patterns(fmt, 100, seed=1).tolist(), env)


@EVERY_FUNCTION
def test_random_float32(name: str) -> None:
    check(name, FLOAT32, p.random_patterns(FLOAT32, 3000, seed=2).tolist())


@pytest.mark.parametrize("env", [0, ENV_FLUSH])
def test_exp_where_results_leave_the_range(env: int) -> None:
    """Around overflow, the smallest normal result, the smallest subnormal, and half of that."""
    ends = p.numbers([88.72284, -87.33655, -103.27893, -103.97208], FLOAT32)
    given = [each + step for each in p.patterns(ends) for step in range(-20, 20)]
    check("Exp", FLOAT32, given, env)


def test_close_to_one() -> None:
    one = 0x3F800000
    check("Ln", FLOAT32, [one + step for step in range(-100, 100)])
    powers = [exponent << 23 for exponent in range(1, 255, 3)]
    check("Ln", FLOAT32, powers)
    tiny = p.patterns(p.numbers([2.0**-23, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 1e-12], FLOAT32))
    check(
        "Exp",
        FLOAT32,
        [sign | each + d for each in tiny for d in (-1, 0, 1) for sign in (0, 1 << 31)],
    )


@EVERY_FUNCTION
def test_doubtful_results_are_settled_exactly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a margin so wide that most results are doubtful, the answers stay the same."""
    numbers = p.array(p.random_patterns(FLOAT32, 500, seed=3), FLOAT32)
    twin, _ = FUNCTIONS[name]
    want = twin(numbers)
    monkeypatch.setattr(transcend, "MARGIN", 2.0**-24)
    assert_same_bits(twin(numbers), want, numbers)


@EVERY_FUNCTION
def test_the_closest_ties_of_float32(name: str) -> None:
    check(name, FLOAT32, CLOSEST_TIES[name])


@pytest.mark.slow
@EVERY_FUNCTION
def test_many_random_float32(name: str) -> None:
    check(name, FLOAT32, p.random_patterns(FLOAT32, 100_000, seed=5).tolist())


@pytest.mark.slow
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision here")
@EVERY_FUNCTION
def test_ten_million_against_long_doubles(name: str) -> None:
    """Extended precision decides all but about one result in 2**38."""
    twin, _ = FUNCTIONS[name]
    library = {"Exp": np.exp, "Ln": np.log}[name]
    for seed in range(10):
        numbers = p.array(p.random_patterns(FLOAT32, 1_000_000, seed=300 + seed), FLOAT32)
        with np.errstate(all="ignore"):
            want = library(numbers.astype(np.longdouble)).astype(np.float32)
        want = np.where(np.isnan(want), p.array(FLOAT32.nan_bits(False), FLOAT32), want)
        assert_same_bits(twin(numbers), want, numbers)


def test_special_results() -> None:
    given = p.numbers([float("inf"), float("-inf"), 0.0, -0.0, -1.0, float("nan")], FLOAT32)
    inf, one, nan = 0x7F800000, 0x3F800000, 0x7FFFFFFF
    exp = p.array([inf, 0, one, one, 0x3EBC5AB2, nan], FLOAT32)
    assert_same_bits(transcend.exp(given, env=ENV_NAN_ONES), exp, given)
    ln = p.array([inf, nan, 0xFF800000, 0xFF800000, nan, nan], FLOAT32)
    assert_same_bits(transcend.ln(given, env=ENV_NAN_ONES), ln, given)


def test_subnormals_follow_the_flush_rule() -> None:
    subnormal = p.array([0x00000001, 0x807FFFFF], FLOAT32)
    flushed = transcend.ln(subnormal, env=ENV_FLUSH | ENV_NAN_ONES)
    assert_same_bits(flushed, p.numbers([float("-inf")] * 2, FLOAT32))
    kept = transcend.ln(subnormal, env=ENV_NAN_ONES)
    assert_same_bits(kept, p.array([0xC2CE8ED0, 0x7FFFFFFF], FLOAT32))
    result = p.numbers([-88.0], FLOAT32)
    assert_same_bits(transcend.exp(result, env=ENV_FLUSH), p.array([0], FLOAT32))
    assert 0 < transcend.exp(result)[0] < 2.0**-126


def test_bfloat16_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Cast to float32"):
        transcend.exp(p.array([0], p.BFLOAT16))


@pytest.mark.parametrize("vector", p.vectors("Exp"), ids=lambda v: v["id"])
def test_documented_exp(vector: dict) -> None:
    """Printed to four digits: the nearest half to the printed number is meant."""
    env = ENV_SATURATE if vector.get("saturation") == "saturation" else 0
    numbers = p.numbers(vector["inputs"]["src"], FLOAT16)
    want = p.numbers(vector["outputs"]["dst"], FLOAT16)
    assert_same_bits(transcend.exp(numbers, env=env), want, numbers)


def test_documented_ln() -> None:
    """Printed to four decimals, of float32 as it seems: half would print 0.6934 for ln 2."""
    (vector,) = p.vectors("Ln")
    got = transcend.ln(p.numbers(vector["inputs"]["src"], FLOAT32))
    assert [f"{each:.4f}" for each in got] == [f"{each:.4f}" for each in vector["outputs"]["dst"]]
