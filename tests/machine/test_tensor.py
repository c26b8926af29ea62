"""LocalTensor and GlobalTensor: slices, casts, sizes, single elements."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import BoundsError, ContractError, QueueError, RequestError
from tests.helpers import assert_same_bits
from tests.kit import Ub, fails, gm, interesting, peek, put, run_block
from tests.machine.test_queue import VECTORS

TYPES = (float32, half, bfloat16_t, int8, int16, int32, int64, uint8, uint16, uint32, uint64)


def test_published_slice():
    vector = VECTORS["localtensor_slice_add"]
    source = np.array(vector["input"]["src0"], np.float32)
    offset, count = vector["params"]["offset"], vector["params"]["count"]

    def body():
        u = Ub(a=(float32, 256), b=(float32, 256), c=(float32, 256))
        put(u["a"], source)
        # what stands in the vector as a text: src0 + src1 from the offset on gives these sums
        want = np.array(vector["output"]["dst_16_to_65"], np.float32)
        put(
            u["b"],
            np.concatenate([np.zeros(offset), want - source[offset : offset + count]]).astype(
                np.float32
            ),
        )
        put(u["c"], np.full(256, -1, np.float32))
        Add(u["c"][offset:], u["a"][offset:], u["b"][offset:], count)
        got = peek(u["c"])
        assert_same_bits(got[offset : offset + count], want)
        assert set(got[:offset]) == set(got[offset + count :]) == {-1}

    run_block(body)


def test_published_reinterpretation():
    vector = VECTORS["reinterpret_i32_i16"]

    def body():
        u = Ub(a=(int32, 16))
        put(u["a"], np.array(vector["input"]["src"], np.int32))
        t = u["a"].ReinterpretCast(int16)
        assert t.GetSize() == 32
        assert [t.GetValue(i) for i in range(32)] == vector["output"]["dst"]

    run_block(body)


def test_slices():
    def body():
        u = Ub(pad=(half, 16), a=(half, 64))
        t = u["a"]
        part = t[16:]
        assert (part.start, part.GetSize(), part.nbytes) == (t.start + 32, 48, 96)
        assert part[16:] is part[16:]  # identity makes a bound call cheap to find
        assert part[16:].start == t[32:].start
        assert (t[0:], t[:]) == (t, t)
        assert t[1:].start == t.start + 2  # alignment is for the instruction to check
        assert t[63:].GetSize() == 1
        assert (t.GetPhyAddr(), part.GetPhyAddr(2)) == (32, 68)

    run_block(body)


@pytest.mark.parametrize("offset", [64, 65, -1])
def test_slice_out_of_range(offset):
    text = fails(BoundsError, rf"LocalTensor\[{offset}:\]", lambda: Ub(a=(half, 64))["a"][offset:])
    assert "0..63 elements" in text


@pytest.mark.parametrize("index", [3, slice(0, 4), slice(0, None, 2), slice(1.0, None)])
def test_other_indices(index):
    fails(ContractError, "LocalTensor.*offset", lambda: Ub(a=(half, 64))["a"][index])


def test_reinterpret_keeps_the_bytes():
    def body():
        u = Ub(a=(half, 50))  # 112 bytes with rounding to 32: 128
        t = u["a"][1:]
        assert t.ReinterpretCast(float32).GetSize() == (128 - 2) // 4
        assert t.ReinterpretCast(half).start == t.start
        whole = u["a"].ReinterpretCast(uint8)
        assert (whole.GetSize(), whole.ReinterpretCast(uint64).GetSize()) == (128, 16)

    run_block(body)


def test_set_size():
    def body():
        u = Ub(a=(float32, 64), b=(float32, 64))
        t = u["a"]
        t.SetSize(10)
        assert (t.GetSize(), t.nbytes) == (10, 40)
        assert u["a"].GetSize() == 64  # another Get knows nothing of it
        with pytest.raises(BoundsError, match=r"elements 0\.\.9"):
            t.GetValue(10)
        with pytest.raises(BoundsError, match="past the end"):
            Duplicate(t, 1.0, 11)
        t.SetSize(64)
        Duplicate(t, 1.0, 64)
        t.SetSize(0)
        assert t.GetSize() == 0
        part = u["b"][32:]
        part.SetSize(32)
        part.SetSize(33)

    text = fails(BoundsError, r"SetSize\(33\)", body)
    assert "room for 32 elements" in text


@pytest.mark.parametrize("T", TYPES, ids=str)
def test_values_of_every_type(T):
    values = interesting(T, 32, seed=3)

    def body(x, out):
        u = Ub(a=(T, 32))
        source, target = gm(x), gm(out)
        for i in range(32):
            value = source.GetValue(i)
            assert isinstance(value, T.numpy.type if T.kind == "float" else int)
            u["a"].SetValue(i, value)
            target.SetValue(i, u["a"].GetValue(i))

    for observe in (True, False):
        block = run_block(body, {"x": values}, {"out": ((32,), T.name)}, observe=observe)
        # a NaN keeps no payload on its way through a Python number of another width
        same = (
            values
            if T.kind != "float"
            else np.where(np.isnan(values), block.outputs["out"], values)
        )
        assert_same_bits(block.outputs["out"], same.astype(T.numpy))
        assert not block.warnings


def test_set_value_rounds():
    def body():
        u = Ub(a=(half, 16), b=(uint8, 32))
        u["a"].SetValue(0, 1.0005)
        u["a"].SetValue(1, 1e9)
        u["b"].SetValue(0, -1)
        assert u["a"].GetValue(0) == np.float16(1.0005)
        assert u["a"].GetValue(1) == np.inf
        assert u["b"].GetValue(0) == 255

    run_block(body)


@pytest.mark.parametrize("index", [-1, 8, 1.0, "0"])
def test_element_out_of_range(index):
    def body(name, *value):
        getattr(Ub(a=(float32, 8))["a"], name)(index, *value)

    text = fails(BoundsError, "GetValue", lambda: body("GetValue"))
    assert "a float32 UB[0x0, 0x20) has elements 0..7" in text
    fails(BoundsError, "SetValue", lambda: body("SetValue", 1.0))


def test_element_of_a_freed_tensor():
    def body():
        pipe, q = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(q, 1, 32)
        t = q.AllocTensor(half)
        q.FreeTensor(t)
        t.GetValue(0)

    fails(QueueError, "was freed; read it before FreeTensor", body)


def test_global_tensor():
    def body(x, out):
        g = GlobalTensor(half)
        g.SetGlobalBuffer(x[4:], 10)
        assert (g.GetSize(), g.GetValue(0)) == (10, 4.0)
        part = g[3:]
        assert (part.GetSize(), part.GetValue(0)) == (10, 7.0)  # the size of a slice stays
        assert part.GetPhyAddr(1).start == 16
        g.SetGlobalBuffer(x)
        assert g.GetSize() == 0
        assert GlobalTensor(uint16).dtype is uint16
        words = GlobalTensor(uint16)
        words.SetGlobalBuffer(x.cast(uint16), 2)
        assert words.GetValue(2) == np.float16(2).view(np.uint16)

    x = np.arange(16, dtype=np.float16)
    run_block(body, {"x": x}, {"out": ((16,), "float16")})


def test_global_tensor_refusals():
    x = {"x": np.zeros(16, np.float16)}

    def slack(x):
        assert gm(x).GetValue(31) is not None  # 32 bytes of slack

    assert "x (32 bytes read, 0 written)" in run_block(slack, x).warning("gm-slack")
    fails(
        BoundsError, r"GetValue: element reaches x\[0x40, 0x42\)", lambda x: gm(x).GetValue(32), x
    )
    fails(BoundsError, r"SetValue: element reaches x", lambda x: gm(x).SetValue(32, 1), x)
    fails(BoundsError, r"GetValue: element reaches x\[-0x2", lambda x: gm(x).GetValue(-1), x)
    fails(BoundsError, "the index must be an integer", lambda x: gm(x).GetValue(0.0), x)
    fails(ContractError, "GM address .* must be an integer", lambda x: x + 0.5, x)
    fails(ContractError, "must be an integer", lambda x: x[0.5:], x)
    fails(BoundsError, "must lie in", lambda x: x[-1:], x)
    fails(ContractError, "has no SetGlobalBuffer", lambda x: GlobalTensor(half).GetValue(0), x)
    fails(RequestError, "'float' ?|dtype 'quad' is unknown", lambda x: GlobalTensor("quad"), x)


def test_copies_of_a_global_tensor_without_buffer():
    def body(store):
        t = Ub(a=(half, 16))["a"]
        DataCopy(*((GlobalTensor(half), t) if store else (t, GlobalTensor(half))), 16)

    for store in (True, False):
        fails(ContractError, "has no SetGlobalBuffer", lambda store=store: body(store))


def test_tensors_outside_a_kernel():
    with pytest.raises(RequestError, match=r"no kernel is running: .* ascendsim.launch"):
        TPipe()
