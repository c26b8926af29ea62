"""Enclosures, rounded once, are the oracle's results, for every kind of operand."""

from __future__ import annotations

import random

import pytest

from ascendsim.enums import RoundMode
from ascendsim.numerics import enclosure as en
from ascendsim.numerics import exact
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, round_to_integral

FORMATS = (FLOAT32, FLOAT16, BFLOAT16)
PAIRS = {
    "add": (en.add, exact.exact_add),
    "sub": (en.sub, exact.exact_sub),
    "mul": (en.mul, exact.exact_mul),
    "div": (en.div, exact.exact_div),
    "max": (en.maximum, exact.exact_max),
    "min": (en.minimum, exact.exact_min),
}
SINGLES = {
    "abs": (en.absolute, exact.exact_abs),
    "sqrt": (en.sqrt, exact.exact_sqrt),
    "exp": (en.exp, exact.exact_exp),
    "ln": (en.ln, exact.exact_ln),
}


def patterns(fmt, count):
    rng = random.Random(5)
    top = fmt.inf_bits
    edges = [0, 1, fmt.min_normal_bits, fmt.max_bits, top, top + 1, fmt.bias << fmt.mantissa_bits]
    edges += [bits | fmt.sign_bits for bits in edges]
    return edges + [rng.getrandbits(fmt.width) for _ in range(count)]


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", PAIRS)
def test_two_operands(name, fmt):
    rule, oracle = PAIRS[name]
    some = patterns(fmt, 16)
    for a in some:
        for b in some:
            got = en.round_result(rule(en.of_bits(a, fmt), en.of_bits(b, fmt)), fmt)
            assert got == oracle(a, b, fmt), (hex(a), hex(b))


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", SINGLES)
def test_one_operand(name, fmt):
    rule, oracle = SINGLES[name]
    for a in patterns(fmt, 40):
        assert en.round_result(rule(en.of_bits(a, fmt)), fmt) == oracle(a, fmt), hex(a)


@pytest.mark.parametrize("mode", list(RoundMode))
def test_whole_numbers(mode):
    for a in patterns(FLOAT32, 60):
        got = en.round_result(en.integral(en.of_bits(a, FLOAT32), mode), FLOAT32)
        assert got == round_to_integral(a, FLOAT32, mode), hex(a)
