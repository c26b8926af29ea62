"""TBufPool and TBuf.GetWithOffset: where their bytes are, and what they refuse."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, QueueError, UbOverflow
from tests.kit import fails, run_block


def test_pools_give_away_their_own_bytes():
    def body():
        pipe, pool, inner = TPipe(), TBufPool(TPosition.VECCALC), TBufPool(TPosition.VECCALC)
        before, after = TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
        queue, one, two = TQue(TPosition.VECIN, 2), TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(before, 64)
        pipe.InitBufPool(pool, 1024)
        pipe.InitBuffer(after, 32)
        assert after.Get(float32).start == 64 + 1024
        pool.InitBuffer(queue, 2, 100)
        assert queue.AllocTensor(half).start == 64
        pool.InitBufPool(inner, 256)
        inner.InitBuffer(one, 256)
        assert one.Get(float32).start == 64 + 256
        pool.InitBuffer(two, 32)
        assert two.Get(float32).start == 64 + 512

    block = run_block(body)
    places = [(c["buf"], c["ub"], c["num"]) for c in block.calls if c["op"] == "InitBuffer"]
    assert [p[1:] for p in places] == [(0, 1), (1088, 1), (64, 2), (320, 1), (576, 1)]
    line = next(c["line"] for c in block.calls if c["op"] == "InitBuffer" and c["ub"] == 64)
    assert line > 10  # the kernel's own line, not the pool's


def test_shared_pools_take_turns():
    def body():
        pipe, first, second = TPipe(), TBufPool(), TBufPool()
        pipe.InitBufPool(first, 512)
        pipe.InitBufPool(second, 512, first)
        buffers = [TBuf(TPosition.VECCALC) for _ in range(2)]
        first.InitBuffer(buffers[0], 128)
        with pytest.raises(QueueError, match="another TBufPool holds buffers"):
            second.InitBuffer(buffers[1], 128)
        first.Reset()
        second.InitBuffer(buffers[1], 128)
        assert buffers[1].Get(float32).start == 0

    run_block(body)


def test_contract():
    def pool(nbytes, *lengths):
        def body():
            pipe, pool = TPipe(), TBufPool()
            pipe.InitBufPool(pool, nbytes)
            for length in lengths:
                pool.InitBuffer(TBuf(TPosition.VECCALC), length)

        return body

    fails(UbOverflow, "its TBufPool ends at 0x80; use a larger pool", pool(128, 64, 65))
    fails(UbOverflow, "InitBufPool: 262144 bytes .* memory ends at", pool(1 << 18))
    fails(ContractError, "length is 0: use a positive", pool(0))
    fails(QueueError, "a TBufPool has 16; merge", pool(1024, *[32] * 17))
    run_block(pool(1024, *[32] * 17), soc="ascend950")  # no such limit there
    fails(QueueError, "has no memory; call InitBufPool first",
          lambda: TBufPool().InitBuffer(TBuf(TPosition.VECCALC), 32))  # fmt: skip
    fails(ContractError, "TBufPool: position is", lambda: TBufPool(TPosition.GM))


def test_with_offset():
    def body():
        pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
        pipe.InitBuffer(buffer, 1024)
        part = buffer.GetWithOffset(int32, 128, 64)
        assert (part.start, part.nbytes) == (64, 512)
        assert buffer.GetWithOffset(int32, 128, 64) is part
        assert buffer.Get(int32, 128) is not part
        Muls(buffer.GetWithOffset(float32, 8, 32), buffer.Get(float32), 2.0, 8)

    block = run_block(body)
    logged = next(c for c in block.calls if c["op"] == "GetWithOffset")
    assert (logged["dst"]["ub"], logged["dst"]["rel"]) == (64, 64)

    def ask(size, offset):
        def body():
            pipe, buffer = TPipe(), TBuf(TPosition.VECCALC)
            pipe.InitBuffer(buffer, 1024)
            buffer.GetWithOffset(int32, size, offset)

        return body

    fails(ContractError, "128 elements of int32 at byte 4", ask(128, 4))
    fails(ContractError, "has 1024 bytes", ask(249, 32))
    fails(ContractError, "bufOffset is -32", ask(8, -32))
