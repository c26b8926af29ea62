"""A block number answers like a plain integer, and remembers what it was asked."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendsim.isa.symbolic import BlockNumber, holds

BLOCKS = st.integers(0, 63)
NUMBERS = st.integers(-40, 40)
BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
    operator.truediv,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    min,
    max,
]


def plain(value):
    return value.value if isinstance(value, BlockNumber) else value


@given(BLOCKS, NUMBERS, st.sampled_from(BINARY), st.booleans())
def test_answers_are_those_of_the_integer(block, other, operation, swapped):
    number = BlockNumber(block, [])
    left, right = (other, number) if swapped else (number, other)
    try:
        want = operation(plain(left), plain(right))
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            operation(left, right)
        return
    assert plain(operation(left, right)) == want


@given(BLOCKS, BLOCKS, st.lists(st.tuples(st.sampled_from(BINARY[3:]), NUMBERS), max_size=4))
def test_blocks_that_hold_the_path_answer_alike(block, other, questions):
    """Whoever holds the path gets the same plain answers, so takes the same way."""

    def way(number):
        answers = []
        for operation, value in questions:
            try:
                answers.append(operation(3 * number + 1, value))
            except ZeroDivisionError:
                answers.append("zero")
        return [a if not isinstance(a, BlockNumber) else "linear" for a in answers]

    path = []
    mine = way(BlockNumber(block, path))
    if holds(path, other):
        assert way(BlockNumber(other, [])) == mine
    assert holds(path, block)


@pytest.mark.parametrize(
    "use",
    [
        lambda b: b + 0.5,
        lambda b: 0.5 + b,
        lambda b: b - 0.5,
        lambda b: 0.5 - b,
        lambda b: b / 2.0,
        lambda b: b // 2.0,
        lambda b: 2.0 / (b + 1),
        lambda b: b % 2.0,
        lambda b: b**0.5,
        lambda b: b.bit_length(),
        lambda b: b.real,
        lambda b: f"{b:04d}",
        lambda b: str(b),
        lambda b: hash(b),
        lambda b: list(range(b)),
        lambda b: [10, 20, 30, 40, 50, 60][b],
        lambda b: np.int64(3) + int(b),
        lambda b: float(b),
        lambda b: round(b),
        lambda b: divmod(b, 3),
        lambda b: b << 2,
        lambda b: b & 6,
        lambda b: ~b,
        lambda b: abs(b),
    ],
)
def test_what_is_not_linear_pins_the_block(use):
    path = []
    assert use(BlockNumber(5, path)) == use(5)
    assert holds(path, 5)
    assert not holds(path, 4)


def test_a_residue_leaves_blocks_of_equal_alignment():
    path = []
    start = BlockNumber(1, path) * 5
    assert start.residue(4, 32) == 5
    assert [b for b in range(20) if holds(path, b)] == [1, 9, 17]
