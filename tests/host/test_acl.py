"""The ACL runtime: codes and reasons instead of crashes, streams in order, nothing lost."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from ascendsim.errors import AscendError
from ascendsim.host import acl
from ascendsim.host.acl.device import Task
from ascendsim.host.acl.runtime import RUNTIME

TO_DEVICE, TO_HOST = acl.ACL_MEMCPY_HOST_TO_DEVICE, acl.ACL_MEMCPY_DEVICE_TO_HOST
ON_DEVICE, ON_HOST = acl.ACL_MEMCPY_DEVICE_TO_DEVICE, acl.ACL_MEMCPY_HOST_TO_HOST
BAD, UNINITIALIZED = acl.ACL_ERROR_RT_PARAM_INVALID, acl.ACL_ERROR_UNINITIALIZE


@pytest.fixture
def device():
    assert (acl.init(), acl.rt.set_device(0)) == (0, 0)


def pointer(array):
    found = acl.util.numpy_to_ptr(array)
    assert found
    return found


def malloc(size):
    found, code = acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert code == 0, acl.get_recent_err_msg()
    return found


def reason(code, want, *words):
    assert code == want, acl.get_recent_err_msg()
    for word in (str(want), *words):
        assert word in acl.get_recent_err_msg()


def test_there_and_back(device):
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    first, second = malloc(32), malloc(32)
    assert first % 512 == second % 512 == 0
    assert acl.rt.memcpy(first, 32, pointer(x), 32, TO_DEVICE) == 0
    assert acl.rt.memcpy(second, 32, first, 32, ON_DEVICE) == 0
    assert acl.rt.memcpy(pointer(y), 32, second, 32, TO_HOST) == 0
    assert y.tobytes() == x.tobytes()
    assert acl.rt.memcpy(pointer(y), 16, pointer(x) + 16, 16, ON_HOST) == 0
    assert y.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]
    assert acl.rt.memset(first, 32, 0xFF, 16) == 0
    assert acl.rt.memcpy(pointer(y), 32, first, 32, TO_HOST) == 0
    assert y.view(np.uint32)[3] == 0xFFFFFFFF
    assert y[4] == 4
    assert (acl.rt.free(first), acl.rt.free(second)) == (0, 0)
    assert acl.rt.get_mem_info(acl.ACL_HBM_MEM)[0] == acl.rt.get_mem_info()[1]


def test_memory_is_not_zero_before_it_is_written(device):
    y = np.zeros(2, np.uint32)
    assert acl.rt.memcpy(pointer(y), 8, malloc(8), 8, TO_HOST) == 0
    assert y.tolist() == [0xDEADBEEF, 0xDEADBEEF]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (acl.rt.set_device, (0,)),
        (acl.rt.malloc, (8, 0)),
        (acl.rt.free, (1,)),
        (acl.rt.memcpy, (1, 8, 2, 8, 1)),
        (acl.rt.create_stream, ()),
        (acl.rt.synchronize_stream, (1,)),
        (acl.rt.synchronize_device, ()),
        (acl.rt.reset_device, (0,)),
        (acl.rt.get_mem_info, (1,)),
        (acl.finalize, ()),
    ],
)
def test_before_init(call, arguments):
    answer = call(*arguments)
    code = answer[-1] if isinstance(answer, tuple) else answer
    reason(code, UNINITIALIZED, "acl.init")


def test_order_of_life():
    assert acl.init() == 0
    reason(acl.init(), acl.ACL_ERROR_REPEAT_INITIALIZE, "once")
    reason(acl.rt.malloc(8, 0)[1], acl.ACL_ERROR_RT_CONTEXT_NULL, "set_device")
    reason(acl.rt.set_device(1), acl.ACL_ERROR_RT_INVALID_DEVICEID, "device 1")
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_device() == (0, 0)
    assert acl.rt.get_run_mode() == (acl.ACL_HOST, 0)
    context, code = acl.rt.create_context(0)
    assert (code, acl.rt.set_context(context), acl.rt.get_context()) == (0, 0, (context, 0))
    assert acl.rt.destroy_context(context) == 0
    reason(acl.rt.set_context(context), acl.ACL_ERROR_RT_CONTEXT_NULL, "destroyed")
    assert acl.rt.reset_device(0) == 0
    reason(acl.rt.reset_device(0), acl.ACL_ERROR_RT_CONTEXT_NULL, "set_device")
    assert acl.finalize() == 0
    reason(acl.init("acl.json"), acl.ACL_ERROR_INVALID_PARAM, "simulate")
    assert acl.init() == 0


def test_the_chip_is_chosen_before_init():
    acl.simulate("ascend950")
    assert (acl.get_soc_name(), acl.init()) == ("ascend950", 0)
    with pytest.raises(AscendError, match="before"):
        acl.simulate("ascend910")
    acl.finalize()
    acl.simulate("ascend910b1")


def test_use_after_free_and_double_free(device):
    host, first, other = np.zeros(8, np.uint8), malloc(8), malloc(8)
    assert acl.rt.free(first) == 0
    reason(acl.rt.free(first), BAD, "freed before")
    reason(acl.rt.memcpy(pointer(host), 8, first, 8, TO_HOST), BAD, "was freed by acl.rt.free")
    assert malloc(8) != first
    reason(acl.rt.free(other + 4), BAD, "it lies inside allocation")
    acl.rt.reset_device(0)
    acl.rt.set_device(0)
    reason(acl.rt.memcpy(other, 8, pointer(host), 8, TO_DEVICE), BAD, "reset_device")


@pytest.mark.parametrize(
    ("shift", "count", "word"),
    [
        (0, 17, "past the end"),
        (8, 9, "past the end"),
        (16, 1, "past the end"),
        (100, 1, "past the end"),
        (1 << 40, 1, "no device memory"),
        (-(1 << 40), 1, "no device memory"),
        (-1, 2, "no device memory"),
        (0, 1 << 70, "past the end"),
    ],
)
def test_past_an_allocation(device, shift, count, word):
    start = malloc(16)
    malloc(1000)
    host = np.zeros(64, np.uint8)
    code = acl.rt.memcpy(start + shift, count, pointer(host), count, TO_DEVICE)
    reason(code, BAD, word)
    assert not host.any()


@pytest.mark.parametrize(
    ("dest_max", "count", "kind", "word"),
    [
        (4, 8, TO_DEVICE, "holds 4"),
        (8, 0, TO_DEVICE, "0 < count"),
        (8, -1, TO_DEVICE, "0 < count"),
        (8, 8, 7, "kind 7"),
        (8, 8, TO_HOST, "host"),
        (8, 8, ON_DEVICE, "no device memory"),
        (8, "8", TO_DEVICE, "an integer is needed"),
        (8, 2.0, TO_DEVICE, "an integer is needed"),
        (8, 8, None, "host"),
    ],
)
def test_refused_copies(device, dest_max, count, kind, word):
    host = np.zeros(8, np.uint8)
    reason(acl.rt.memcpy(malloc(8), dest_max, pointer(host), count, kind), BAD, word)


def test_host_pointers_are_looked_up_and_never_followed_blindly(device):
    target = malloc(64)
    array = np.arange(8, dtype=np.uint8)
    address = pointer(array)
    for bad in (0, None, 1, 0xDEAD_BEEF, address - 1, address + 4, id(array)):
        reason(acl.rt.memcpy(target, 8, bad, 8, TO_DEVICE), BAD, "known host memory")
    assert acl.rt.memcpy(target, 8, address, 8, TO_DEVICE) == 0
    assert acl.rt.memcpy(target, 4, address + 4, 4, TO_DEVICE) == 0
    del array
    gc.collect()
    reason(acl.rt.memcpy(target, 8, address, 8, TO_DEVICE), BAD, "keep the array alive")
    growing = bytearray(8)
    address = acl.util.bytes_to_ptr(growing)
    growing.extend(bytes(1 << 20))
    if np.frombuffer(growing, np.uint8).ctypes.data != address:
        reason(acl.rt.memcpy(target, 8, address, 8, TO_DEVICE), BAD, "known host memory")
    assert acl.util.numpy_to_ptr(np.zeros((4, 4))[:, ::2]) == 0
    assert "ascontiguousarray" in acl.get_recent_err_msg()
    frozen = np.zeros(8, np.uint8)
    frozen.flags.writeable = False
    reason(acl.rt.memcpy(pointer(frozen), 8, target, 8, TO_HOST), BAD, "read-only")


def test_views_of_an_array_are_alive_as_long_as_it(device):
    base = np.arange(16, dtype=np.uint8)
    address = acl.util.numpy_to_ptr(base[4:8].reshape(2, 2))
    target = malloc(16)
    assert acl.rt.memcpy(target, 4, address, 4, TO_DEVICE) == 0
    reason(acl.rt.memcpy(target, 8, address, 8, TO_DEVICE), BAD, "known host memory")


def test_bytes_and_pinned_memory(device):
    target = malloc(16)
    assert acl.rt.memcpy(target, 16, acl.util.bytes_to_ptr(bytes(range(16))), 16, TO_DEVICE) == 0
    out = bytearray(16)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(out), 16, target, 16, TO_HOST) == 0
    assert out == bytes(range(16))
    fresh = bytes(16)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(fresh), 16, target, 16, TO_HOST) == 0
    assert np.frombuffer(fresh, np.uint8)[15] == 15
    reason(acl.rt.memcpy(acl.util.bytes_to_ptr(b"1"), 1, target, 1, TO_HOST), BAD, "read-only")
    assert acl.util.bytes_to_ptr(b"") == acl.util.bytes_to_ptr("text") == 0
    pinned, code = acl.rt.malloc_host(16)
    assert code == 0
    assert acl.rt.memcpy(pinned, 16, target, 16, TO_HOST) == 0
    assert acl.util.ptr_to_bytes(pinned + 1, 2) == b"\1\2"
    view = acl.util.ptr_to_numpy(pinned, (2, 2), 11)
    assert view.dtype == np.float32
    view[...] = 1.0
    assert acl.util.ptr_to_bytes(pinned, 4) == np.float32(1).tobytes()
    assert acl.util.ptr_to_numpy(pinned, (5,), 11) is None
    assert acl.util.ptr_to_numpy(pinned, (-1,), 11) is None
    assert acl.rt.free_host(pinned) == 0
    reason(acl.rt.free_host(pinned), BAD, "freed before")
    assert acl.util.ptr_to_bytes(pinned, 4) is None


@pytest.mark.parametrize("size", [0, -8, 1 << 62, 1 << 80, "8", None, 8.0, True])
def test_refused_sizes(device, size):
    pointer_, code = acl.rt.malloc(size, 0)
    assert pointer_ == 0
    assert code in (BAD, acl.ACL_ERROR_RT_MEMORY_ALLOCATION)
    assert acl.rt.malloc(8, 9)[1] == BAD


def test_a_stream_keeps_order_and_reports_what_failed(device):
    stream, code = acl.rt.create_stream()
    assert code == 0
    done = []

    def fail(text):
        raise AscendError(text)

    tasks = RUNTIME.streams[stream].tasks
    tasks.append(Task("one", lambda: done.append(1)))
    tasks.append(Task("two", lambda: fail("it broke")))
    tasks.append(Task("three", lambda: done.append(3)))
    tasks.append(Task("four", lambda: fail("again")))
    assert done == []
    reason(acl.rt.synchronize_stream(stream), 361001, "task 2 (two): it broke", "task 4 (four)")
    assert done == [1, 3]
    assert acl.rt.synchronize_stream(stream) == 0
    tasks.append(Task("five", lambda: fail("late")))
    reason(acl.rt.destroy_stream(stream), 361001, "task 5 (five): late")
    for call in (acl.rt.synchronize_stream, acl.rt.destroy_stream):
        reason(call(stream), acl.ACL_ERROR_RT_STREAM_CONTEXT, "does not exist")
        reason(call("stream"), acl.ACL_ERROR_RT_STREAM_CONTEXT, "does not exist")


def test_copies_of_a_stream_wait_for_it(device):
    stream, _ = acl.rt.create_stream()
    x, y = np.arange(8, dtype=np.uint8), np.zeros(8, np.uint8)
    memory = malloc(8)
    assert acl.rt.memcpy_async(memory, 8, pointer(x), 8, TO_DEVICE, stream) == 0
    assert acl.rt.memcpy_async(pointer(y), 8, memory, 8, TO_HOST, stream) == 0
    x[:] = 9  # too early: the copy is not done
    assert not y.any()
    assert acl.rt.synchronize_device() == 0
    assert y.tolist() == [9] * 8
    assert acl.rt.memcpy_async(pointer(y), 8, memory, 8, TO_HOST, stream) == 0
    acl.rt.free(memory)
    reason(acl.rt.synchronize_stream(stream), BAD, "task 3 (memcpy_async)", "freed")
    assert acl.rt.memcpy_async(memory, 8, memory, 8, ON_DEVICE, stream) == BAD
    assert acl.rt.memcpy_async(1, 8, 1, 8, ON_DEVICE, 999) == acl.ACL_ERROR_RT_STREAM_CONTEXT
