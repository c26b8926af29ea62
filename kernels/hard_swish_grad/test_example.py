from fractions import Fraction

import numpy as np

from kernels.hard_swish_grad import example
from kernels.hard_swish_grad.op_ref import definition


def test_example():
    out = example.main()
    grad = (1, 2, 3, -4, 5, -6, 7, 8, -9)
    exact = [definition(Fraction(g), Fraction(x)) for g, x in zip(grad, range(-4, 5), strict=True)]
    errors = [abs(Fraction(float(y)) - want) for y, want in zip(out, exact, strict=True)]
    assert max(errors) < Fraction(1, 10**5)
    assert out[[0, 1, 4, 7, 8]].tolist() == [0, 0, 2.5, 8, -9]
    slope = np.arange(-2, 3, dtype=np.float32) * np.float32(1 / 3) + np.float32(0.5)
    assert out[2:7].tobytes() == (np.float32(grad[2:7]) * slope).tobytes()
