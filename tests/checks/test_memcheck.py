"""memcheck: each kind of access that is not allowed, alone in a small kernel, and its twin."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from tests.checks.kit import BOTH, FULL, OUT, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
IN, OUTQ = TPosition.VECIN, TPosition.VECOUT


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


def loaded(p, x):
    a = p.q.AllocTensor(float32)
    DataCopy(a, gm(x), N)
    p.q.EnQue(a)
    return p.q.DeQue(float32)


@fault("memcheck:use-after-free", BOTH)
def use_after_free(k, x, out):
    p = pipe_with(q=(IN, 1, 4 * N), b=4 * N)
    a, b = loaded(p, x), p.b.Get(float32)
    if k.broken:
        p.q.FreeTensor(a)
        if k.form == "count":
            Muls(b, a, 2.0, N)  # fault
        else:
            Muls(b, a, 2.0, 64, 2, FULL)  # fault
    Muls(b, a, 2.0, N)
    p.q.FreeTensor(a)


@fault("memcheck:use-after-free")
def copy_after_free(k, x, out):
    p = pipe_with(q=(IN, 1, 4 * N))
    a = p.q.AllocTensor(float32)
    if k.broken:
        p.q.FreeTensor(a)
    DataCopy(a, gm(x), N)  # fault
    p.q.EnQue(a)
    p.q.FreeTensor(p.q.DeQue(float32))


@fault("memcheck:double-free")
def double_free(k, x, out):
    p = pipe_with(q=(IN, 1, 4 * N))
    a = loaded(p, x)
    p.q.FreeTensor(a)
    if k.broken:
        p.q.FreeTensor(a)  # fault


@fault("memcheck:wrong-queue")
def wrong_queue(k, x, out):
    p = pipe_with(q=(IN, 1, 4 * N), other=(IN, 1, 4 * N))
    a = loaded(p, x)
    if k.broken:
        p.other.FreeTensor(a)  # fault
    p.q.FreeTensor(a)


@fault("memcheck:no-memory")
def no_memory(k, x, out):
    pipe, b = TPipe(), TBuf(TPosition.VECCALC)
    if not k.broken:
        pipe.InitBuffer(b, 64)
    b.Get(float32)  # fault


@fault("memcheck:unallocated", BOTH)
def unallocated(k, x, out):
    p = pipe_with(b=4 * N)
    b = p.b.Get(float32)
    if k.broken:
        p.pipe.Reset()
        if k.form == "count":
            Duplicate(b, 1.0, N)  # fault
        else:
            Duplicate(b, 1.0, 64, 2, 1, 8)  # fault


@fault("memcheck:out-of-bounds", BOTH)
def out_of_bounds(k, x, out):
    p = pipe_with(b=4 * N)
    b = p.b.Get(float32)
    if k.form == "count":
        Duplicate(b, 1.0, N + k.broken)  # fault
    else:
        Duplicate(b, 1.0, 64, 2 + k.broken, 1, 8)  # fault


@fault("memcheck:out-of-bounds")
def copy_past_the_buffer(k, x, out):
    p = pipe_with(b=4 * N - 32 * 2)
    DataCopy(p.b.Get(float32), gm(x), N if k.broken else 64)  # fault


@fault("memcheck:ub-overflow")
def ub_overflow(k, x, out):
    pipe, b = TPipe(), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(b, 196608 + 32 * k.broken)  # fault


@fault("memcheck:too-many-buffers")
def too_many_buffers(k, x, out):
    pipe, q = TPipe(), TQue(IN, 1)
    pipe.InitBuffer(q, 64 + k.broken, 32)  # fault


@fault("memcheck:pool-in-use")
def pool_in_use(k, x, out):
    pipe, one, other = TPipe(), TBufPool(), TBufPool()
    pipe.InitBufPool(one, 1024)
    pipe.InitBufPool(other, 1024, one)
    a, b = TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
    one.InitBuffer(a, 64)
    if not k.broken:
        one.Reset()
    other.InitBuffer(b, 64)  # fault


@fault("memcheck:reserved-ub", BOTH, request={"options": {"select_scratch": "on"}})
def reserved_ub(k, x, out):
    low = 184 * 1024 - 4096
    p = pipe_with(b=4 * N, m=256, big=low + (8192 if k.broken else 0))
    b, m = p.b.Get(float32), p.m.Get(uint8_t)
    Duplicate(b, 1.0, N)
    CompareScalar(m, b, 0.0, CMPMODE.GT, N)
    if k.form == "count":
        Select(b, m, b, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, N)  # fault
    else:
        mode = SELMODE.VSEL_TENSOR_SCALAR_MODE
        Select(b, m, b, 0.0, mode, 64, 2, FULL)  # fault


@fault("memcheck:queued-access", BOTH)
def queued_access(k, x, out):
    p = pipe_with(q=(OUTQ, 1, 4 * N), b=4 * N)
    a, b = p.q.AllocTensor(float32), p.b.Get(float32)
    Duplicate(a, 1.0, N)
    p.q.EnQue(a)
    if k.broken and k.form == "count":
        Muls(b, a, 2.0, N)  # fault
    elif k.broken:
        Muls(b, a, 2.0, 64, 2, FULL)  # fault
    a = p.q.DeQue(float32)
    DataCopy(gm(out), a, N)
    p.q.FreeTensor(a)


@fault("memcheck:misaligned", BOTH)
def misaligned(k, x, out):
    p = pipe_with(b=4 * N)
    b = p.b.Get(float32)[1 if k.broken else 8 :]
    if k.form == "count":
        Duplicate(b, 1.0, 64)  # fault
    else:
        Duplicate(b, 1.0, 64, 1, 1, 8)  # fault


@fault("memcheck:misaligned")
def misaligned_copy(k, x, out):
    p = pipe_with(b=4 * N)
    DataCopy(p.b.Get(float32)[5 if k.broken else 8 :], gm(x), 64)  # fault


@fault("memcheck:count-rounded")
def count_rounded(k, x, out):
    p = pipe_with(b=4 * N)
    DataCopy(p.b.Get(float32), gm(x), 63 if k.broken else 64)  # fault


@fault("memcheck:overlap", BOTH)
def overlap(k, x, out):
    p = pipe_with(b=4 * N, m=256)
    b = p.b.Get(float32)
    m = b.ReinterpretCast(uint8_t) if k.broken else p.m.Get(uint8_t)
    Duplicate(b, 1.0, N)
    if k.form == "count":
        CompareScalar(m, b, 0.0, CMPMODE.GT, N)  # fault
    else:
        CompareScalar(m, b, 0.0, CMPMODE.GT, 64, 2, FULL)  # fault


@fault("memcheck:gm-out-of-bounds")
def gm_out_of_bounds(k, x, out):
    p = pipe_with(b=8 * N)
    DataCopy(p.b.Get(float32), gm(x), N + 16 * k.broken)  # fault


ODD = {"x": np.arange(N - 3, dtype=np.float32)}


@fault("memcheck:gm-slack", inputs=ODD)
def gm_slack(k, x, out):
    p = pipe_with(b=4 * N)
    if k.broken:
        DataCopy(p.b.Get(float32), gm(x), N)  # fault
    else:
        DataCopyPad(p.b.Get(float32), gm(x), DataCopyParams(1, 4 * (N - 3), 0, 0))


@fault("memcheck:gm-window")
def gm_window(k, x, out):
    p = pipe_with(b=4 * N)
    DataCopy(p.b.Get(float32), gm(x, 64 if k.broken else N), N)  # fault


@fault("memcheck:gm-trample", request={"block_dim": 3})
def gm_trample(k, x, out):
    p = pipe_with(q=(OUTQ, 1, 4 * N))
    a = p.q.AllocTensor(float32)
    Duplicate(a, 1.0, N)
    p.q.EnQue(a)
    a = p.q.DeQue(float32)
    length = 32 if k.broken else 24
    DataCopy(gm(out)[24 * GetBlockIdx() :], a, length)  # fault
    p.q.FreeTensor(a)


@fault("memcheck:leak")
def leak(k, x, out):
    p = pipe_with(q=(IN, 2, 4 * N))
    a = p.q.AllocTensor(float32)  # fault
    DataCopy(a, gm(x), N)
    p.q.EnQue(a)
    a = p.q.DeQue(float32)
    if not k.broken:
        p.q.FreeTensor(a)


def test_the_partner_of_a_use_after_free():
    each = next(e for e in TABLE if e.name == "use_after_free-count")
    found = verify(each)
    assert found.partner.startswith("FreeTensor on V at ")
    assert found.other_seq is not None
    assert (found.bytes, found.memory, found.instruction) == ((0, 512), "UB", "Muls")


def test_slack_is_a_warning_with_its_bytes():
    (found,) = next(e for e in TABLE if e.code == "memcheck:gm-slack").run(True)
    assert (found.severity, found.bytes, found.memory) == ("warning", (500, 512), "x")


def test_atomic_copies_do_not_trample():
    def body(x, out):
        p = pipe_with(q=(OUTQ, 1, 4 * N))
        if GetBlockIdx() == 0:
            InitGlobalMemory(gm(out), N, 0.0)
        SyncAll()
        a = p.q.AllocTensor(float32)
        Duplicate(a, 1.0, N)
        p.q.EnQue(a)
        a = p.q.DeQue(float32)
        SetAtomicAdd(float32)
        DataCopy(gm(out), a, N)
        SetAtomicNone()
        p.q.FreeTensor(a)

    assert findings_of(body, {"x": np.zeros(N, np.float32)}, OUT, block_dim=4) == []
