from fractions import Fraction
from math import inf, isnan, nan

import ml_dtypes
import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError, ShapeError, TilingError
from kernels.hard_sigmoid_grad import demo, hardsigmoid_backward
from kernels.hard_sigmoid_grad.op_ref import definition, naive

RNG = np.random.default_rng(0)
OP = asim.load("hard_sigmoid_grad")


def test_definition_at_the_edges():
    one = Fraction(1)
    assert definition(one, Fraction(-3)) == definition(one, Fraction(3)) == 0
    assert definition(one, Fraction(float(np.float32(2.9999998)))) == Fraction(1, 6)
    leaking = Fraction(float(np.uint32(0x3E2AAAAA).view(np.float32)))
    assert definition(one, Fraction(-3), leaking, 0.5) == leaking
    assert definition(inf, Fraction(0)) == inf
    assert definition(-inf, Fraction(0), -1.0) == inf
    assert isnan(definition(nan, Fraction(0)))
    assert definition(nan, Fraction(4)) == definition(one, nan) == definition(one, -inf) == 0


def test_any_strides_and_rank():
    base = RNG.standard_normal((6, 8), np.float32)
    got = hardsigmoid_backward(base[::2, ::-1], base.T[:4, :3].T[:, ::1].repeat(2, 1))
    want = naive(np, base[::2, ::-1], base.T[:4, :3].T.repeat(2, 1))
    assert got.shape == (3, 8)
    assert got.tobytes() == want.tobytes()
    scalar = hardsigmoid_backward(np.float32(1.0), np.float32(0.5))
    assert scalar.shape == ()
    assert scalar == np.float32(1 / 6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_agrees_with_numpy(dtype):
    grad, x = (RNG.standard_normal(1000).astype(dtype) for _ in range(2))
    got, want = hardsigmoid_backward(grad, x), naive(np, grad, x)
    assert got.dtype == dtype
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("ub", [2272, 4448])
def test_tiles_and_blocks_change_no_bit(dtype, ub):
    grad, x = (4 * RNG.standard_normal((2, 2011))).astype(dtype)
    til = OP.tiling(x.shape, x.dtype, ub=ub, cores=3)
    got = asim.launch(OP, {"grad": grad, "x": x}, til)
    assert (til.block_dim, got.warnings) == (3, [])
    assert got.out.tobytes() == hardsigmoid_backward(grad, x).tobytes()


def test_tiling():
    til = OP.tiling((100_001,), "float16")
    assert (til.block_dim, til.fields["blockFactor"], til.fields["ubFactor"]) == (64, 1563, 9024)
    assert til.fields["alpha"].view(np.uint32) == 0x3E2AAAAB  # 0.16666666f is one less


@pytest.mark.parametrize(
    ("dtype", "grad", "rounded"),
    [
        (np.float16, 1 + 3 / 1024, 1.5 + 4 / 1024),  # to even
        (ml_dtypes.bfloat16, 1 + 3 / 128, 1.5 + 5 / 128),  # away from zero
    ],
)
def test_ties(dtype, grad, rounded):
    got = hardsigmoid_backward(np.array([grad, -grad], dtype), np.zeros(2, dtype), alpha=1.5)
    assert got.tolist() == [rounded, -rounded]


def test_refusals():
    x = np.ones(4, np.float32)
    with pytest.raises(ShapeError, match="one shape"):
        hardsigmoid_backward(x, x[:3])
    with pytest.raises(ShapeError, match="does not take"):
        hardsigmoid_backward(x, x.astype(np.float16))
    with pytest.raises(RequestError, match=r"does not take grad float64; .*bfloat16: .*\.astype\("):
        hardsigmoid_backward(x.astype(np.float64), x)
    with pytest.raises(RequestError, match="does not take grad object"):
        hardsigmoid_backward(None, None)
    swapped = x.astype(x.dtype.newbyteorder())
    assert hardsigmoid_backward(swapped, swapped).tobytes() == hardsigmoid_backward(x, x).tobytes()
    with pytest.raises(TilingError, match="not zero"):
        hardsigmoid_backward(x, x, alpha=0.0)


def test_demo():
    rows = demo.example()
    assert [row["out"] != 0 for row in rows] == [False, True, True] + 5 * [False]
    bits = [row["out_bits"] for row in demo.leak()]
    assert bits == ["0x00000000", "0x3e2aaaaa", "0x0000", "0x3155", "0x0000", "0x3e2b"]
