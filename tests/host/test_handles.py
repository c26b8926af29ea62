"""aclTensor and aclScalar: what makes none, what a scalar holds, how they end."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.host import acl, aclnn
from tests.host.calls import T, Tensor, said, start

INVALID, FAILED = 161002, 361001


@pytest.fixture
def stream():
    return start("ascend910b1")


def test_what_makes_no_handle():
    create = aclnn.aclCreateTensor
    for bad in (
        create((2, -1), 0),
        create((2.5,), 0),
        create(4, 0),
        create((4,), 5),
        create((4,), "float32"),
        create((4,), 0, (1, 1)),
        create((4,), 0, "1"),
        create((4,), 0, None, 1.5),
        create((4,), 0, None, 0, 77),
        create((4,), 0, None, 0, 2, (-4,)),
        create((4,), 0, None, 0, 2, None, "address"),
        aclnn.aclCreateScalar("1.1", acl.ACL_FLOAT),
        aclnn.aclCreateScalar(1j, acl.ACL_FLOAT),
        aclnn.aclCreateScalar(256, acl.ACL_UINT8),
        aclnn.aclCreateScalar(1.5, acl.ACL_INT32),
        aclnn.aclCreateScalar(float("nan"), acl.ACL_INT32),
        aclnn.aclCreateScalar(1, acl.ACL_STRING),
    ):
        assert bad is None
        assert len(acl.get_recent_err_msg()) > 30


def test_scalars_end_once(stream):
    scalar = aclnn.aclCreateScalar(1.1, acl.ACL_FLOAT)
    tensors = [Tensor(T(), seed).handle for seed in range(3)]
    call = aclnn.aclnnSwishBackwardGetWorkspaceSize
    assert call(*tensors[:2], scalar, tensors[2])[0] == 0
    assert aclnn.aclDestroyScalar(scalar) == 0
    assert said(aclnn.aclDestroyScalar(scalar), FAILED, "destroyed")
    assert said(call(*tensors[:2], scalar, tensors[2])[0], FAILED, "betaOptional")
    assert said(call(*tensors[:2], 1.1, tensors[2])[0], INVALID, "no aclScalar")
    assert call(*tensors[:2], None, gradInput=tensors[2])[0] == 0


def test_an_integer_scalar_is_rounded_once(stream):
    tensors = [Tensor(T(), seed).handle for seed in range(3)]
    value = 2**54 + 2**30 + 1  # by way of fp64 it would become a tie, and 2^54
    scalar = aclnn.aclCreateScalar(value, acl.ACL_INT64)
    _, _, executor = aclnn.aclnnSwishBackwardGetWorkspaceSize(*tensors[:2], scalar, tensors[2])
    assert executor.graph.nodes[0].attrs["sconf"] == np.float32(2**54 + 2**31)
