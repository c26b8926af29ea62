"""Compare and Select on arrays: the order of special numbers, bit order, copies of bits."""

import operator

import numpy as np
import pytest

from ascendsim.enums import CMPMODE
from ascendsim.numerics.compare import compare, select
from ascendsim.numerics.opcodes import ENV_FLUSH, ENV_NE_ORDERED
from ascendsim.numerics.rounding import FLOAT32, Format, Value, decode
from tests.helpers import assert_same_bits
from tests.numerics import patterns as p

EVERY_FORMAT = pytest.mark.parametrize("fmt", p.FORMATS, ids=p.named)
EVERY_MODE = pytest.mark.parametrize("mode", CMPMODE, ids=str)
OPERATORS = {mode: getattr(operator, mode.name.lower()) for mode in CMPMODE}


def pack(bits: list[bool]) -> np.ndarray:
    """Pack by the definition: element i is bit i % 8 of byte i // 8."""
    out = np.zeros(-(-len(bits) // 8), np.uint8)
    for i, bit in enumerate(bits):
        out[i // 8] |= int(bit) << (i % 8)
    return out


def rank(value: Value) -> tuple[int, object]:
    """Return a key that orders real numbers and infinities."""
    if value.kind == "inf":
        return (-1 if value.negative else 1), 0
    return 0, value.number


def truth(a: int, b: int, fmt: Format, mode: CMPMODE, env: int) -> bool:
    x, y = decode(a, fmt), decode(b, fmt)
    if "nan" in (x.kind, y.kind):
        return mode == CMPMODE.NE and not env & ENV_NE_ORDERED
    return OPERATORS[mode](rank(x), rank(y))


def check(fmt: Format, mode: CMPMODE, a: np.ndarray, b: np.ndarray, env: int) -> None:
    pairs = zip(p.patterns(a), p.patterns(b), strict=True)
    want = pack([truth(x, y, fmt, mode, env) for x, y in pairs])
    assert_same_bits(compare(a, b, mode, env=env), want)


@EVERY_FORMAT
@EVERY_MODE
@pytest.mark.parametrize("env", [0, ENV_NE_ORDERED, ENV_FLUSH])
def test_specials(fmt: Format, mode: CMPMODE, env: int) -> None:
    check(fmt, mode, *p.special_pairs(fmt), env)


@EVERY_FORMAT
@EVERY_MODE
def test_random_and_near_pairs(fmt: Format, mode: CMPMODE) -> None:
    left = p.random_patterns(fmt, 1500, seed=1)
    other = p.random_patterns(fmt, 1500, seed=2)
    near = left + np.random.default_rng(3).integers(0, 2, left.size).astype(left.dtype)
    for right in (other, near):
        check(fmt, mode, p.array(left, fmt), p.array(right, fmt), 0)


@pytest.mark.parametrize("fmt", p.FORMATS[1:], ids=p.named)
@EVERY_MODE
def test_every_pattern_against_numpy(fmt: Format, mode: CMPMODE) -> None:
    numbers = p.array(p.EVERY_16_BIT, fmt)
    for pivot in p.special_patterns(fmt):
        scalar = p.array([pivot], fmt)[0]
        with np.errstate(invalid="ignore"):
            want = OPERATORS[mode](numbers.astype(np.float64), np.float64(scalar))
        assert_same_bits(compare(numbers, scalar, mode), np.packbits(want, bitorder="little"))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 64, 65])
def test_lengths_and_the_last_byte(count: int) -> None:
    ones = np.ones(count, np.float32)
    assert_same_bits(compare(ones, 0.0, CMPMODE.GT), pack([True] * count))
    assert_same_bits(compare(ones, 0.0, CMPMODE.LT), pack([False] * count))


@EVERY_FORMAT
def test_select_copies_bits(fmt: Format) -> None:
    a, b = p.special_pairs(fmt)
    mask = np.random.default_rng(4).integers(0, 256, -(-a.size // 8) + 3).astype(np.uint8)
    bits = [mask[i // 8] >> (i % 8) & 1 for i in range(a.size)]
    pairs = zip(bits, p.patterns(a), p.patterns(b), strict=True)
    want = p.array([x if bit else y for bit, x, y in pairs], fmt)
    assert_same_bits(select(mask, a, b), want, a, b)


def test_select_with_scalar_and_integers() -> None:
    a = np.arange(10, dtype=np.int32)
    mask = np.array([0b01010101, 0b10], np.uint8)
    assert select(mask, a, 7).tolist() == [0, 7, 2, 7, 4, 7, 6, 7, 7, 9]
    nan = p.array([0xFFC12345], FLOAT32)[0]
    got = select(mask, np.zeros(10, np.float32), nan)
    assert p.patterns(got)[1] == 0xFFC12345
    assert select(mask[:0], a[:0], 7).size == 0


def test_a_mask_of_compare_drives_select() -> None:
    x = p.array(p.random_patterns(FLOAT32, 1000, seed=5), FLOAT32)
    kept = select(compare(x, 0.0, CMPMODE.GT), x, 0.0)
    assert_same_bits(kept, np.where(x > 0, x, np.float32(0)), x)


@pytest.mark.parametrize(
    "vector", p.vectors("Compare", "Compares", "CompareToCmpMask"), ids=lambda v: v["id"]
)
def test_documented_masks(vector: dict) -> None:
    inputs = vector["inputs"]
    a = p.numbers(inputs["src0"], FLOAT32)
    b = inputs.get("src1") or inputs["src1_tensor_first_element_used"][:1]
    got = compare(a, p.numbers(b, FLOAT32), CMPMODE[vector["mode"]])
    lanes = np.full(a.size, True)
    if "mask" in vector:
        lanes = np.arange(a.size) < vector["mask"]
    elif "mask_bits" in vector:
        lanes = np.unpackbits(
            np.array(vector["mask_bits"], "<u8").view(np.uint8), bitorder="little"
        )
        lanes = lanes[: a.size].astype(bool)
    (want,) = vector["outputs"].values()
    assert_same_bits(got & pack(lanes.tolist()), np.array(want, np.uint8))


@pytest.mark.parametrize("vector", p.vectors("Select"), ids=lambda v: v["id"])
def test_documented_selections(vector: dict) -> None:
    inputs = vector["inputs"]
    a = p.numbers(inputs["src0"], FLOAT32)
    if "sel_bits" in inputs:
        got = select(pack(inputs["sel_bits"]), a, p.numbers(inputs["src1"], FLOAT32))
        before = p.numbers(inputs["dst_before"], FLOAT32)
        got = np.where(np.array(inputs["lane_mask"], bool), got, before)
    else:
        b = inputs["src1"]
        mask = np.array(inputs["sel_mask_bytes"], np.uint8)
        if vector["selmode"] == "VSEL_CMPMASK_SPR":  # the bits of one repeat serve all repeats
            mask = np.tile(mask[:8], a.size // 64)
        got = select(mask, a, p.numbers(b, FLOAT32) if isinstance(b, list) else b)
    assert_same_bits(got, p.numbers(vector["outputs"]["dst"], FLOAT32))
