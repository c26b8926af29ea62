"""TPipe: where buffers lie, how many there may be, event ids, and its one life per block."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, QueueError, UbOverflow
from tests.kit import Ub, fails, run_block
from tests.machine.test_queue import VECTORS, queue


def test_addresses_follow_the_order_of_the_calls():
    vector = VECTORS["initbuffer_roundup"]

    def body():
        pipe = TPipe()
        a, b, c = TQue(TPosition.VECIN, 1), TBuf(TPosition.VECCALC), TQue(TPosition.VECOUT, 1)
        pipe.InitBuffer(a, 2, 100)
        pipe.InitBuffer(b, 33)
        pipe.InitBuffer(c, 1, 32)
        found = [[x.start for x in holder.buffers] for holder in (a, b, c)]
        assert found == vector["output"]["addresses"]
        assert [h.buffers[0].nbytes for h in (a, b, c)] == vector["output"]["lens"]
        assert a.AllocTensor(half).GetSize() == 64  # of 128 bytes, not of the 100 asked for

    run_block(body)


def test_a_second_initbuffer_gives_new_memory_and_new_counters():
    def body():
        k = queue(depth=1, num=2)
        k.q.EnQue(k.q.AllocTensor(half))
        k.pipe.InitBuffer(k.q, 1, 32)
        assert not k.q.HasTensorInQue()
        assert k.q.HasIdleBuffer()
        assert [b.start for b in k.q.buffers] == [128]
        assert k.q.AllocTensor(half).start == 128

    run_block(body)


def test_the_last_byte_of_ub():
    def body():
        pipe = TPipe()
        pipe.InitBuffer(TBuf(TPosition.VECCALC), 16384)

    run_block(body, ub=16384)


def test_beyond_ub():
    def body():
        k = SimpleNamespace(pipe=TPipe(), first=TBuf(), inQueue=TQue(TPosition.VECIN, 2))
        k.pipe.InitBuffer(k.first, 64)
        k.pipe.InitBuffer(k.inQueue, 2, 8170)

    text = fails(UbOverflow, "InitBuffer: inQueue needs 2 x 8192 bytes", body, ub=16384)
    assert "at UB[0x40, 0x4040) but UB ends at 0x4000 (64 bytes too many)" in text
    assert "use a smaller tile or fewer buffers" in text


@pytest.mark.parametrize(
    ("soc", "nbytes"),
    [("ascend910", 262144), ("ascend310p", 262144), ("ascend910b1", 196608), ("ascend950", 253952)],
)
def test_the_size_of_ub(soc, nbytes):
    def body(length):
        TPipe().InitBuffer(TBuf(), length)

    assert len(run_block(lambda: body(nbytes), soc=soc).ub[0]) == nbytes
    fails(UbOverflow, f"UB ends at {nbytes:#x}", lambda: body(nbytes + 1), soc=soc)


def many(count, each=1):
    pipe = TPipe()
    for _ in range(count):
        pipe.InitBuffer(TBuf(), 32)
    pipe.InitBuffer(TQue(TPosition.VECIN, 1), each, 32)


def test_64_buffers_in_all():
    assert not run_block(lambda: many(62, 2)).warnings
    fails(QueueError, "asks for 2 buffers with 63 in use: a TPipe has 64", lambda: many(63, 2))
    fails(QueueError, "asks for 65 buffers with 0 in use", lambda: many(0, 65))


def test_the_64th_buffer_warns_on_950():
    assert "64 buffers" in run_block(lambda: many(63), soc="ascend950").warning("buffer-handles")


def test_28_mutexes_on_950():
    def body(num):
        pipe = TPipe()
        for _ in range(30):
            pipe.InitBuffer(TBuf(), 32)  # a TBuf takes none
        pipe.InitBuffer(TQue(TPosition.VECIN, 1), 14, 32)
        pipe.InitBuffer(TQue(TPosition.VECOUT, 1), num, 32)

    run_block(lambda: body(14), soc="ascend950")
    text = fails(
        QueueError, "needs 15 buffer mutexes with 14 in use", lambda: body(15), soc="ascend950"
    )
    assert "ascend950 has 28; use fewer queue buffers" in text
    run_block(lambda: body(15), soc="ascend910b1")


def queued(count):
    k = SimpleNamespace(pipe=TPipe())
    k.queues = [TQue(TPosition.VECIN, 1) for _ in range(count)]
    for q in k.queues:
        k.pipe.InitBuffer(q, 1, 32)
    for q in k.queues:
        q.EnQue(q.AllocTensor(half))
    return k


def test_event_ids_of_one_position_are_shared():
    fails(QueueError, "all 8 event ids of MTE2_V are taken: hangs on hardware", lambda: queued(9))
    assert VECTORS["que_alloc_limit4"]["params"]["event_limit"] == 4
    fails(QueueError, "all 4 event ids of MTE2_V", lambda: queued(5), soc="ascend910")
    run_block(lambda: queued(8))
    run_block(lambda: queued(4), soc="ascend910")


def test_no_event_ids_on_950():
    run_block(lambda: queued(20), soc="ascend950")


def test_freed_buffers_hold_an_event_id_until_they_are_allocated_again():
    def body(allocate_again):
        k = queued(8)
        for q in k.queues:
            q.FreeTensor(q.DeQue(half))
        if allocate_again:
            k.queues[0].AllocTensor(half)
        extra = TQue(TPosition.VECIN, 1)
        k.pipe.InitBuffer(extra, 1, 32)
        extra.FreeTensor(extra.AllocTensor(half))

    run_block(lambda: body(allocate_again=True))
    fails(QueueError, "all 8 event ids of V_MTE2", lambda: body(allocate_again=False))


def test_free_all_event_gives_them_back():
    def body():
        k = queued(8)
        for q in k.queues:
            q.FreeTensor(q.DeQue(half))
            q.FreeAllEvent()
        assert k.pipe.FetchEventID(HardEvent.V_MTE2) == 0

    run_block(body)


def test_positions_have_their_own_events():
    def body():
        k = queue(position=TPosition.VECOUT)
        k.both = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
        k.pipe.InitBuffer(k.both, 1, 32)
        k.q.EnQue(k.q.AllocTensor(half))
        k.both.EnQue(k.both.AllocTensor(half))
        fetched = {e.name: k.pipe.FetchEventID(e) for e in HardEvent}
        taken = {name for name, number in fetched.items() if number}
        assert taken == {"V_MTE3", "MTE2_MTE3"}
        k.q.FreeTensor(k.q.DeQue(half))
        k.both.FreeTensor(k.both.DeQue(half))
        taken = {e.name for e in HardEvent if k.pipe.FetchEventID(e)}
        assert taken == {"MTE3_V", "MTE3_MTE2"}

    run_block(body)


def test_event_ids_lowest_first():
    def body():
        pipe, event = TPipe(), HardEvent.MTE2_V
        assert [pipe.AllocEventID(event) for _ in range(3)] == [0, 1, 2]
        assert (pipe.FetchEventID(event), pipe.FetchEventID(event)) == (3, 3)
        pipe.ReleaseEventID(event, 1)
        pipe.ReleaseEventID(event, 5)  # not taken: nothing happens
        assert [pipe.AllocEventID(event) for _ in range(2)] == [1, 3]
        assert pipe.AllocEventID(HardEvent.V_MTE3) == 0

    run_block(body)


def test_event_ids_end():
    def body(soc_has, use):
        pipe = TPipe()
        for _ in range(soc_has):
            pipe.AllocEventID(HardEvent.V_S)
        use(pipe)

    for soc, ids in (("ascend910", 4), ("ascend310p", 8), ("ascend910b1", 8), ("ascend950", 8)):
        for use in (TPipe.AllocEventID, TPipe.FetchEventID):
            text = fails(
                QueueError,
                f"all {ids} event ids of V_S are taken",
                lambda use=use, ids=ids: body(ids, lambda pipe: use(pipe, HardEvent.V_S)),
                soc=soc,
            )
            assert "use fewer buffers or release ids" in text


def test_event_arguments():
    fails(ContractError, "AllocEventID: event is 'V_S'", lambda: TPipe().AllocEventID("V_S"))
    fails(ContractError, "ids are 0..7", lambda: TPipe().ReleaseEventID(HardEvent.V_S, 8))


def test_one_live_pipe():
    def body():
        first = TPipe()
        assert GetTPipePtr() is first
        TPipe()

    text = fails(QueueError, "TPipe: this block already has one", body)
    assert "call its Destroy" in text


def test_a_pipe_after_destroy_starts_anew():
    def body():
        pipe = Ub(a=(half, 64)).pipe
        pipe.AllocEventID(HardEvent.V_S)
        pipe.Destroy()
        again = TPipe()
        assert again.AllocEventID(HardEvent.V_S) == 0
        b = TBuf()
        again.InitBuffer(b, 32)
        assert b.Get(half).start == 0
        again.Reset()
        again.InitBuffer(b, 32)
        assert b.Get(half).start == 0

    run_block(body)


def test_no_pipe_yet():
    fails(QueueError, "GetTPipePtr: this block has made no TPipe yet", lambda: GetTPipePtr())


def test_arguments_of_initbuffer():
    def body(*args):
        k = SimpleNamespace(pipe=TPipe(), b=TBuf(), q=TQue(TPosition.VECIN, 1))
        k.pipe.InitBuffer(*(getattr(k, a) if isinstance(a, str) else a for a in args))

    fails(ContractError, "length of b is 0: use a positive integer", lambda: body("b", 0))
    fails(ContractError, "length of b is 64.0", lambda: body("b", 64.0))
    fails(ContractError, "num of q is -1", lambda: body("q", -1, 32))
    fails(ContractError, "num of q is True", lambda: body("q", True, 32))
    fails(ContractError, r"for b: use InitBuffer\(tbuf, bytes\)", lambda: body("b", 1, 32))
    fails(ContractError, r"for q: use InitBuffer\(queue, num, bytes\)", lambda: body("q", 32))
    fails(ContractError, "7 is no TQue, TQueBind or TBuf", lambda: body(7, 32))


def test_tbuf_get():
    vector = VECTORS["tbuf_get"]

    def body():
        u = Ub(b=(int32, 256))
        whole, part = u.b.Get(int32), u.b.Get(int32, 128)
        assert [whole.GetSize(), part.GetSize()] == vector["output"]["sizes"]
        assert [whole.nbytes, part.nbytes] == vector["output"]["byte_lengths"]
        assert whole.start == part.start
        assert u.b.Get(half).GetSize() == 512
        assert u.b.Get(int32) is whole
        assert u.b.EnQue(whole)
        u.b.FreeTensor(whole)
        assert u.b.AllocTensor(int32) is u.b.DeQue(int32) is whole  # no state, no queue

    run_block(body)


@pytest.mark.parametrize("count", [0, -8, 4, 9, 264])
def test_tbuf_get_of_a_wrong_count(count):
    text = fails(
        ContractError, f"Get: {count} elements", lambda: Ub(b=(int32, 256)).b.Get(int32, count)
    )
    assert "b gives a positive multiple of 32 bytes, at most 1024" in text


def test_tbuf_refusals():
    fails(QueueError, "Get: UB0 has no memory; call InitBuffer first", lambda: loose())
    fails(ContractError, "TBuf: position is .* use TPosition.VECCALC", lambda: TBuf(TPosition.GM))


def loose():
    TPipe()
    TBuf().Get(half)
