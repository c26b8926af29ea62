from fractions import Fraction

import numpy as np

from kernels.hard_sigmoid_grad import example, example_promotion
from kernels.hard_sigmoid_grad.op_ref import naive


def test_example():
    out = example.main()
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert out.tobytes() == naive(np, x, x).tobytes()
    # index 3 is zero as well: 3/6 + 0.5 is 1, which is not below 1
    assert [bool(value) for value in out.ravel()] == [False, True, True] + 5 * [False]
    assert out[0, 1] == np.float32(1 / 6)


def test_example_promotion(capsys):
    out = example_promotion.main()
    grad = Fraction(float(np.float16(6.1))) * Fraction(float(np.float32(1 / 6)))
    want = np.where(abs(np.arange(-4, 4)) < 3, float(grad), 0).astype(np.float32)
    assert out.ravel().tobytes() == want.tobytes()
    plan = capsys.readouterr().out
    assert "workspace 512" in plan
    assert "1 Cast             gradOutput -> %1 float32 4x2" in plan
