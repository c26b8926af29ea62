"""Calls with whatever comes: a code and a reason, never an exception, never a foreign byte."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ascendsim.host import acl, aclnn
from tests.host.calls import T, Tensor, download, start, upload

JUNK = (
    None,
    0,
    -1,
    1,
    2,
    7,
    1 << 40,
    1 << 63,
    1 << 64,
    -(1 << 70),
    1.5,
    float("nan"),
    True,
    "text",
    b"bytes",
    (),
    [1, 2],
    {},
    {1},
    object(),
    np.zeros(3),
    np.float32(2),
    np.int64(3),
    1j,
    10**400,
    int,
)
RUNTIME_CALLS = [
    (acl.rt.malloc, 2),
    (acl.rt.free, 1),
    (acl.rt.memcpy, 5),
    (acl.rt.memcpy_async, 6),
    (acl.rt.memset, 4),
    (acl.rt.malloc_host, 1),
    (acl.rt.free_host, 1),
    (acl.rt.synchronize_stream, 1),
    (acl.rt.destroy_stream, 1),
    (acl.rt.set_device, 1),
    (acl.rt.create_context, 1),
    (acl.rt.set_context, 1),
    (acl.rt.destroy_context, 1),
    (acl.rt.get_mem_info, 1),
    (acl.init, 1),
]
POINTER_CALLS = [
    (acl.util.numpy_to_ptr, 1),
    (acl.util.bytes_to_ptr, 1),
    (acl.util.ptr_to_bytes, 2),
    (acl.util.ptr_to_numpy, 3),
]


def code_of(answer):
    code = answer[-1] if isinstance(answer, tuple) else answer
    assert isinstance(code, int)
    assert code == 0 or str(code) in acl.get_recent_err_msg()
    return code


def test_runtime_calls_with_junk():
    start("ascend910b1")
    secret = upload(np.arange(64, dtype=np.uint8))
    chance = random.Random(1)
    for _ in range(4000):
        call, count = chance.choice(RUNTIME_CALLS)
        code_of(call(*(chance.choice(JUNK) for _ in range(count))))
        call, count = chance.choice(POINTER_CALLS)
        call(*(chance.choice(JUNK) for _ in range(count)))
    assert download(secret, np.zeros(64, np.uint8)).tolist() == list(range(64))


CALLS = ("HardsigmoidBackward", "HardswishBackward", "SwishBackward")


def test_two_phase_calls_with_junk():
    stream = start("ascend910b1")
    secret = upload(np.arange(64, dtype=np.uint8))
    memory = upload(np.zeros(4096, np.uint8))
    chance = random.Random(2)
    numbers = (0, 1, 2, 3, 8, -1, 1 << 31, 1 << 62, 1 << 63, 1 << 64)
    good = Tensor(T((2, 2)), 0).handle
    codes = set()
    for _ in range(1500):
        rank = chance.randrange(4)
        dims = [chance.choice(numbers) for _ in range(rank)]
        strides = chance.choice([None, [chance.choice(numbers) for _ in range(rank)]])
        storage = chance.choice([None, [chance.choice(numbers)], (1024,)])
        address = chance.choice([memory, memory + 4, memory + 4000, memory + 4096, 0, -5])
        offset = chance.choice(numbers)
        made = aclnn.aclCreateTensor(dims, 0, strides, offset, 2, storage, address)
        pool = (made, good, *JUNK)
        scalar = aclnn.aclCreateScalar(chance.choice(JUNK), chance.choice((0, 1, 3, 11, 12, 16)))
        name = chance.choice(CALLS)
        given = [made if chance.random() < 0.8 else chance.choice(pool) for _ in range(3)]
        if chance.random() < 0.1:
            given[2] = good
        if name == "SwishBackward":
            given.insert(2, chance.choice((scalar, None, *JUNK)))
        first = getattr(aclnn, f"aclnn{name}GetWorkspaceSize")
        second = getattr(aclnn, f"aclnn{name}")
        status, size, executor = first(*given)
        codes.add(code_of(status))
        assert (executor is None) == (status != 0)
        arguments = (memory + 2048, size, executor or good, stream)
        bad = [chance.choice(JUNK) if chance.random() < 0.2 else each for each in arguments]
        codes.add(code_of(second(*bad)))
        codes.add(code_of(acl.rt.synchronize_stream(stream)))
        destroy(made, scalar, chance.choice(JUNK))
    assert codes <= {0, 161001, 161002, 361001}
    assert len(codes) == 4
    assert download(secret, np.zeros(64, np.uint8)).tolist() == list(range(64))


def destroy(tensor, scalar, junk):
    for handle, end in ((tensor, aclnn.aclDestroyTensor), (scalar, aclnn.aclDestroyScalar)):
        if handle is not None:
            assert end(handle) == 0
    for end in (aclnn.aclDestroyTensor, aclnn.aclDestroyScalar, aclnn.aclDestroyAclOpExecutor):
        code_of(end(junk))


def test_objects_are_not_moved_as_bytes():
    start("ascend910b1")
    assert acl.util.numpy_to_ptr(np.array([object()])) == 0
    pinned, _ = acl.rt.malloc_host(16)
    for kind in (object, "O", "no such type", 99, [("a", "O")]):
        assert acl.util.ptr_to_numpy(pinned, (1,), kind) is None
    assert acl.util.ptr_to_numpy(pinned, (2,), np.float64).shape == (2,)


@pytest.mark.parametrize("size", [1, 4, 100, 4095])
def test_nothing_is_read_or_written_beside_an_allocation(size):
    """Neighbours keep their bytes, and no byte of theirs comes out."""
    stream = start("ascend910b1")
    count = size // 4 or 1
    before = upload(np.full(512, 0xAA, np.uint8))
    x = upload(np.ones(count, np.float32))
    behind = upload(np.full(512, 0xBB, np.uint8))
    grad, out = upload(np.ones(count, np.float32)), upload(np.zeros(count, np.float32))
    handles = [
        aclnn.aclCreateTensor((count,), 0, None, 0, 2, None, each) for each in (grad, x, out)
    ]
    for name, beta in (("SwishBackward", [None]), ("HardswishBackward", [])):
        first = getattr(aclnn, f"aclnn{name}GetWorkspaceSize")
        status, _, executor = first(*handles[:2], *beta, handles[2])
        assert status == 0
        assert getattr(aclnn, f"aclnn{name}")(0, 0, executor, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        result = download(out, np.zeros(count, np.float32))
        assert len(set(result.tolist())) == 1
    for address, byte in ((before, 0xAA), (behind, 0xBB)):
        assert set(download(address, np.zeros(512, np.uint8)).tolist()) == {byte}
