"""One test per refusal of TQue and TQueBind."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, QueueError, UnsupportedError
from tests.kit import fails
from tests.machine.test_queue import queue


def test_alloc_without_buffers():
    def body():
        q = TQue(TPosition.VECIN, 1)
        TPipe()
        q.AllocTensor(half)

    fails(QueueError, "AllocTensor: UB0 has no buffers; call InitBuffer first", body)


def test_alloc_without_a_type():
    fails(
        ContractError, "give the element type, as in AllocTensor", lambda: queue().q.AllocTensor()
    )


def test_enque_of_a_foreign_tensor():
    def body():
        k = queue()
        k.other = TQue(TPosition.VECIN, 1)
        k.pipe.InitBuffer(k.other, 1, 64)
        k.q.EnQue(k.other.AllocTensor(half))

    text = fails(QueueError, "EnQue: other float16 UB.0x80, 0xc0. belongs to other, not to q", body)
    assert "use the queue that allocated it" in text


def test_enque_of_something_else():
    fails(ContractError, "EnQue: 7 is no LocalTensor", lambda: queue().q.EnQue(7))


def test_enque_twice():
    def body():
        k = queue()
        t = k.q.AllocTensor(half)
        k.q.EnQue(t)
        k.q.EnQue(t)

    text = fails(QueueError, "EnQue: q slot 0 at UB.0x0, 0x40. is ENQUE", body)
    assert "must be allocated first" in text


def test_enque_of_a_freed_tensor():
    def body():
        k = queue()
        t = k.q.AllocTensor(half)
        k.q.FreeTensor(t)
        k.q.EnQue(t)

    fails(QueueError, "EnQue: q slot 0 .* is FREE", body)


def test_deque_of_an_empty_queue():
    text = fails(QueueError, "DeQue: q is empty", lambda: queue_and(lambda k: k.q.DeQue(half)))
    assert "returns a stale tensor without waiting" in text
    assert "EnQue a tensor first" in text


def queue_and(use):
    k = queue()
    use(k)


def test_deque_of_a_tensor_freed_in_the_queue():
    def body():
        k = queue()
        t = k.q.AllocTensor(half)
        k.q.EnQue(t)
        k.q.FreeTensor(t)
        k.q.DeQue(half)

    fails(QueueError, "DeQue: q slot 0 .* is FREE: a queued tensor must not be freed", body)


def test_free_twice():
    def body():
        k = queue()
        t = k.q.AllocTensor(half)
        k.q.FreeTensor(t)
        k.q.FreeTensor(t)

    fails(QueueError, "FreeTensor: q slot 0 .* is FREE: it was freed already; free it once", body)


def test_free_of_a_tensor_of_a_tbuf():
    def body():
        k = queue()
        k.tmp = TBuf(TPosition.VECCALC)
        k.pipe.InitBuffer(k.tmp, 64)
        k.q.FreeTensor(k.tmp.Get(half))

    fails(QueueError, "FreeTensor: tmp .* belongs to tmp, not to q", body)


@pytest.mark.parametrize("position", [TPosition.VECCALC, TPosition.GM, "VECIN"])
def test_positions_that_no_queue_has(position):
    fails(ContractError, "use TPosition.VECIN or TPosition.VECOUT", lambda: TQue(position, 1))


@pytest.mark.parametrize("depth", [-1, 1.0, True])
def test_depth_is_a_number(depth):
    text = fails(ContractError, "depth is", lambda: TQue(TPosition.VECIN, depth))
    assert "use a positive integer" in text


def test_depth_0_is_not_modelled():
    fails(UnsupportedError, "depth 0 .* use 1 or 2", lambda: TQue(TPosition.VECIN, 0))


def test_bind_takes_one_pair():
    def body(pair):
        TQueBind(*pair, 1)

    pair = (TPosition.VECOUT, TPosition.VECIN)
    fails(UnsupportedError, "TQueBind VECOUT, VECIN is not modelled", lambda: body(pair))
    fails(ContractError, "TQueBind: 'GM' is no TPosition", lambda: body(("GM", TPosition.VECIN)))
