"""What a call leaves for its readers: spans, pipes, tokens, and the keys of the call log."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.enums import PIPE
from tests.kit import Ub, fields, gm, put, run_block


def spans(record):
    """Return {role: byte ranges} of a record."""
    return {a.role: record.call.ranges(a) for a in record.call.accesses}


def records(body, name, **request):
    return [r for r in run_block(body, **request).records if r.call.name == name]


def test_spans_of_the_count_form():
    def body():
        u = Ub(a=(half, 100), b=(float32, 100))
        Cast(u["b"], u["a"], RoundMode.CAST_NONE, 99)

    (record,) = records(body, "Cast")
    assert spans(record) == {"dst": [(224, 224 + 396)], "src0": [(0, 198)]}
    assert record.call.pipe is PIPE.PIPE_V
    writes = {a.role: a.writes for a in record.call.accesses}
    assert writes == {"dst": True, "src0": False}


def test_spans_of_the_repeat_form():
    def body():
        u = Ub(a=(float32, 256), b=(float32, 256))
        Adds(u["b"], u["a"], 1.0, [0b1101, 0], 2, UnaryRepeatParams(1, 2, 4, 8))

    (record,) = records(body, "Adds")
    assert spans(record)["dst"] == [(1024, 1028), (1032, 1040), (1152, 1156), (1160, 1168)]
    assert spans(record)["src0"] == [(0, 4), (8, 16), (256, 260), (264, 272)]


def test_spans_of_mask_bits():
    def body():
        u = Ub(a=(float32, 128), m=(uint8, 32), b=(float32, 128))
        CompareScalar(u["m"], u["a"], 0.0, CMPMODE.LT, 74)
        Select(u["b"], u["m"], u["a"], 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 74)

    for soc, bits, compared in (("ascend910b1", 8, 256), ("ascend950", 16, 296)):
        (record,) = records(body, "CompareScalar", soc=soc)
        assert spans(record) == {"dst": [(512, 512 + bits)], "src0": [(0, compared)]}
        (record,) = records(body, "Select", soc=soc)
        assert spans(record) == {"dst": [(544, 840)], "src0": [(0, 296)], "mask": [(512, 522)]}


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
def test_the_crc_is_of_the_spans(soc):
    import zlib

    def body():
        u = Ub(a=(float32, 128), m=(uint8, 32))
        put(u["m"], np.full(32, 0xA5, np.uint8))
        put(u["a"], np.zeros(128, np.float32))
        CompareScalar(u["m"], u["a"], 0.0, CMPMODE.EQ, 74)

    (call,) = (c for c in run_block(body, soc=soc).calls if c["op"] == "CompareScalar")
    want = b"\xff" * 8 + (b"\xff\x03" + bytes(6) if soc == "ascend950" else b"")
    assert call["dst_crc"] == zlib.crc32(want)


def test_spans_of_copies():
    def body(x, out):
        u = Ub(a=(half, 128))
        DataCopyPad(u["a"], gm(x)[2:], DataCopyParams(2, 10, 6, 1), DataCopyPadParams())
        DataCopyPad(gm(out)[1:], u["a"], DataCopyParams(2, 10, 1, 4))
        DataCopy(u["a"], gm(x), 16)

    x, out = {"x": np.zeros(64, np.float16)}, {"out": ((64,), "float16")}
    found = run_block(body, x, out).records
    first, second, third = (r for r in found if r.call.name.startswith("DataCopy"))
    assert first.call.pipe is third.call.pipe is PIPE.PIPE_MTE2
    assert second.call.pipe is PIPE.PIPE_MTE3
    # into UB the bytes up to the next 32 are written too
    assert spans(first) == {"dst": [(0, 32), (64, 96)], "src0": [(4, 14), (20, 30)]}
    assert spans(second) == {"dst": [(2, 12), (16, 26)], "src0": [(0, 10), (64, 74)]}
    assert spans(third) == {"dst": [(0, 32)], "src0": [(0, 32)]}


def test_single_elements_run_on_the_scalar_pipe():
    def body():
        u = Ub(a=(half, 16))
        u["a"].SetValue(3, 1.0)
        u["a"].GetValue(3)

    store, load = (r for r in run_block(body).records if r.call.name.endswith("Value"))
    assert store.call.pipe is load.call.pipe is PIPE.PIPE_S
    assert spans(store) == {"dst": [(6, 8)]}
    assert spans(load) == {"src0": [(6, 8)]}


def two_tiles():
    k = SimpleNamespace(pipe=TPipe(), q=TQue(TPosition.VECIN, 2), out=TQue(TPosition.VECOUT, 1))
    k.pipe.InitBuffer(k.q, 2, 64)
    k.pipe.InitBuffer(k.out, 1, 64)
    for _ in range(4):
        k.q.EnQue(k.q.AllocTensor(half))
        t, r = k.q.DeQue(half), k.out.AllocTensor(half)
        k.q.FreeTensor(t)
        k.out.EnQue(r)
        k.out.FreeTensor(k.out.DeQue(half))


def paired(found, producer, consumer, start):
    """Check that the tokens of `producer` arrive at `consumer` on the same bytes; return them."""
    at = [r for r in found if r.call.accesses and r.call.accesses[0].start in start]
    signals = [t for r in at if r.call.name == producer for t in r.signals]
    waits = [t for r in at if r.call.name == consumer for t in r.waits]
    assert signals[: len(waits)] == waits
    return signals, waits


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
def test_tokens_of_queues(soc):
    found = run_block(two_tiles, soc=soc).records
    for first, second, starts, pipes in (
        ("EnQue", "DeQue", (0, 64), (PIPE.PIPE_MTE2, PIPE.PIPE_V)),
        ("FreeTensor", "AllocTensor", (0,), (PIPE.PIPE_V, PIPE.PIPE_MTE2)),
        ("FreeTensor", "AllocTensor", (64,), (PIPE.PIPE_V, PIPE.PIPE_MTE2)),
        ("EnQue", "DeQue", (128,), (PIPE.PIPE_V, PIPE.PIPE_MTE3)),
        ("FreeTensor", "AllocTensor", (128,), (PIPE.PIPE_MTE3, PIPE.PIPE_V)),
    ):
        signals, waits = paired(found, first, second, starts)
        assert {(t.source, t.destination) for t in signals} == {pipes}
        last_free = first == "FreeTensor"  # nobody allocates after the last one
        assert len(signals) - len(waits) == last_free
        for record in found:
            if record.signals in [(t,) for t in signals]:
                assert record.call.pipe is pipes[0]
            if record.waits in [(t,) for t in waits]:
                assert record.call.pipe is pipes[1]
    serials = [t.serial for r in found for t in r.signals]
    assert len(set(serials)) == len(serials) == 16


def test_numbers_of_tokens():
    """Event ids are lowest first on 910B; on 950 each buffer has its own mutex."""
    events = run_block(two_tiles).records
    ids = [t.id for r in events if r.call.name == "FreeTensor" for t in r.signals]
    assert ids == [0, 0, 1, 0, 0, 0, 1, 0]  # VECIN and VECOUT by turns; two VECIN are pending
    found = run_block(two_tiles, soc="ascend950").records
    for record in found:
        for token in record.signals + record.waits:
            assert token.id == record.call.accesses[0].start // 64


def test_the_first_alloc_waits_for_nothing():
    (first, *_) = records(two_tiles, "AllocTensor")
    assert first.waits == first.signals == ()


def test_flags():
    def body():
        pipe, event = TPipe(), HardEvent.V_MTE3
        number = pipe.FetchEventID(event)
        SetFlag(event, number)
        WaitFlag(event, number)
        PipeBarrier(PIPE_MTE2)
        PipeBarrier(PIPE_ALL)

    for soc in ("ascend910b1", "ascend950"):
        block = run_block(body, soc=soc)
        set_flag, wait_flag, *barriers = block.records
        assert set_flag.signals == wait_flag.waits
        (token,) = set_flag.signals
        assert (token.source, token.destination, token.id) == (PIPE.PIPE_V, PIPE.PIPE_MTE3, 0)
        assert (set_flag.call.pipe, wait_flag.call.pipe) == (PIPE.PIPE_V, PIPE.PIPE_MTE3)
        assert [r.call.pipe for r in barriers] == [PIPE.PIPE_MTE2, PIPE.PIPE_ALL]
        assert fields(block.calls, "op", "mode", "event") == [
            ("SetFlag", "V_MTE3", 0),
            ("WaitFlag", "V_MTE3", 0),
            ("PipeBarrier", "PIPE_MTE2", None),
            ("PipeBarrier", "PIPE_ALL", None),
        ]


COMMON = {"core", "seq", "op", "file", "line"}


def test_keys_of_the_call_log():
    def body(x, out):
        k = SimpleNamespace(pipe=TPipe(), q=TQue(TPosition.VECIN, 2), maskBuf_=TBuf())
        k.gm = GlobalTensor(half)
        k.gm.SetGlobalBuffer(x[2:], 62)
        k.pipe.InitBuffer(k.q, 2, 100)
        k.pipe.InitBuffer(k.maskBuf_, 32)
        k.q.AllocTensor(half)
        t = k.q.AllocTensor(half)
        DataCopyPad(t, k.gm[1:], DataCopyParams(1, 6, 0, 0), DataCopyPadParams(True, 1, 2, 1.0))
        Muls(t[16:], t, 0.5, 16)
        m = k.maskBuf_.Get(uint8)
        Cast(t.ReinterpretCast(float32), t[32:], RoundMode.CAST_NONE, 8)
        Select(t, m, t, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 16)
        DataCopyPad(gm(out), t, DataCopyParams(1, 6, 0, 0))

    block = run_block(body, {"x": np.zeros(64, np.float16)}, {"out": ((64,), "float16")})
    calls = {call["op"]: call for call in block.calls}
    pads = [call for call in block.calls if call["op"] == "DataCopyPad"]
    assert all(set(call) >= COMMON for call in block.calls)
    assert [call["seq"] for call in block.calls] == list(range(len(block.calls)))

    def extra(call):
        return {k: v for k, v in call.items() if k not in COMMON | {"dst_crc"}}

    first = next(c for c in block.calls if c["op"] == "SetGlobalBuffer")
    assert extra(first) == {"dst": {"gm": "x", "off": 4}, "dtype": "float16", "count": 62}
    begin = next(c for c in block.calls if c["op"] == "InitBuffer")
    assert extra(begin) == {
        "buf": "q", "kind": "TQue.VECIN", "num": 2, "len": 100, "len32": 128, "ub": 0,
    }  # fmt: skip
    slot = {"ub": 128, "buf": "q", "slot": 1, "rel": 0}
    assert extra(calls["AllocTensor"]) == {"dst": slot, "dtype": "float16"}
    copied = extra(pads[0])
    assert copied.pop("srcStride") == copied.pop("dstStride") == 0
    assert copied.items() >= {
        "dst": slot, "src0": {"gm": "x", "off": 6}, "dtype": "float16", "blockCount": 1,
        "blockLen": 6, "isPad": 1, "leftPadding": 1, "rightPadding": 2, "padValue": 0x3C00,
    }.items()  # fmt: skip
    assert extra(calls["Muls"]) == {
        "dst": {"ub": 160, "buf": "q", "slot": 1, "rel": 32}, "src0": slot,
        "dtype": "float16", "count": 16, "scalar": "0x3800",
    }  # fmt: skip
    bits = {"ub": 256, "buf": "maskBuf", "slot": 0, "rel": 0}
    assert extra(calls["Get"]) == {"dst": bits, "dtype": "uint8"}
    cast = extra(calls["Cast"])
    assert (cast["dtype"], cast["src_dtype"], cast["mode"]) == ("float32", "float16", "CAST_NONE")
    select = extra(calls["Select"])
    assert (select["mask"], select["mode"]) == (bits, "VSEL_TENSOR_SCALAR_MODE")
    assert "isPad" not in pads[1]
    assert pads[1]["dst"] == {"gm": "out", "off": 0}
