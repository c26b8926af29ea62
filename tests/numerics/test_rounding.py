"""The slow truth against the manual's examples, gfloat, numpy, ml_dtypes and decimal."""

from decimal import Decimal, localcontext
from fractions import Fraction

import gfloat
import numpy as np
import pytest
from gfloat.formats import format_info_bfloat16, format_info_binary16, format_info_binary32

from ascendsim.enums import RoundMode
from ascendsim.numerics.exact import exact_exp, exact_ln, exact_sqrt
from ascendsim.numerics.rounding import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    NAN,
    Format,
    Value,
    convert,
    decode,
    floor_log2,
    power_of_two,
    round_to,
    round_to_integral,
)
from tests.numerics import patterns as p

NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = p.MODES
EVERY_FORMAT = pytest.mark.parametrize("fmt", p.FORMATS, ids=p.named)
GFLOAT = {
    FLOAT32: format_info_binary32,
    FLOAT16: format_info_binary16,
    BFLOAT16: format_info_bfloat16,
}
GFLOAT_MODES = {
    RINT: gfloat.RoundMode.TiesToEven,
    ROUND: gfloat.RoundMode.TiesToAway,
    FLOOR: gfloat.RoundMode.TowardNegative,
    CEIL: gfloat.RoundMode.TowardPositive,
    TRUNC: gfloat.RoundMode.TowardZero,
}


def bits(number: float, fmt: Format = FLOAT32) -> int:
    return p.patterns(p.numbers([number], fmt))[0]


@pytest.mark.parametrize(
    ("mode", "results"),
    [
        (NONE, (2, 2, -2, -2)),
        (RINT, (2, 2, -2, -2)),
        (FLOOR, (1, 2, -2, -3)),
        (CEIL, (2, 3, -1, -2)),
        (ROUND, (2, 3, -2, -3)),
        (TRUNC, (1, 2, -1, -2)),
        (ODD, (1, 3, -1, -3)),
    ],
)
def test_modes_on_halves(mode: RoundMode, results: tuple[int, ...]) -> None:
    for number, want in zip((1.5, 2.5, -1.5, -2.5), results, strict=True):
        assert round_to_integral(bits(number), FLOAT32, mode) == bits(want), number


@pytest.mark.parametrize(
    ("number", "mode", "want"),
    [
        (-0.4, RINT, -0.0),
        (-0.5, RINT, -0.0),
        (-0.5, ROUND, -1.0),
        (-0.0, FLOOR, -0.0),
        (-1e-45, CEIL, -0.0),
        (1e-45, CEIL, 1.0),
        (1e-45, ODD, 1.0),
        (8388607.5, RINT, 8388608.0),
        (8388609.0, ODD, 8388609.0),
        (float("-inf"), TRUNC, float("-inf")),
    ],
)
def test_integral_edges(number: float, mode: RoundMode, want: float) -> None:
    assert round_to_integral(bits(number), FLOAT32, mode) == bits(want)


@pytest.mark.parametrize(
    ("number", "mode", "want"),
    [
        (Fraction(65520) - Fraction(1, 1000), RINT, 0x7BFF),
        (65520, RINT, 0x7C00),  # the tie goes to the even neighbour, two to the 16
        (65520, NONE, 0x7C00),
        (65520, ROUND, 0x7C00),
        (65504, CEIL, 0x7BFF),
        (Fraction(65504) + Fraction(1, 1000), CEIL, 0x7C00),
        (-Fraction(65504) - Fraction(1, 1000), CEIL, 0xFBFF),
        (-Fraction(65504) - Fraction(1, 1000), FLOOR, 0xFC00),
        (Fraction(65536) - Fraction(1, 1000), TRUNC, 0x7BFF),
        (Fraction(65536) - Fraction(1, 1000), FLOOR, 0x7BFF),
        (Fraction(65536) - Fraction(1, 1000), ODD, 0x7BFF),
        # out of range gives infinity also where IEEE 754 stops at the greatest finite number
        (65536, TRUNC, 0x7C00),
        (70000, FLOOR, 0x7C00),
        (-70000, CEIL, 0xFC00),
        (70000, ODD, 0x7C00),
    ],
)
def test_overflow_to_half(number: Fraction | int, mode: RoundMode, want: int) -> None:
    assert round_to(number, FLOAT16, mode) == want
    saturated = {0x7C00: 0x7BFF, 0xFC00: 0xFBFF}.get(want, want)
    assert round_to(number, FLOAT16, mode, saturate=True) == saturated


@pytest.mark.parametrize(
    ("fmt", "greatest", "ones", "quiet"),
    [
        (FLOAT32, 0x7F800000, 0x7FFFFFFF, 0x7FC00000),
        (FLOAT16, 0x7BFF, 0x7FFF, 0x7E00),
        (BFLOAT16, 0x7F7F, 0x7FFF, 0x7FC0),
    ],
    ids=["float32 never saturates", "float16", "bfloat16"],
)
def test_special_results(fmt: Format, greatest: int, ones: int, quiet: int) -> None:
    saturates = fmt is not FLOAT32
    for mode in p.MODES:
        assert round_to(Value("inf"), fmt, mode) == fmt.inf_bits
        assert round_to(Value("inf"), fmt, mode, saturate=True) == greatest
        assert round_to(Value("inf", True), fmt, mode, saturate=True) == fmt.sign_bits | greatest
        assert round_to(NAN, fmt, mode) == quiet
        assert round_to(NAN, fmt, mode, nan_ones=True) == ones
        want = 0 if saturates else ones
        assert round_to(NAN, fmt, mode, saturate=True, nan_ones=True) == want
        assert round_to(Value("finite", True), fmt, mode) == fmt.sign_bits


@EVERY_FORMAT
def test_tiny_numbers_keep_their_sign(fmt: Format) -> None:
    tiny = power_of_two(fmt.min_exponent - fmt.mantissa_bits - 2)  # a quarter of the smallest
    away = {CEIL: (1, 0), FLOOR: (0, 1), ODD: (1, 1)}
    for mode in p.MODES:
        up, down = away.get(mode, (0, 0))
        assert round_to(tiny, fmt, mode) == up
        assert round_to(-tiny, fmt, mode) == fmt.sign_bits | down
    assert round_to(2 * tiny, fmt, RINT) == 0
    assert round_to(2 * tiny, fmt, ROUND) == 1
    assert round_to(3 * tiny, fmt, RINT) == 1


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fmt", [FLOAT16, BFLOAT16], ids=p.named)
def test_decoding_matches_library_and_rounds_back(fmt: Format, step: int) -> None:
    given = np.union1d(p.EVERY_16_BIT[::step], p.special_patterns(fmt)).tolist()
    with np.errstate(invalid="ignore"):
        library = p.array(given, fmt).astype(np.float64).tolist()
    for pattern, number in zip(given, library, strict=True):
        value = decode(pattern, fmt)
        if number != number:
            assert value == NAN
            continue
        assert value.negative == bool(pattern & fmt.sign_bits)
        if value.kind == "finite":
            assert value.number == Fraction(number)
        else:
            assert float("inf") == abs(number)
        assert round_to(value, fmt, ODD) == pattern


def test_floor_log2_next_to_powers() -> None:
    for exponent in (-150, -1, 0, 1, 127):
        power = power_of_two(exponent)
        assert floor_log2(power) == exponent
        assert floor_log2(power * Fraction(999, 1000)) == exponent - 1
        assert floor_log2(power * Fraction(1999, 1000)) == exponent


@pytest.mark.parametrize("fmt", [FLOAT16, BFLOAT16], ids=p.named)
@pytest.mark.parametrize("mode", GFLOAT_MODES, ids=str)
def test_rounding_matches_gfloat(fmt: Format, mode: RoundMode) -> None:
    info = GFLOAT[fmt]
    sources = p.array(p.random_patterns(FLOAT32, 1500, seed=1), FLOAT32)
    near_half = p.array(p.random_patterns(FLOAT16, 600, seed=2), FLOAT16).astype(np.float32)
    sources, near_half = sources[np.isfinite(sources)], near_half[np.isfinite(near_half)]
    checked = 0
    for source in [*sources.tolist(), *near_half.tolist(), *(near_half * 1.0002441).tolist()]:
        value = Value("finite", str(source)[0] == "-", abs(Fraction(source)))
        got = round_to(value, fmt, mode)
        if got & ~fmt.sign_bits >= fmt.max_bits:
            continue  # the overflow rules differ on purpose
        rounded = gfloat.round_float(info, source, GFLOAT_MODES[mode])
        assert got == gfloat.encode_float(info, rounded), source
        checked += 1
    assert checked > 1000


@pytest.mark.parametrize("fmt", [FLOAT16, BFLOAT16], ids=p.named)
def test_nearest_even_matches_libraries(fmt: Format) -> None:
    source = p.random_patterns(FLOAT32, 20_000, seed=3)
    numbers = p.array(source, FLOAT32)
    source = source[~np.isnan(numbers)]
    with np.errstate(all="ignore"):
        want = p.patterns(p.array(source, FLOAT32).astype(p.VALUE_TYPES[fmt]))
    assert [convert(each, FLOAT32, fmt, RINT) for each in source.tolist()] == want


@pytest.mark.parametrize("fmt", [FLOAT32, FLOAT16], ids=p.named)
@pytest.mark.parametrize(
    ("exact", "method"),
    [(exact_exp, Decimal.exp), (exact_ln, Decimal.ln), (exact_sqrt, Decimal.sqrt)],
)
def test_functions_match_decimal(fmt: Format, exact, method) -> None:
    """Decimal rounds these correctly to any number of digits; 120 are beyond every tie here."""
    sources = p.special_patterns(fmt) + p.random_patterns(fmt, 1500, seed=4).tolist()
    checked = 0
    with localcontext() as context:
        context.prec = 120
        for source in sources:
            value = decode(source, fmt)
            positive = value.kind == "finite" and value.magnitude > 0 and not value.negative
            small = value.kind == "finite" and 0 < value.magnitude < 200
            if not (small if exact is exact_exp else positive):
                continue
            number = Decimal(value.number.numerator) / Decimal(value.number.denominator)
            assert exact(source, fmt) == round_to(Fraction(method(number)), fmt), hex(source)
            checked += 1
    assert checked > 500


@pytest.mark.parametrize("vector", p.vectors("Cast", "ScalarCast"), ids=lambda v: v["id"])
def test_documented_casts(vector: dict) -> None:
    source, target = p.ASCEND[vector["src_dtype"]], p.ASCEND[vector["dst_dtype"]]
    mode = RoundMode[vector["mode"] or "CAST_RINT"]
    saturate = vector.get("saturation") == "SAT"
    given = p.patterns(p.numbers(vector["inputs"]["src"], source))
    got = [convert(each, source, target, mode, saturate=saturate) for each in given]
    assert got == p.patterns(p.numbers(vector["outputs"]["dst"], target))


@pytest.mark.parametrize("vector", p.vectors("round_to_integral"), ids=lambda v: v["id"])
def test_documented_integral_rounding(vector: dict) -> None:
    given = p.patterns(p.numbers(vector["inputs"]["src"], FLOAT32))
    got = [round_to_integral(each, FLOAT32, RoundMode[vector["mode"]]) for each in given]
    assert got == p.patterns(p.numbers(vector["outputs"]["dst"], FLOAT32))
