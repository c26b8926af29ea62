"""The second phase and its executor: misuse and hostile values give a code and a reason."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.host import acl, aclnn
from ascendsim.host.aclnn.executor import aclDestroyAclOpExecutor
from tests.helpers import assert_same_bits
from tests.host import oracle
from tests.host.calls import T, Tensor, first_phase, said, start

NAME = "HardswishBackward"
NULL, INVALID, FAILED = 161001, 161002, 361001
GAPS = T((4, 2), strides=(5, 2))


@pytest.fixture
def stream():
    return start("ascend910b1")


def planned(spec=GAPS):
    tensors = [Tensor(spec, seed) for seed in range(3)]
    status, size, executor = first_phase(NAME, *(each.handle for each in tensors))
    assert status == 0, acl.get_recent_err_msg()
    return tensors, size, executor


def run(workspace, size, executor, stream):
    return aclnn.aclnnHardswishBackward(workspace, size, executor, stream)


def malloc(size):
    address, code = acl.rt.malloc(size, 0)
    assert code == 0
    return address


def wanted(tensors):
    grad, x, out = tensors
    want = out.before.copy()
    values = oracle.hard_swish(grad.view(grad.before), x.view(x.before), want.dtype)
    out.view(want)[...] = values
    return want


def test_it_runs_when_the_stream_is_synchronised(stream):
    tensors, size, executor = planned()
    assert size == 3 * 512
    assert run(malloc(size), size, executor, stream) == 0
    assert_same_bits(tensors[2].after(), tensors[2].before)
    assert acl.rt.synchronize_stream(stream) == 0
    assert_same_bits(tensors[2].after(), wanted(tensors))
    assert [node.op for node, _ in executor.runs] == [n.op for n in executor.graph.nodes]
    assert all(result.evidence["rules"] for _, result in executor.runs[2:3])


def test_an_executor_runs_once(stream):
    _, size, executor = planned()
    workspace = malloc(size)
    assert run(workspace, size, executor, stream) == 0
    assert said(run(workspace, size, executor, stream), FAILED, "used before")
    assert acl.rt.synchronize_stream(stream) == 0
    assert said(run(workspace, size, executor, stream), FAILED, "used before")
    _, size, executor = planned()
    assert aclDestroyAclOpExecutor(executor) == 0
    assert said(run(workspace, size, executor, stream), FAILED, "destroyed")
    assert said(aclDestroyAclOpExecutor(executor), FAILED, "destroyed")
    assert said(aclDestroyAclOpExecutor(None), NULL)
    assert said(aclDestroyAclOpExecutor("executor"), INVALID)


def test_nulls_and_strangers(stream):
    tensors, size, executor = planned()
    workspace = malloc(size)
    for null in (None, 0):
        assert said(run(workspace, size, null, stream), NULL, "executor")
        assert said(run(workspace, size, executor, null), NULL, "stream")
        assert said(run(null, size, executor, stream), FAILED, "workspace is null")
    assert said(run(workspace, size, 7, stream), FAILED, "no aclOpExecutor")
    assert said(run(workspace, size, executor, 12345), FAILED, "stream 12345")
    assert said(run(workspace, size, executor, "stream"), FAILED, "does not exist")
    other = aclnn.aclnnSwishBackward
    assert said(other(workspace, size, executor, stream), FAILED, "aclnnHardswishBackward")
    handles = [each.handle for each in tensors]
    for at in range(3):
        for bad in (7, "tensor", object(), np.zeros(4)):
            given = [*handles[:at], bad, *handles[at + 1 :]]
            assert said(first_phase(NAME, *given)[0], INVALID, "no aclTensor")
    assert run(workspace, size, executor, stream) == 0  # it was not used up by the refusals


@pytest.mark.parametrize(
    ("room", "size", "word"),
    [
        (1536, 1535, "1536 bytes are needed"),
        (1536, 0, "1536 bytes are needed"),
        (1536, -1, "1536 bytes are needed"),
        (1535, 1536, "past the end"),
        (512, 1536, "past the end"),
        (1536, 1 << 70, "past the end"),
        (1536, None, "1536 bytes are needed"),
        (1536, "1536", "an integer is needed"),
        (1536, 1536.0, "an integer is needed"),
    ],
)
def test_workspace_that_is_too_small(stream, room, size, word):
    tensors, need, executor = planned()
    assert need == 1536
    assert said(run(malloc(room), size, executor, stream), FAILED, word)
    assert acl.rt.synchronize_stream(stream) == 0
    assert_same_bits(tensors[2].after(), tensors[2].before)


def test_workspace_of_no_memory_or_over_a_tensor(stream):
    tensors, size, executor = planned()
    for bad in (1, -1, 1 << 70):
        assert said(run(bad, size, executor, stream), FAILED, "workspace")
    freed = malloc(size)
    acl.rt.free(freed)
    assert said(run(freed, size, executor, stream), FAILED, "freed by acl.rt.free")
    big = T((4, 2), strides=(5, 2), storage=(4096,))
    tensors, size, executor = planned(big)
    for at, name in enumerate(("gradOutput", "self", "out")):
        assert said(run(tensors[at].address, size, executor, stream), FAILED, f"over {name}")
    assert run(tensors[2].address + 512, size, executor, stream) == 0  # behind the view


@pytest.mark.parametrize("at", [0, 1, 2])
def test_memory_freed_before_each_step(stream, at):
    tensors, size, executor = planned()
    acl.rt.free(tensors[at].address)
    assert said(first_phase(NAME, *(t.handle for t in tensors))[0], FAILED, "freed")
    assert said(run(malloc(size), size, executor, stream), FAILED, "freed")

    tensors, size, executor = planned()
    assert run(malloc(size), size, executor, stream) == 0
    acl.rt.free(tensors[at].address)
    assert said(acl.rt.synchronize_stream(stream), FAILED, "aclnnHardswishBackward", "freed")

    tensors, size, executor = planned()
    workspace = malloc(size)
    assert run(workspace, size, executor, stream) == 0
    acl.rt.free(workspace)
    assert said(acl.rt.synchronize_stream(stream), FAILED, "freed")
    assert_same_bits(tensors[2].after(), tensors[2].before)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_destroyed_tensors(stream, at):
    tensors, size, executor = planned()
    handles = [t.handle for t in tensors]
    assert aclnn.aclDestroyTensor(handles[at]) == 0
    assert said(first_phase(NAME, *handles)[0], FAILED, "destroyed")
    assert said(aclnn.aclDestroyTensor(handles[at]), FAILED, "destroyed before")
    assert run(malloc(size), size, executor, stream) == 0  # the plan needs the memory only
    assert acl.rt.synchronize_stream(stream) == 0
    assert_same_bits(tensors[2].after(), wanted(tensors))


def test_before_init_and_after_finalize(stream):
    tensors, size, executor = planned()
    workspace = malloc(size)
    handles = [each.handle for each in tensors]
    assert acl.finalize() == 0
    assert said(first_phase(NAME, *handles)[0], FAILED, "acl.init")
    assert said(run(workspace, size, executor, stream), FAILED, "acl.init")
    assert said(first_phase(NAME, None, *handles[1:])[0], NULL, "gradOutput")  # null comes first
    fresh = start("ascend910b1")
    assert said(run(workspace, size, executor, fresh), FAILED, "freed by acl.finalize")
    assert said(first_phase(NAME, *handles)[0], FAILED, "freed by acl.finalize")


def test_nothing_to_run(stream):
    tensors, size, executor = planned(T((0, 3)))
    assert (size, executor.graph.nodes) == (0, [])
    assert "nothing to run" in str(executor)
    assert run(0, 0, executor, stream) == run(None, 0, planned(T((3, 0)))[2], stream) == 0
    negative = planned(T((0, 3)))[2]
    assert said(run(0, -1, negative, stream), FAILED, "workspaceSize is -1")
    assert run(0, 0, negative, stream) == 0  # it was not used up
    assert acl.rt.synchronize_stream(stream) == 0
    assert tensors[2].after().tobytes() == tensors[2].before.tobytes()


def test_an_empty_tensor_needs_no_memory(stream):
    handles = [aclnn.aclCreateTensor((0, 4), acl.ACL_FLOAT) for _ in range(3)]
    assert first_phase(NAME, *handles)[:2] == (0, 0)
    handles = [aclnn.aclCreateTensor((1, 4), acl.ACL_FLOAT) for _ in range(3)]
    assert said(first_phase(NAME, *handles)[0], INVALID, "no device memory")


def test_in_place_and_overlap(stream):
    for spec in (T((40,)), GAPS):
        grad, x = Tensor(spec, 1), Tensor(spec, 2)
        want = x.before.copy()
        x.view(want)[...] = oracle.hard_swish(grad.view(grad.before), x.view(x.before), want.dtype)
        status, size, executor = first_phase(NAME, grad.handle, x.handle, x.handle)
        assert status == 0
        assert run(malloc(size or 1), size, executor, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert_same_bits(x.after(), want)
    memory = Tensor(T((64,)), 3)

    def part(offset, stride=1):
        return aclnn.aclCreateTensor((8,), 0, (stride,), offset, 2, (64,), memory.address)

    for first, second, want in (
        (part(0), part(4), INVALID),
        (part(0), part(8), 0),
        (part(0, 2), part(1, 2), 0),
        (part(0, 2), part(2, 2), INVALID),
        (part(0, 3), part(1, 2), INVALID),
        (part(0, 4), part(2, 4), 0),
        (part(5), part(5), 0),
    ):
        assert first_phase(NAME, first, first, second)[0] == want, acl.get_recent_err_msg()


def test_calls_of_a_stream_build_on_each_other(stream):
    first, second, third = (Tensor(T((300,)), seed) for seed in range(3))
    for a, b, c in ((first, first, second), (second, first, third), (third, third, third)):
        status, size, executor = first_phase(NAME, a.handle, b.handle, c.handle)
        assert (status, size) == (0, 0)
        assert run(0, 0, executor, stream) == 0
    assert_same_bits(third.after(), third.before)
    assert acl.rt.synchronize_stream(stream) == 0
    f32 = np.dtype(np.float32)
    one = oracle.hard_swish(first.before, first.before, f32)
    two = oracle.hard_swish(one, first.before, f32)
    assert_same_bits(second.after(), one)
    assert_same_bits(third.after(), oracle.hard_swish(two, two, f32))


def test_slack_is_reported_and_stays_inside(stream):
    tensors = [Tensor(T((3,)), seed) for seed in range(3)]
    handles = [each.handle for each in tensors]
    _, _, executor = aclnn.aclnnSwishBackwardGetWorkspaceSize(*handles[:2], None, handles[2])
    assert aclnn.aclnnSwishBackward(0, 0, executor, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert any("gm-slack" in text for text in executor.warnings)


def test_a_tiling_that_says_no():
    start("ascend910b1", ub=1024)
    tensors = [Tensor(T(), seed).handle for seed in range(3)]
    assert said(first_phase(NAME, *tensors)[0], FAILED, "no room")


def test_names_are_found_and_listed():
    assert {"aclnnSwishBackward", "aclnnSwishBackwardGetWorkspaceSize"} <= set(dir(aclnn))
    assert aclnn.aclnnSwishBackward is aclnn.aclnnSwishBackward
    with pytest.raises(AttributeError, match="aclnnHardswishBackward"):
        aclnn.aclnnSwishForward  # noqa: B018
    with pytest.raises(TypeError, match="gradOutput"):
        aclnn.aclnnHardswishBackwardGetWorkspaceSize()
