"""Output bits of the unmodified kernels and values of the published unit tests, by the calls."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import ShapeError, TilingError
from ascendsim.host import acl, aclnn
from tests.helpers import assert_same_bits
from tests.host.calls import NUMBER, download, first_phase, second_phase, start, upload
from tests.test_kernels_bits import DTYPES, IEEE, vectors

CALLS = {
    "hard_sigmoid_grad": ("HardsigmoidBackward", "ascend950"),
    "hard_swish_grad": ("HardswishBackward", "ascend910b1"),
    "swish_grad": ("SwishBackward", "ascend910b1"),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", CALLS)
def test_golden_bits(op, dtype):
    name, soc = CALLS[op]
    stream = start(soc, options=IEEE)
    grad, x, want = vectors(op, dtype)
    addresses = [upload(np.ascontiguousarray(each)) for each in (grad, x, np.zeros_like(want))]
    handles = [
        aclnn.aclCreateTensor(want.shape, NUMBER[dtype], tensorData=each) for each in addresses
    ]
    if op == "swish_grad":
        handles.insert(2, None)
    status, size, executor = first_phase(name, *handles)
    assert (status, size) == (0, 0), acl.get_recent_err_msg()
    assert second_phase(name, size, executor, stream) == 0
    assert_same_bits(download(addresses[2], want), want, grad, x)


def test_published_unit_test_of_hard_swish():
    op = asim.load("hard_swish_grad")
    for dtype, key in (("float16", 0), ("float32", 1), ("bfloat16", 2)):
        til = op.tiling((7, 3), dtype, cores=64, ub=262144)
        assert (til.key, *til.fields.values()) == (key, 21, 1, 5440)
    with pytest.raises(TilingError):
        op.tiling({"grad": (7, 3), "x": (21,)}, "float32")
    with pytest.raises(ShapeError):
        op.tiling((7, 3), {"grad": "float32", "x": "float16"})
    with pytest.raises(ShapeError):
        op.tiling((7, 3), "int32")
