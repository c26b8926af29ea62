from fractions import Fraction
from math import inf, isnan, nan

import ml_dtypes
import numpy as np
import pytest

from ascendsim.errors import ShapeError, TilingError
from kernels.hard_swish_grad import demo, hardswish_backward
from kernels.hard_swish_grad.op_ref import definition, naive

RNG = np.random.default_rng(0)


def test_definition_at_the_edges():
    two = Fraction(2)
    assert definition(two, Fraction(-3)) == definition(inf, -inf) == 0
    assert definition(two, Fraction(3)) == definition(two, inf) == 2
    assert definition(two, Fraction(1)) == Fraction(5, 3)
    assert definition(inf, Fraction(-2)) == -inf
    assert isnan(definition(two, nan))
    assert isnan(definition(inf, Fraction(-3, 2)))
    assert isnan(definition(nan, Fraction(1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_outside_the_slope_it_is_exact(dtype):
    grad, x = np.abs(RNG.standard_normal((2, 1000)).astype(dtype))
    x = np.where(RNG.random(1000) < 0.5, x + dtype(3), -x - dtype(3)).astype(dtype)
    assert hardswish_backward(grad, x).tobytes() == naive(np, grad, x).tobytes()


def test_slope_uses_a_rounded_third():
    x = np.float32([1.7])
    third = np.uint32(0x3EAAAAAB).view(np.float32)
    want = x * third + np.float32(0.5)
    assert hardswish_backward(np.ones_like(x), x).tobytes() == want.tobytes()


def test_refusals_and_empty():
    x = np.ones((7, 3), np.float32)
    with pytest.raises(TilingError, match="rank"):
        hardswish_backward(x, x.ravel())
    with pytest.raises(ShapeError, match="does not take"):
        hardswish_backward(x, x.astype(np.float16))
    assert hardswish_backward(x[:0], x[:0]).shape == (0, 3)


def test_demo():
    rows = demo.example()
    assert [row["out"] for row in rows[:2]] == [0, 0]
    assert rows[4]["out"] == 2.5
    assert [row["out"] for row in rows[-2:]] == [8, -9]
    edges = [row["out"] for row in demo.edges()]
    assert str(edges[0]) == "-0.0"
    assert isnan(edges[1])
    assert edges[2:] == [2, 0, 2]
