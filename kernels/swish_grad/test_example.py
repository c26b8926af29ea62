from fractions import Fraction

import numpy as np

from kernels.swish_grad import example
from kernels.swish_grad.op_ref import definition


def test_example():
    out = example.main()
    beta = Fraction(float(np.float32(1.1)))
    for value, x in zip(out.ravel(), range(1, 7), strict=True):
        low, _ = definition(Fraction(1), Fraction(x), float(beta))
        near = np.float32(float(low))
        assert abs(int(value.view(np.int32)) - int(near.view(np.int32))) <= 2
