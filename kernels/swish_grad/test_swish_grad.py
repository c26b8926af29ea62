from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, isnan, nan

import ml_dtypes
import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import ShapeError
from kernels.swish_grad import demo, swish_backward
from kernels.swish_grad.op_ref import definition, exp_enclosure, naive

RNG = np.random.default_rng(0)
OP = asim.load("swish_grad")
ONE = Fraction(1)


@pytest.mark.parametrize("z", ["-0.001", "-0.7", "-20.5", "-16000"])
@pytest.mark.parametrize("bits", [20, 120])
def test_exponential_is_enclosed(z, bits):
    with localcontext(prec=80):
        exact = Fraction(Decimal(z).exp())
    low, high = exp_enclosure(Fraction(z), bits)
    slack = exact / 10**78
    assert low <= exact + slack
    assert exact - slack <= high
    assert high - low <= low / 2**bits


@pytest.mark.parametrize("x", ["-97", "-89", "-1.278464542761073795", "-1.2", "0.5", "3", "300"])
def test_definition_is_as_close_as_asked(x):
    with localcontext(prec=80):
        sigmoid = 1 / (1 + (-Decimal(x)).exp())
        exact = Fraction(sigmoid * (1 + Decimal(x) * (1 - sigmoid)))
    for bits in (30, 90):
        low, high = definition(ONE, Fraction(x), bits=bits)
        slack = Fraction(1, 10**75)
        assert low <= exact + slack
        assert exact - slack <= high
        assert high - low <= abs(low) / 2**bits


def test_definition_far_out_and_not_finite():
    low, high = definition(-ONE, Fraction(-(10**38)))
    assert low == 0 < high < Fraction(1, 2**16000)
    assert definition(ONE, Fraction(10**38))[0] == 1
    assert definition(ONE, Fraction(5), 0.0) == (Fraction(1, 2), Fraction(1, 2))
    assert definition(Fraction(2), inf) == (2, 2)
    assert definition(Fraction(2), inf, -1.0) == (0, 0)
    assert definition(inf, Fraction(-5)) == definition(inf, Fraction(-(10**38))) == (-inf, -inf)
    for arguments in ((nan, ONE), (ONE, nan), (inf, -inf), (ONE, ONE, nan)):
        assert isnan(definition(*arguments)[0])


def test_float16_is_the_rounded_definition_nearly_everywhere():
    x = np.linspace(-8, 8, 333).astype(np.float16)
    got = swish_backward(np.ones_like(x), x)
    low = [np.float16(float(definition(ONE, Fraction(float(v)))[0])) for v in x]
    assert np.count_nonzero(got != np.array(low)) <= 2


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("ub", [2272, 4448])
def test_tiles_and_blocks_change_no_bit(dtype, ub):
    grad, x = (4 * RNG.standard_normal((2, 2011))).astype(dtype)
    til = OP.tiling(x.shape, x.dtype, ub=ub, cores=3)
    got = asim.launch(OP, {"grad": grad, "x": x}, til)
    assert til.block_dim == 3
    assert got.out.tobytes() == swish_backward(grad, x).tobytes()


def test_ties_go_to_even():
    grad = np.array([5, 0x8005, 7], np.uint16).view(np.float16)  # subnormal; the slope is 0.5
    got = swish_backward(grad, np.zeros_like(grad))
    assert got.view(np.uint16).tolist() == [2, 0x8002, 4]


def test_any_rank_strides_and_empty():
    base = RNG.standard_normal((4, 6), np.float32)
    got = swish_backward(base[:, ::2], base[::-1, 1::2], beta=1.1)
    flat = swish_backward(base[:, ::2].ravel(), base[::-1, 1::2].ravel(), beta=1.1)
    assert got.shape == (4, 3)
    assert got.tobytes() == flat.tobytes()
    assert swish_backward(base[:0], base[:0]).shape == (0, 6)
    with pytest.raises(ShapeError, match="one shape"):
        swish_backward(base[:0], base)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_close_to_numpy(dtype):
    grad, x = (RNG.standard_normal(1000).astype(dtype) for _ in range(2))
    got, want = (
        a.view(np.int16).astype(int) for a in (swish_backward(grad, x), naive(np, grad, x))
    )
    assert np.abs(got - want).max() <= 1


def test_demo():
    rows = demo.example()
    assert [row["x"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert all(0.9 < row["out"] < 1.2 for row in rows)
    assert [isnan(row["out"]) for row in demo.edges()] == [False, False, True, True, False]
