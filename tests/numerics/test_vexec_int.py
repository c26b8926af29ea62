"""Integer bodies against Python's integers, integer casts against exact fractions."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from ascendsim import dtypes
from ascendsim.enums import CMPMODE, RoundMode
from ascendsim.numerics import cast_int, vexec
from ascendsim.numerics.cast import cast
from ascendsim.numerics.families import (
    BETWEEN_INTEGERS,
    FROM_INTEGER,
    INTEGER_ARITHMETIC,
    INTEGERS,
    LOGIC,
    TO_INTEGER,
)
from ascendsim.numerics.opcodes import ENV_NAN_ONES, ENV_SATURATE, ENV_TRUNCATE
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Value, _round, decode, round_to
from tests.helpers import assert_same_bits
from tests.numerics.vexec_rows import LENGTHS, fresh, random_bits

FORMATS = {"float32": FLOAT32, "float16": FLOAT16, "bfloat16": BFLOAT16}
MODES = tuple(mode for mode in RoundMode if mode is not RoundMode.CAST_ODD)
ORACLE = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": max,
    "min": min,
    "and": operator.and_,
    "or": operator.or_,
    "shiftleft": operator.lshift,
    "shiftright": operator.rshift,
    "not": operator.invert,
    "relu": lambda x: max(x, 0),
}


def operands(T, count=1000, seed=0):
    """Return random numbers of T with the ends of its range among them."""
    values = random_bits(T.numpy, count, seed)
    ends = [np.iinfo(T.numpy).min, np.iinfo(T.numpy).max, 0, 1]
    values[: len(ends)] = np.roll(np.array(ends, T.numpy), seed)
    return values


def wrapped(numbers, T):
    mask = (1 << 8 * T.nbytes) - 1
    return np.array([n & mask for n in numbers], T.bits).view(T.numpy)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("instruction", [*INTEGER_ARITHMETIC, *LOGIC, "relu"])
def test_arithmetic_is_that_of_python_integers(instruction, name):
    T, stem = dtypes.dtype(name), instruction.removesuffix("s")
    if instruction == "relu" and T.kind == "uint":
        assert f"relu_{name}" not in vexec.NAMES
        return
    a, b = operands(T), operands(T, seed=1)
    body = f"{instruction}_{name}"
    if instruction in ("not", "relu"):
        want = wrapped(map(ORACLE[stem], a.tolist()), T)
        assert_same_bits(fresh(body, T.numpy, a.size, a), want, a)
    elif stem in ("shiftleft", "shiftright"):
        for distance in (0, 1, 7, 8 * T.nbytes - 1, 8 * T.nbytes, 64):
            want = wrapped((ORACLE[stem](x, distance) for x in a.tolist()), T)
            assert_same_bits(fresh(body, T.numpy, a.size, a, scalar=distance), want, a)
    elif instruction != stem:
        for scalar in a[:6].tolist():
            want = wrapped((ORACLE[stem](x, scalar) for x in a.tolist()), T)
            assert_same_bits(fresh(body, T.numpy, a.size, a, scalar=scalar), want, a)
    else:
        want = wrapped(map(ORACLE[stem], a.tolist(), b.tolist()), T)
        assert_same_bits(fresh(body, T.numpy, a.size, a, b), want, a, b)


@pytest.mark.parametrize("name", ["int8", "uint8"])
@pytest.mark.parametrize("instruction", ["add", "sub", "mul", "max", "min"])
def test_every_pair_of_bytes(instruction, name):
    T = dtypes.dtype(name)
    every = np.arange(256, dtype=np.uint8).view(T.numpy)
    a, b = np.repeat(every, 256), np.tile(every, 256)
    want = wrapped(map(ORACLE[instruction], a.tolist(), b.tolist()), T)
    assert_same_bits(fresh(f"{instruction}_{name}", T.numpy, a.size, a, b), want, a, b)


@pytest.mark.parametrize("count", LENGTHS)
def test_lengths(count):
    a = random_bits(np.int16, count, 3)
    assert_same_bits(fresh("adds_int16", np.int16, count, a, scalar=-5), a + np.int16(-5), a)


@pytest.mark.parametrize("name", INTEGERS)
def test_compare(name):
    T = dtypes.dtype(name)
    a, b = operands(T, 256), operands(T, 256, seed=2)
    b[::3] = a[::3]
    for mode in CMPMODE:
        compare = getattr(operator, mode.name.lower())
        for other, body in ((b, "compare"), (np.full_like(a, a[5]), "compares")):
            want = np.packbits([compare(x, y) for x, y in zip(a, other, strict=True)])
            want = np.packbits(np.unpackbits(want), bitorder="little")
            more = (b,) if body == "compare" else ()
            scalar = 0.0 if more else float(a[5])
            got = fresh(f"{body}_{name}", "u1", 32, a, *more, lanes=256, mode=mode, scalar=scalar)
            assert_same_bits(got, want, a, other)


def exact_integer(value, T, mode, cut):
    """Return what a cast to an integer type gives, by fractions."""
    low, high = np.iinfo(T.numpy).min, np.iinfo(T.numpy).max
    if value.kind == "nan":
        return 0
    if value.kind == "inf":
        return low if value.negative else high
    whole = _round(value.magnitude, 0, value.negative, mode) * (-1 if value.negative else 1)
    return whole if cut else min(max(whole, int(low)), int(high))


@pytest.mark.parametrize("source", TO_INTEGER)
def test_floats_to_integers(source):
    fmt, F = FORMATS[source], dtypes.dtype(source)
    src = random_bits(F.numpy, 500, 5)
    with np.errstate(all="ignore"):
        near = np.array([0.5, 1.5, 2.5, 126.5, 127.5, 255.5, 32767.5, 65535.5, 2147483648, 2.0**63])
        near = np.concatenate([near, np.nextafter(near, 0), [np.inf, np.nan, 0, 1e38]])
        src[: 2 * near.size] = np.concatenate([near, -near]).astype(F.numpy)
        src[100:400] = (np.random.default_rng(1).standard_normal(300) * 300).astype(F.numpy)
    exact = [decode(int(bits), fmt) for bits in src.view(F.bits)]
    for target in TO_INTEGER[source]:
        T = dtypes.dtype(target)
        for mode in MODES:
            for env in (0, ENV_TRUNCATE):
                want = wrapped((exact_integer(v, T, mode, bool(env)) for v in exact), T)
                assert_same_bits(cast(src, T, mode, env=env), want, src)
                body = f"cast_{source}_{target}"
                got = fresh(body, T.numpy, src.size, src, mode=mode, env=env)
                assert_same_bits(got, want, src)


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_every_16_bit_float_to_integers(source):
    src = np.arange(65536, dtype=np.uint16).view(dtypes.dtype(source).numpy)
    for target in TO_INTEGER[source]:
        T = dtypes.dtype(target)
        body = f"cast_{source}_{target}"
        for mode, env in [*((mode, 0) for mode in MODES), (RoundMode.CAST_FLOOR, ENV_TRUNCATE)]:
            got = fresh(body, T.numpy, src.size, src, mode=mode, env=env)
            assert_same_bits(got, cast(src, T, mode, env=env), src)


@pytest.mark.parametrize(
    ("target", "source"), [(t, s) for t in FROM_INTEGER for s in FROM_INTEGER[t]]
)
def test_integers_to_floats(source, target):
    S, T, fmt = dtypes.dtype(source), dtypes.dtype(target), FORMATS[target]
    src = operands(S, 3000, seed=7)
    if S.nbytes == 2:
        src = np.arange(65536, dtype=np.uint16).view(np.int16)
    elif S.nbytes > 2:  # around every tie of some binades
        ties = [
            (1 << 24 + k) + (2 * j + 1 << k) + d
            for k in range(7)
            for j in (0, 1)
            for d in (-1, 0, 1)
        ]
        src[100 : 100 + len(ties)], src[200 : 200 + len(ties)] = ties, np.negative(ties)
    for mode in MODES:
        for env in (0, ENV_SATURATE | ENV_NAN_ONES):
            got = fresh(f"cast_{source}_{target}", T.numpy, src.size, src, mode=mode, env=env)
            assert_same_bits(got, cast(src, T, mode, env=env), src)
        some = np.concatenate([src[:400], src[-200:]])
        want = [round_to(Value.of(int(x)), fmt, mode) for x in some]
        assert_same_bits(cast(some, T, mode), np.array(want, T.bits).view(T.numpy), some)


@pytest.mark.parametrize("source", BETWEEN_INTEGERS)
def test_integers_to_integers(source):
    S = dtypes.dtype(source)
    src = (
        operands(S, 3000)
        if S.nbytes > 2
        else np.arange(65536, dtype=np.uint16)[: 1 << 8 * S.nbytes]
    )
    src = src.astype(S.bits).view(S.numpy)
    for target in BETWEEN_INTEGERS[source]:
        T = dtypes.dtype(target)
        low, high = int(np.iinfo(T.numpy).min), int(np.iinfo(T.numpy).max)
        for env in (0, ENV_TRUNCATE):
            cut = env and T.nbytes < S.nbytes
            want = wrapped((x if cut else min(max(x, low), high) for x in src.tolist()), T)
            assert_same_bits(cast(src, T, RoundMode.CAST_NONE, env=env), want, src)
            got = fresh(f"cast_{source}_{target}", T.numpy, src.size, src, env=env)
            assert_same_bits(got, want, src)


def test_dequantized():
    src = operands(dtypes.int32, 2000)
    src[1000:] //= 1 << 12
    for scale in (1.0, 0.5, float(np.float16(0.1)), -3.0):
        with np.errstate(all="ignore"):
            single = src.astype(np.float32).astype(np.float64) * scale
            want = single.astype(np.float32).astype(np.float16)
        assert_same_bits(cast_int.dequantized(src, dtypes.float16, scale), want, src)
        got = fresh("cast_int32_float16", np.float16, src.size, src, scalar=scale)
        assert_same_bits(got, want, src)
