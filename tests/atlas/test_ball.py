"""Balls hold the exact number, and traced definitions give what exact arithmetic gives."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.explore.atlas.definition import definition_side
from ascendsim.explore.atlas.space import space_of
from ascendsim.explore.atlas.traced import traced
from ascendsim.numerics import ball, enclosure
from ascendsim.numerics.ball import Program
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Value, decode, round_to

FORMATS = (FLOAT32, FLOAT16, BFLOAT16)
KERNELS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
OPERATIONS = {
    ball.ADD: enclosure.add,
    ball.SUB: enclosure.sub,
    ball.MUL: enclosure.mul,
    ball.DIV: enclosure.div,
    ball.NEG: lambda x, _: enclosure.negated(x),
    ball.ABS: lambda x, _: enclosure.absolute(x),
    ball.SQRT: lambda x, _: enclosure.sqrt(x),
    ball.EXP: lambda x, _: enclosure.exp(x),
    ball.LN: lambda x, _: enclosure.ln(x),
}
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def answers(x: enclosure.Real, fmt) -> set[int]:
    """Return what both ends of an enclosure round to, zeros unsigned."""
    ends = (enclosure.Real(end, end) for end in (x.low, x.high))
    return {0 if b == fmt.sign_bits else b for b in (round_to(e.value(), fmt) for e in ends)}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(NUMBERS, min_size=2, max_size=2),
    st.lists(st.sampled_from(sorted(OPERATIONS)), min_size=1, max_size=5),
    st.sampled_from(FORMATS),
)
def test_what_is_sure_is_right(numbers, operations, fmt):
    """A chain of operations, each on the result so far and the second number."""
    code = [(op, 0 if k == 0 else 1 + k, 1, 0) for k, op in enumerate(operations)]
    program = Program(2, (), tuple(code), 1 + len(code))
    (bits,), (sure,) = program.evaluate([np.array([n]) for n in numbers], fmt)
    exact, second = (enclosure.real(Fraction(n)) for n in numbers)
    for operation in operations:
        exact = OPERATIONS[operation](exact, second)
    assert not sure or int(bits) in answers(exact, fmt)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_rounding_to_the_formats(fmt):
    """Midpoints, their neighbours, subnormals and the overflow threshold, from float64."""
    generator = np.random.default_rng(0)
    finite = generator.integers(0, fmt.inf_bits, 500).tolist()
    finite += [0, 1, 2, fmt.min_normal_bits - 1, fmt.min_normal_bits, fmt.max_bits]
    numbers = []
    for bits in finite:
        low = decode(bits, fmt).number
        step = low - decode(bits - 1, fmt).number if bits > 0 else decode(1, fmt).number
        middle = float(low + step / 2)
        numbers += [float(low), middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf)]
    numbers += [-n for n in numbers]
    bits, sure = Program(1, (), (), 0).evaluate([np.array(numbers)], fmt)
    wanted = [round_to(Value.of(Fraction(n)), fmt) if n else 0 for n in numbers]
    wanted = [0 if bits == fmt.sign_bits else bits for bits in wanted]
    assert sure.all()
    assert bits.tolist() == wanted


def test_ties_are_known_and_near_ties_are_not_guessed():
    third = traced(lambda x: x * Fraction(1, 3), [None])
    x = np.array([3 * (1 + 2.0**-24), 1 + 2.0**-24])
    bits, sure = third.evaluate([x], FLOAT32)  # the first is exactly the tie 1 + 2^-24
    assert sure.all()
    assert bits[0] == 0x3F800000
    rounded = traced(lambda x: (x + Fraction(1, 3)) - Fraction(1, 3), [None])
    assert not rounded.evaluate([np.array([1 + 2.0**-24])], FLOAT32)[1].any()


def test_branches_become_selects():
    def steps(x):
        if x < 0:
            return Fraction(-1)
        if x == 0 or x >= 2:
            return nan if x > 3 else inf
        return 1 / x if x <= 1 else x**2 - abs(-x)

    x = np.array([-5.0, -0.0, 0.5, 1.0, 1.5, 2.0, 3.5])
    bits, sure = traced(steps, [None]).evaluate([x], FLOAT32)
    assert sure.all()
    found = bits.view(np.float32).tolist()
    assert found[:6] == [-1, inf, 2, 1, 0.75, inf]
    assert np.isnan(found[6])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: Fraction(x.numerator, 3),
        lambda x: Fraction(round(x)),
        lambda x: Fraction(float(x)),
        lambda x: x % 1,
        lambda x: {x: 1}[x],
        lambda x: Fraction(str(x)),
        lambda x: x**x,
        lambda x: x + inf,
        lambda x: (x, x + 1),
        lambda x: 1 / 0,
    ],
)
def test_what_cannot_be_followed_has_no_program(function):
    assert traced(function, [None]) is None


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_programs_give_what_the_definitions_give(kernel, dtype):
    op = asim.load(kernel)
    for settings_ in ({}, {"grad": "-0.3"}):
        space = space_of(op, dtype, settings_)
        source = definition_side(op, {}, {}).open(space)
        assert source.program is not None
        generator = np.random.default_rng(1)
        indices = generator.integers(0, space.size, 150, np.uint64)
        near = (4 * generator.standard_normal(100)).astype(space.x.numpy).view(space.x.bits)
        indices = np.concatenate([indices, near.astype(np.uint64)])
        quick = source.at(indices).tolist()
        source.program = None
        source._known.clear()
        assert source.at(indices).tolist() == quick


def test_pairs_of_inputs():
    op = asim.load("add")
    space = space_of(
        op, "float16", {"x": "all"} if op.definition.sweep_input != "x" else {"y": "all"}
    )
    source = definition_side(op, {}, {}).open(space)
    indices = np.random.default_rng(0).integers(0, space.size, 400, np.uint64)
    quick = source.at(indices).tolist()
    source.program = None
    assert source.at(indices).tolist() == quick
