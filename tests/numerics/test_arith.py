"""Add, Sub, Mul, Div, Max, Min, Abs, Sqrt on arrays: against exact arithmetic and libraries."""

import ml_dtypes
import numpy as np
import pytest

from ascendsim.errors import UnsupportedError
from ascendsim.numerics import arith, exact
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Format
from tests.helpers import assert_same_bits
from tests.numerics import patterns as p

BINARY = {
    "Add": (arith.add, exact.exact_add),
    "Sub": (arith.sub, exact.exact_sub),
    "Mul": (arith.mul, exact.exact_mul),
    "Div": (arith.div, exact.exact_div),
    "Max": (arith.maximum, exact.exact_max),
    "Min": (arith.minimum, exact.exact_min),
}
UNARY = {
    "Abs": (arith.absolute, exact.exact_abs),
    "Sqrt": (arith.sqrt, exact.exact_sqrt),
}
NUMPY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
EVERY_FORMAT = pytest.mark.parametrize("fmt", p.FORMATS, ids=p.named)
EVERY_BINARY = pytest.mark.parametrize("name", BINARY)


def check_binary(name: str, fmt: Format, a: np.ndarray, b: np.ndarray, env: int) -> None:
    twin, truth = BINARY[name]
    pairs = zip(p.patterns(a), p.patterns(b), strict=True)
    want = p.array([truth(x, y, fmt, env) for x, y in pairs], fmt)
    assert_same_bits(twin(a, b, env=env), want, a, b)


@EVERY_FORMAT
@EVERY_BINARY
def test_specials_in_every_environment(name: str, fmt: Format) -> None:
    a, b = p.special_pairs(fmt)
    for env in (0, ENV_FLUSH, ENV_NAN_ONES | ENV_SATURATE, ENV_FLUSH | ENV_SATURATE):
        check_binary(name, fmt, a, b, env)


@EVERY_FORMAT
@EVERY_BINARY
def test_random_pairs(name: str, fmt: Format) -> None:
    a, b = (p.array(p.random_patterns(fmt, 2000, seed), fmt) for seed in (1, 2))
    check_binary(name, fmt, a, b, ENV_NAN_ONES)


@EVERY_FORMAT
@pytest.mark.parametrize("name", ["Add", "Sub"])
def test_cancelling_pairs(name: str, fmt: Format) -> None:
    """Operands a few units apart, of both signs, where sums are tiny or need every bit."""
    rng = np.random.default_rng(3)
    left = p.random_patterns(fmt, 1500, seed=4)
    right = left + rng.integers(0, 5, left.size).astype(left.dtype)
    right ^= np.where(rng.random(left.size) < 0.5, fmt.sign_bits, 0).astype(left.dtype)
    check_binary(name, fmt, p.array(left, fmt), p.array(right, fmt), 0)


@EVERY_FORMAT
@pytest.mark.parametrize("name", ["Mul", "Div"])
@pytest.mark.parametrize("env", [0, ENV_FLUSH])
def test_results_around_the_smallest_normal(name: str, fmt: Format, env: int) -> None:
    rng = np.random.default_rng(5)
    one = fmt.bias << fmt.mantissa_bits
    count = 1500
    factor = one + rng.integers(-fmt.min_normal_bits, fmt.min_normal_bits, count)
    small = rng.integers(1, 4 * fmt.min_normal_bits, count)
    check_binary(name, fmt, p.array(small, fmt), p.array(factor, fmt), env)


@pytest.mark.slow
@EVERY_FORMAT
@EVERY_BINARY
def test_many_random_pairs(name: str, fmt: Format) -> None:
    """Most of float32 arithmetic: 16-bit arithmetic is held against libraries on millions below."""
    count = 200_000 if fmt is FLOAT32 and name in NUMPY else 50_000
    a, b = (p.array(p.random_patterns(fmt, count, seed), fmt) for seed in (11, 12))
    check_binary(name, fmt, a, b, 0)


@pytest.mark.parametrize("name", NUMPY)
def test_half_is_rounded_once(name: str) -> None:
    """float64 has more than twice the bits of half, so rounding its result is rounding once."""
    check_half(name, 1 << 18, seed=21)


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMPY)
def test_half_is_rounded_once_on_ten_million(name: str) -> None:
    for seed in range(10):
        check_half(name, 1_000_000, seed=200 + 2 * seed)


def check_half(name: str, count: int, seed: int) -> None:
    a, b = (p.array(p.random_patterns(FLOAT16, count, s), FLOAT16) for s in (seed, seed + 1))
    with np.errstate(all="ignore"):
        want = NUMPY[name](a.astype(np.float64), b.astype(np.float64)).astype(np.float16)
    want = np.where(np.isnan(want), p.array(FLOAT16.nan_bits(False), FLOAT16), want)
    assert_same_bits(BINARY[name][0](a, b), want, a, b)


@pytest.mark.parametrize("count", [1 << 18, pytest.param(1 << 21, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NUMPY)
def test_bfloat16_is_a_rounded_float32_operation(name: str, count: int) -> None:
    a, b = (p.array(p.random_patterns(BFLOAT16, count, s), BFLOAT16) for s in (31, 32))
    with np.errstate(all="ignore"):
        want = NUMPY[name](a.astype("f4"), b.astype("f4")).astype(ml_dtypes.bfloat16)
    want = np.where(np.isnan(want), p.array(BFLOAT16.nan_bits(False), BFLOAT16), want)
    assert_same_bits(BINARY[name][0](a, b), want, a, b)


@pytest.mark.parametrize("fmt", [FLOAT16, BFLOAT16], ids=p.named)
def test_sqrt_of_every_third_number(fmt: Format) -> None:
    check_sqrt(fmt, 3)


@pytest.mark.slow
@pytest.mark.parametrize("fmt", [FLOAT16, BFLOAT16], ids=p.named)
def test_sqrt_of_every_number(fmt: Format) -> None:
    check_sqrt(fmt, 1)


def check_sqrt(fmt: Format, step: int) -> None:
    given = p.EVERY_16_BIT[::step].tolist()
    numbers = p.array(given, fmt)
    want = p.array([exact.exact_sqrt(each, fmt) for each in given], fmt)
    assert_same_bits(arith.sqrt(numbers), want, numbers)


@pytest.mark.parametrize("fmt", [FLOAT16, BFLOAT16], ids=p.named)
def test_abs_of_every_pattern(fmt: Format) -> None:
    numbers = p.array(p.EVERY_16_BIT, fmt)
    signless = np.arange(1 << 16) & 0x7FFF
    want = np.where(signless > fmt.inf_bits, fmt.nan_bits(False), signless)
    assert_same_bits(arith.absolute(numbers), p.array(want, fmt), numbers)


@EVERY_FORMAT
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("env", p.ENVS)
def test_unary_in_every_environment(name: str, fmt: Format, env: int) -> None:
    twin, truth = UNARY[name]
    given = p.special_patterns(fmt) + p.random_patterns(fmt, 500, seed=6).tolist()
    numbers = p.array(given, fmt)
    want = p.array([truth(each, fmt, env) for each in given], fmt)
    assert_same_bits(twin(numbers, env=env), want, numbers)


@EVERY_FORMAT
@EVERY_BINARY
def test_scalar_second_operand(name: str, fmt: Format) -> None:
    twin, _ = BINARY[name]
    a = p.array(p.random_patterns(fmt, 300, seed=7), fmt)
    for scalar in p.numbers([0.1, -1.0, 0.0, float("inf")], fmt):
        want = twin(a, np.full_like(a, scalar))
        assert_same_bits(twin(a, scalar), want, a, scalar)
        assert_same_bits(twin(a, float(scalar)), want, a, scalar)


@EVERY_FORMAT
def test_operands_stay(fmt: Format) -> None:
    a, b = p.special_pairs(fmt)
    before = a.copy(), b.copy()
    for twin, _ in BINARY.values():
        twin(a, b, env=ENV_FLUSH | ENV_SATURATE)
    assert_same_bits(a, before[0])
    assert_same_bits(b, before[1])


def test_saturated_half_adds_as_documented() -> None:
    """The control register example: infinities stay with bit 48 set, and saturate without."""
    src = np.concatenate([np.arange(128), np.full(128, np.inf)]).astype(np.float16)
    kept = arith.add(src, 1.0, env=ENV_NAN_ONES)
    assert_same_bits(kept[:128], np.arange(1, 129).astype(np.float16))
    assert_same_bits(kept[128:], src[128:])
    assert_same_bits(arith.add(src, 1.0, env=ENV_SATURATE)[128:], np.full(128, 65504, np.float16))


def test_division_of_integers_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="int32 is not modelled"):
        arith.div(np.zeros(1, np.int32), 1)


@pytest.mark.parametrize(
    "vector",
    p.vectors("Add", "Sub", "Mul", "Div", "Max", "Min", "Maxs", "Mins", "Abs", "Sqrt"),
    ids=lambda v: v["id"],
)
def test_documented_examples(vector: dict) -> None:
    fmt = p.ASCEND[vector.get("dtype", "half")]
    env = ENV_NAN_ONES if "INTRINSIC" in vector.get("algo", "") else 0
    env |= ENV_FLUSH if "INTRINSIC" in vector.get("algo", "") else 0
    env |= ENV_SATURATE if vector.get("saturation") == "saturation" else 0
    inputs = [_read(key, given, fmt) for key, given in vector["inputs"].items()]
    twin, _ = (BINARY | UNARY)[vector["op"].removesuffix("s") if len(inputs) > 1 else vector["op"]]
    (want,) = (_read(key, given, fmt) for key, given in vector["outputs"].items())
    assert_same_bits(twin(*inputs, env=env), want, *inputs)


def _read(key: str, given: object, fmt: Format) -> object:
    if key == "scalar":
        return given
    assert isinstance(given, list)
    if key.endswith("_bits"):
        return p.array([int(each, 16) for each in given], fmt)
    return p.numbers(given, fmt)


def test_sqrt_of_special_numbers_as_documented() -> None:
    given = p.numbers([-0.0, -1.0, float("inf"), -1e-40], FLOAT32)
    want = p.array([0x80000000, 0x7FFFFFFF, 0x7F800000, 0x7FFFFFFF], FLOAT32)
    assert_same_bits(arith.sqrt(given, env=ENV_NAN_ONES), want, given)
