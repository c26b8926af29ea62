"""Every cast against `plain.py`: all sources of 8 and 16 bits, edges of wider ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ascendsim import soc as socs
from ascendsim.ascendc import *
from ascendsim.dtypes import BY_NAME
from tests.helpers import assert_same_bits
from tests.isa import plain
from tests.kit import EVERY_SOC, Ub, peek, put, run_block

MODES = dict(zip("NRFCAZO", RoundMode, strict=True))
STEP = 16384
INF_NAN = {"overflow": "inf_nan", "int_overflow": "clamp", "nan": "ones"}
SATURATED = {"overflow": "saturate", "int_overflow": "truncate", "nan": "qnan"}


def floats():
    """Patterns of float32: random ones, halves and what lies around and between them, ties."""
    rng = np.random.default_rng(3)
    spread = np.arange(0, 1 << 32, 1 << 23, dtype=np.int64)
    near = [((spread + d) % (1 << 32)).astype(np.uint32) for d in range(-3, 4)]
    halves = np.arange(0, 65536, 13).astype(np.uint16).view(np.float16).astype(np.float32)
    ties = [halves.view(np.uint32) + d for d in (0, 0x1000, 0xFFF, 0x1001)]
    powers = np.float32(2.0) ** np.arange(-149, 128)
    steps = np.concatenate([np.arange(-300, 300, 0.25), np.arange(-70000, 70000, 37.5)])
    numbers = np.concatenate([steps, powers, -powers, powers * np.float32(1.0000001)])
    words = numbers.astype(np.float32).view(np.uint32)
    return np.concatenate([rng.integers(0, 1 << 32, 5000, np.uint32), *near, *ties, words])


def sources(T):
    if T.nbytes <= 2:
        return np.arange(1 << 8 * T.nbytes).astype(T.bits)
    if T.kind == "float":
        return floats()
    bits = 8 * T.nbytes
    ends = [
        (s * (1 << k) + d) % (1 << bits)
        for k in range(bits + 1)
        for d in range(-2, 3)
        for s in (1, -1)
    ]
    small = np.arange(-3000, 3000).astype(np.int64).astype(T.bits)
    random = np.random.default_rng(4).integers(0, 1 << bits, 5000, np.uint64).astype(T.bits)
    return np.concatenate([random, np.array(ends, np.uint64).astype(T.bits), small])


def from_integer(number, mode):
    """Round an integer to float32 as a float64 number, with exact arithmetic."""
    size = abs(number)
    shift = max(size.bit_length() - 24, 0)
    low, rest = size >> shift, Fraction(size & (1 << shift) - 1, 1 << shift)
    up = {
        "R": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low & 1),
        "A": rest >= Fraction(1, 2),
        "F": rest > 0 and number < 0,
        "C": rest > 0 and number > 0,
        "Z": False,
    }[mode]  # fmt: skip
    return float((low + bool(up)) << shift) * (-1 if number < 0 else 1)


def expected(words, source, target, mode, options):
    """Return the patterns of a cast."""
    truncate, nan = options["int_overflow"] == "truncate", plain.ONES
    if options["nan"] == "qnan":
        nan = plain.QUIET
    saturate = options["overflow"] == "saturate" and target.nbytes == 2
    if source.kind != "float" and target.kind != "float":
        return between_integers(words.view(source.numpy).tolist(), source, target, truncate)
    if source.kind != "float":
        numbers = words.view(source.numpy)
        if source.nbytes == 8:
            numbers = np.array([from_integer(int(n), mode) for n in numbers])
        return plain.to_float(numbers.astype(np.float64), target.name, mode, saturate, nan)
    x = plain.decoded(words, source.name)
    if target.kind != "float":
        signed = target.kind == "int"
        return plain.to_integer(x, 8 * target.nbytes, signed, mode, truncate).astype(target.bits)
    if target is source:
        with np.errstate(all="ignore"):
            return plain.to_float(np.copysign(plain.whole(x, mode), x), target.name, nan=nan)
    return plain.to_float(x, target.name, mode, saturate, nan)


def between_integers(numbers, source, target, truncate):
    bits, signed = 8 * target.nbytes, target.kind == "int"
    if target.nbytes < source.nbytes:
        numbers = [plain.narrowed(n, bits, signed, truncate) for n in numbers]
    elif not signed:
        numbers = [max(n, 0) for n in numbers]
    return np.array([n % (1 << bits) for n in numbers], np.uint64).astype(target.bits)


def check(soc, options):
    for pair, letters in socs.load(soc).ops["Cast"].pairs.items():
        if pair == "int32->float16":  # takes its scale from SetDeqScale
            continue
        source, target = (BY_NAME[name] for name in pair.split("->"))
        words = sources(source)
        for letter in letters:
            got = cast_all(words, source, target, MODES[letter], soc, options)
            assert_same_bits(got, expected(words, source, target, letter, options), words)


def cast_all(words, source, target, mode, soc, options):
    found = []

    def body():
        u = Ub(a=(source, STEP), b=(target, STEP))
        for first in range(0, words.size, STEP):
            part = words[first : first + STEP]
            put(u["a"], part)
            Cast(u["b"], u["a"], mode, part.size)
            found.append(peek(u["b"]).view(target.bits)[: part.size])

    run_block(body, soc=soc, options=options, observe=False)
    return np.concatenate(found)


@pytest.mark.parametrize("soc", ["ascend950", "ascend310p"])
def test_casts(soc):
    check(soc, INF_NAN if soc == "ascend950" else SATURATED)


@pytest.mark.slow
@pytest.mark.parametrize("options", [INF_NAN, SATURATED])
@pytest.mark.parametrize("soc", EVERY_SOC)
def test_casts_under_every_option(soc, options):
    check(soc, options)


def test_the_scalar_casts_of_the_manual():
    """v190 to v197 of the contract: 1.5 and 2.5 to int32."""
    want = {"ROUND": (2, 3), "CEIL": (2, 3), "FLOOR": (1, 2), "RINT": (2, 2)}

    def body():
        for name, numbers in want.items():
            mode = RoundMode[f"CAST_{name}"]
            assert tuple(ScalarCast(float32, int32, mode, x) for x in (1.5, 2.5)) == numbers

    run_block(body, soc="ascend950")
