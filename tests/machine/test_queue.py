"""TQue and TBuf: order of buffers, states, counters, and one test per refusal."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from ascendsim.ascendc import *
from ascendsim.errors import QueueError
from ascendsim.pipe import STATE_NAMES
from tests.kit import fails, run_block

VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "memory_vectors.json").read_text())[
        "vectors"
    ]
}


def queue(depth=2, num=2, length=64, position=TPosition.VECIN):
    """Return an object with a new pipe and the queue `q`."""
    k = SimpleNamespace(pipe=TPipe(), q=TQue(position, depth))
    k.pipe.InitBuffer(k.q, num, length)
    return k


def states(q):
    return [STATE_NAMES[b.state] for b in q.buffers]


def test_buffers_are_taken_round_robin():
    def body():
        k = queue(depth=3, num=3)
        first = k.q.AllocTensor(half)
        k.q.FreeTensor(first)
        # the cursor moved on: the next buffer is the second, though the first is free again
        slots = [k.q.AllocTensor(half).buffer.slot for _ in range(3)]
        assert slots == [1, 2, 0]

    run_block(body)


def test_the_search_skips_buffers_in_use_and_leaves_the_cursor_behind_the_one_found():
    def body():
        k = queue(depth=3, num=3)
        held = [k.q.AllocTensor(half) for _ in range(3)]
        k.q.FreeTensor(held[1])
        assert k.q.AllocTensor(half).buffer.slot == 1  # cursor at 0, probes 0 and 1
        k.q.FreeTensor(held[0])
        k.q.FreeTensor(held[2])
        assert k.q.AllocTensor(half).buffer.slot == 2  # the cursor stood at 2

    run_block(body)


def test_one_buffer_never_moves():
    def body():
        k = queue(depth=1, num=1)
        for _ in range(3):
            t = k.q.AllocTensor(float32)
            assert (t.buffer.slot, t.start) == (0, 0)
            k.q.FreeTensor(t)

    run_block(body)


def test_states_and_first_in_first_out():
    def body():
        k = queue(depth=2, num=3)
        a, b = k.q.AllocTensor(half), k.q.AllocTensor(half)
        assert states(k.q) == ["OCCUPIED", "OCCUPIED", "FREE"]
        assert k.q.EnQue(b) is True
        k.q.EnQue(a)
        assert states(k.q) == ["ENQUE", "ENQUE", "FREE"]
        assert k.q.DeQue(half) is b
        assert k.q.DeQue(half) is a
        assert states(k.q) == ["DEQUE", "DEQUE", "FREE"]
        k.q.EnQue(a)  # a tensor that was taken out may be queued again
        assert k.q.DeQue(half) is a
        k.q.FreeTensor(a)
        assert states(k.q) == ["FREE", "DEQUE", "FREE"]

    run_block(body)


def test_a_slice_acts_on_the_whole_buffer():
    def body():
        k = queue(length=128)
        t = k.q.AllocTensor(half)
        k.q.EnQue(t[16:])
        got = k.q.DeQue(half)
        assert (got.start, got.GetSize()) == (t.start, 64)
        k.q.FreeTensor(got[32:])
        assert states(k.q) == ["FREE", "FREE"]

    run_block(body)


def test_the_size_is_whole_again_after_deque():
    def body():
        k = queue(length=128)
        t = k.q.AllocTensor(half)
        t.SetSize(5)
        assert t.GetSize() == 5
        k.q.EnQue(t)
        assert k.q.DeQue(half).GetSize() == 64

    run_block(body)


def test_a_buffer_may_change_its_type_between_uses():
    def body():
        k = queue(length=128)
        k.q.EnQue(k.q.AllocTensor(half))
        t = k.q.DeQue(float32)
        assert (t.dtype, t.GetSize()) == (float32, 32)

    run_block(body)


def test_freeing_a_queued_tensor_is_allowed_and_gives_its_event_back():
    def body():
        k = queue(depth=1, num=1)
        for _ in range(10):  # more often than there are event ids
            k.q.EnQue(k.q.AllocTensor(half))
            k.q.FreeTensor(k.q.buffers[0].view(half))
            k.q.fifo.clear()

    run_block(body)


def test_depth_and_number_of_buffers_are_unrelated():
    params = VECTORS["que_vacant"]["params"]

    def body():
        k = queue(params["depth"], params["num"], params["len"])
        results = [k.q.VacantInQue()]
        held = [k.q.AllocTensor(half) for _ in range(5)]
        for t in held[:4]:
            k.q.EnQue(t)
        results.append(k.q.VacantInQue())
        assert results == VECTORS["que_vacant"]["output"]["results"]
        k.q.EnQue(held[4])

    text = fails(QueueError, "EnQue: q already holds 4 tensors, its depth", body)
    assert "DeQue one" in text


def test_published_answers_of_the_counters():
    def body():
        k = queue(4, 4)
        assert [k.q.HasTensorInQue()] == VECTORS["que_has_tensor"]["output"]["results"]
        idle = [k.q.HasIdleBuffer()]
        held = [k.q.AllocTensor(half)]
        idle.append(k.q.HasIdleBuffer())
        held += [k.q.AllocTensor(half) for _ in range(3)]
        idle.append(k.q.HasIdleBuffer())
        assert idle == VECTORS["que_idle"]["output"]["results"]
        k.q.EnQue(held[0])
        assert [k.q.GetTensorCountInQue()] == VECTORS["que_count"]["output"]["results"]
        assert k.q.HasTensorInQue()
        k.q.DeQue(half)
        assert k.q.GetTensorCountInQue() == 0
        k.q.AllocTensor(half)

    text = fails(QueueError, "AllocTensor: q has no free buffer", body)
    assert "DEQUE, OCCUPIED, OCCUPIED, OCCUPIED" in text
    assert "spins for ever on hardware" in text
    assert "FreeTensor one first" in text


def test_the_counters_take_no_event():
    def body():
        k = queue(8, 8)
        for t in [k.q.AllocTensor(half) for _ in range(8)]:
            k.q.EnQue(t)
            for _ in range(20):
                k.q.VacantInQue(), k.q.HasTensorInQue(), k.q.HasIdleBuffer()

    run_block(body)
