"""Cast on arrays: against the slow truth, against known neighbours, and against libraries."""

import numpy as np
import pytest

from ascendsim import dtypes
from ascendsim.enums import RoundMode
from ascendsim.errors import UnsupportedError
from ascendsim.numerics.cast import cast
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NAN_ONES, ENV_SATURATE
from ascendsim.numerics.rounding import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    Format,
    convert,
    decode,
    round_to,
)
from tests.helpers import assert_same_bits
from tests.numerics import patterns as p

NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = p.MODES
NARROW = pytest.mark.parametrize("target", [FLOAT16, BFLOAT16], ids=p.named)
HALF_AND_BFLOAT16 = pytest.mark.parametrize(
    ("source", "target"), [(FLOAT16, BFLOAT16), (BFLOAT16, FLOAT16)], ids=["to bf16", "to half"]
)
EVERY_MODE = pytest.mark.parametrize("mode", p.MODES, ids=str)


def truth(source_patterns, source: Format, target: Format, mode: RoundMode, env: int = 0):
    rules = {"saturate": bool(env & ENV_SATURATE), "nan_ones": bool(env & ENV_NAN_ONES)}
    given = np.asarray(source_patterns).tolist()
    return p.array([convert(each, source, target, mode, **rules) for each in given], target)


@pytest.mark.parametrize("source", [FLOAT16, BFLOAT16], ids=p.named)
def test_widening_is_exact_in_every_mode(source: Format) -> None:
    numbers = p.array(p.EVERY_16_BIT, source)
    want = truth(p.EVERY_16_BIT, source, FLOAT32, NONE, ENV_NAN_ONES)
    for mode in p.MODES:
        got = cast(numbers, dtypes.float32, mode, env=ENV_NAN_ONES | ENV_SATURATE)
        assert_same_bits(got, want, numbers)


@HALF_AND_BFLOAT16
def test_between_half_and_bfloat16_on_every_fourth_pattern(source: Format, target: Format) -> None:
    check_half_and_bfloat16(source, target, 4)


@pytest.mark.slow
@HALF_AND_BFLOAT16
def test_between_half_and_bfloat16_on_every_pattern(source: Format, target: Format) -> None:
    check_half_and_bfloat16(source, target, 1)


def check_half_and_bfloat16(source: Format, target: Format, step: int) -> None:
    given = np.union1d(p.EVERY_16_BIT[::step], p.special_patterns(source)).tolist()
    numbers = p.array(given, source)
    exact = [decode(pattern, source) for pattern in given]
    for mode in p.MODES[1:]:
        want = p.array([round_to(value, target, mode) for value in exact], target)
        assert_same_bits(cast(numbers, p.DTYPES[target], mode), want, numbers)


@HALF_AND_BFLOAT16
@pytest.mark.parametrize("env", [ENV_NAN_ONES, ENV_SATURATE, ENV_NAN_ONES | ENV_SATURATE])
def test_environment_on_sampled_patterns(source: Format, target: Format, env: int) -> None:
    sample = np.concatenate([p.EVERY_16_BIT[::31], p.special_patterns(source)]).astype(np.uint16)
    numbers = p.array(sample, source)
    for mode in p.MODES:
        got = cast(numbers, p.DTYPES[target], mode, env=env)
        assert_same_bits(got, truth(sample, source, target, mode, env), numbers)


def neighbours(target: Format) -> tuple[np.ndarray, np.ndarray]:
    """Return each finite magnitude of `target` and the float32 pattern of the middle above it."""
    lower = np.arange(target.inf_bits, dtype=np.int64)
    if target is BFLOAT16:
        return lower, (lower << 16) + 0x8000
    # widened by hand: a float64 holds each middle, also the one between 65504 and 65536
    field, fraction = lower >> target.mantissa_bits, lower & (target.min_normal_bits - 1)
    significand = fraction + np.where(field > 0, target.min_normal_bits, 0) + 0.5
    scale = np.maximum(field, 1) - target.bias - target.mantissa_bits
    return lower, np.ldexp(significand, scale).astype(np.float32).view(np.uint32).astype(np.int64)


@NARROW
@EVERY_MODE
@pytest.mark.parametrize("negative", [False, True])
def test_every_midpoint_and_its_neighbours(target: Format, mode: RoundMode, negative: bool) -> None:
    """Between neighbours n and n + 1 each mode picks by a rule that needs no arithmetic."""
    lower, middle = neighbours(target)
    even, odd = lower + (lower & 1), lower + (1 - (lower & 1))
    sign, outward = (1, FLOOR) if negative else (0, CEIL)
    for step in (-1, 0, 1):
        nearest = {-1: lower, 0: even, 1: lower + 1}[step]
        want = {
            NONE: nearest,
            RINT: nearest,
            ROUND: lower if step < 0 else lower + 1,
            ODD: odd,
            outward: lower + 1,
        }.get(mode, lower)
        given = p.array(middle + step + (sign << 31), FLOAT32)
        want = p.array(want + (sign << 15), target)
        assert_same_bits(cast(given, p.DTYPES[target], mode), want, given)


@NARROW
@EVERY_MODE
def test_exact_numbers_stay_and_next_ones_move(target: Format, mode: RoundMode) -> None:
    lower, _ = neighbours(target)
    exact = cast(p.array(lower, target), dtypes.float32, NONE)
    assert_same_bits(cast(exact, p.DTYPES[target], mode), p.array(lower, target), exact)
    above = (exact.view(np.uint32) + 1).view(np.float32)
    up = {CEIL: lower + 1, ODD: lower + (1 - (lower & 1))}.get(mode, lower)
    assert_same_bits(cast(above, p.DTYPES[target], mode), p.array(up, target), above)


@NARROW
@EVERY_MODE
@pytest.mark.parametrize("env", p.ENVS)
def test_float32_specials(target: Format, mode: RoundMode, env: int) -> None:
    given = [sign | each for each in edges(target) for sign in (0, FLOAT32.sign_bits)]
    numbers = p.array(given, FLOAT32)
    got = cast(numbers, p.DTYPES[target], mode, env=env)
    assert_same_bits(got, truth(given, FLOAT32, target, mode, env), numbers)


def edges(target: Format) -> list[int]:
    """Return float32 patterns around the ends of the range of `target`, and float32's own ends."""
    _, middle = neighbours(target)
    ends = [middle[0], middle[1], middle[target.min_normal_bits - 1], middle[-1], middle[-2]]
    ends += [0x477FE000, 0x47800000, 0x7F7FFFFF]  # 65504, 65536, greatest float32
    around = [int(end) + step for end in ends for step in (-1, 0, 1)]
    return [each & ~FLOAT32.sign_bits for each in around + p.special_patterns(FLOAT32)]


@NARROW
@EVERY_MODE
def test_random_float32(target: Format, mode: RoundMode) -> None:
    given = p.random_patterns(FLOAT32, 2000, seed=10 + mode)
    numbers = p.array(given, FLOAT32)
    want = truth(given, FLOAT32, target, mode)
    assert_same_bits(cast(numbers, p.DTYPES[target], mode), want, numbers)


def against_library(given: np.ndarray, target: Format) -> None:
    numbers = given.view(np.float32)
    with np.errstate(all="ignore"):
        want = numbers.astype(p.VALUE_TYPES[target])
    want = np.where(np.isnan(numbers), p.array(target.nan_bits(True), target), want)
    assert_same_bits(cast(numbers, p.DTYPES[target], RINT, env=ENV_NAN_ONES), want, numbers)


@NARROW
def test_nearest_even_matches_library(target: Format) -> None:
    against_library(p.random_patterns(FLOAT32, 1 << 19, seed=20), target)


@pytest.mark.slow
@NARROW
def test_nearest_even_matches_library_on_ten_million(target: Format) -> None:
    for seed in range(10):
        against_library(p.random_patterns(FLOAT32, 1_000_000, seed=100 + seed), target)


@EVERY_MODE
def test_float32_to_integral(mode: RoundMode) -> None:
    halves = np.arange(-4096, 4096, dtype=np.float32) / 4
    large = (np.arange(-40, 40) + (1 << 23)).astype(np.float32) - np.float32(0.5)
    chosen = np.concatenate([halves, large, -large, p.array(edges(FLOAT16), FLOAT32)])
    given = np.concatenate([chosen.view(np.uint32), p.random_patterns(FLOAT32, 4000, seed=30)])
    numbers = given.view(np.float32)
    want = truth(given, FLOAT32, FLOAT32, mode, ENV_NAN_ONES)
    got = cast(numbers, dtypes.float32, mode, env=ENV_NAN_ONES | ENV_SATURATE)
    assert_same_bits(got, want, numbers)


@pytest.mark.parametrize(
    ("mode", "library"), [(RINT, np.rint), (FLOOR, np.floor), (CEIL, np.ceil), (TRUNC, np.trunc)]
)
def test_float32_to_integral_matches_numpy(mode: RoundMode, library) -> None:
    rng = np.random.default_rng(31)
    numbers = (rng.standard_normal(200_000) * 10.0 ** rng.integers(-3, 8, 200_000)).astype("f4")
    assert_same_bits(cast(numbers, dtypes.float32, mode), library(numbers), numbers)


def test_subnormals_survive_the_flush_rule() -> None:
    numbers = p.array([0x00000001, 0x80400000, 0x33800000], FLOAT32)
    for dtype in (dtypes.float16, dtypes.bfloat16):
        assert_same_bits(cast(numbers, dtype, RINT, env=ENV_FLUSH), cast(numbers, dtype, RINT))


def test_shape_and_strides_are_free() -> None:
    numbers = p.array(p.random_patterns(FLOAT32, 60, seed=32), FLOAT32).reshape(3, 20)
    got = cast(numbers[:, ::2], dtypes.float16, RINT)
    assert_same_bits(got, cast(numbers, dtypes.float16, RINT)[:, ::2])
    assert cast(numbers[:0], dtypes.float16, RINT).shape == (0, 20)


def test_pairs_that_do_not_exist() -> None:
    half = np.zeros(1, np.float16)
    with pytest.raises(UnsupportedError, match="to itself"):
        cast(half, dtypes.float16, RINT)


@pytest.mark.parametrize("vector", p.vectors("Cast", "ScalarCast"), ids=lambda v: v["id"])
def test_documented_casts(vector: dict) -> None:
    source, target = p.ASCEND[vector["src_dtype"]], p.ASCEND[vector["dst_dtype"]]
    mode = RoundMode[vector["mode"] or "CAST_RINT"]
    env = ENV_SATURATE if vector.get("saturation") == "SAT" else 0
    numbers = p.numbers(vector["inputs"]["src"], source)
    want = p.numbers(vector["outputs"]["dst"], target)
    assert_same_bits(cast(numbers, p.DTYPES[target], mode, env=env), want, numbers)
