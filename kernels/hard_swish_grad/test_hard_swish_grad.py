from fractions import Fraction
from math import inf, isnan, nan

import ml_dtypes
import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import ShapeError, TilingError
from kernels.hard_swish_grad import demo, hardswish_backward
from kernels.hard_swish_grad.op_ref import definition, naive

RNG = np.random.default_rng(0)
OP = asim.load("hard_swish_grad")


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


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("ub", [5408, 8480])
def test_tiles_and_blocks_change_no_bit(dtype, ub):
    grad, x = (4 * RNG.standard_normal((2, 2011))).astype(dtype)
    til = OP.tiling(x.shape, x.dtype, ub=ub, cores=3)
    got = asim.launch(OP, {"grad": grad, "x": x}, til)
    assert (til.block_dim, got.warnings) == (3, [])
    assert got.out.tobytes() == hardswish_backward(grad, x).tobytes()


@pytest.mark.parametrize(("dtype", "step"), [(np.float16, 1 / 1024), (ml_dtypes.bfloat16, 1 / 128)])
def test_ties_go_to_even(dtype, step):
    grad, x = np.array([1 + 3 * step, -1 - 3 * step], dtype), np.full(2, 0.75, dtype)
    want = 0.75 + 2 * step  # the slope at 0.75 is 0.75, the product 4.5 halves of a step above it
    assert hardswish_backward(grad, x).tolist() == [want, -want]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_barriers(dtype):
    """Without the compiler's barriers one is missing, between Muls and Adds, and no other."""
    x = np.ones(500, dtype)
    til, options = OP.tiling(x.shape, x.dtype, ub=5408, cores=2), asim.Options(auto_sync="off")
    checks = ("racecheck", "synccheck")
    run = asim.launch(OP, {"grad": x, "x": x}, til, checks=checks, options=options)
    found = [(each.code, each.partner.split()[0], each.instruction) for each in run.findings]
    assert found == [("racecheck:raw-intra-pipe", "Muls", "Adds")]


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
