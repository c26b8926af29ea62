"""Functions of the library as calls: forms, errors, records and warnings."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, DtypeError, OverlapError, QueueError, UnsupportedError
from tests.isa.test_integers_and_sums import F32, kernel, run
from tests.kit import Ub, fails, peek, put, run_block


def test_library_functions():
    x = np.linspace(-3, 3, 64, dtype=np.float32)

    def call(a, b, t):
        Tanh(b, a, t, 40)
        Floor(b[40:], a)

    zero = np.zeros(104, np.float32)
    found, block = run(call, a=x, b=zero, t=np.zeros(1024, np.uint8))
    want = np.tanh(x[:40].astype(np.float64)).astype(np.float32)
    assert (found["b"][:40] == want).all()
    assert (found["b"][40:104] == np.floor(x)).all()
    assert "correctly rounded" in block.warning("model-tanh")
    assert not any("Floor" in w for w in block.warnings)
    assert block.rules["composite-bits"] == "assumed"
    assert [c["op"] for c in block.calls if c["op"] in ("Tanh", "Floor")] == ["Tanh", "Floor"]


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (DtypeError, "Sin: sharedTmpBuffer is b float32", lambda a, b: Sin(b, a, b, 8)),
        (DtypeError, "Sin: sharedTmpBuffer is 3", lambda a, b: Sin(b, a, sharedTmpBuffer=3)),
        (
            OverlapError,
            "Sin: sharedTmpBuffer .* shares bytes",
            lambda a, b: Sin(b, a, b.ReinterpretCast(uint8), 8),
        ),
        (ContractError, r"Sin takes Sin\(dst, src\[", lambda a, b: Sin(b)),
        (ContractError, r"Power takes Power\(dst, src0, src1", lambda a, b: Power(b, a, a, 8, 8)),
        (
            DtypeError,
            "Erf: int16 is not available",
            lambda a, b: Erf(b.ReinterpretCast(int16), a.ReinterpretCast(int16), 8),
        ),
    ],
)
def test_broken_calls_of_the_library(error, match, call):
    fails(error, match, kernel(call, a=F32, b=F32))


def test_freed_scratch():
    def body():
        pipe, queue = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(queue, 1, 256)
        scratch = queue.AllocTensor(uint8)
        holder = TBuf(TPosition.VECCALC)
        pipe.InitBuffer(holder, 512)
        queue.FreeTensor(scratch)
        Sin(holder.Get(float32)[64:], holder.Get(float32), scratch, 8)

    fails(QueueError, "Sin: sharedTmpBuffer .* was freed", body)


def test_power_with_a_scalar():
    x = np.array([2, 3, -2, 0.5] * 16, np.float32)
    found, _ = run(lambda a, b: Power(b, a, 3.0, 64), a=x, b=x)
    assert found["b"][:4].tolist() == [8, 27, -8, 0.125]


def scratch(a, b):
    Tanh(b, a, 64)


def operator(a, b):
    b[:] = a + a


def masked(a, b):
    SetMaskNorm()
    SetVectorMask(float32, 0, 0b101)
    Muls(b, a, 2.0, 0, 1, isSetMask=False)
    ResetMask()


def counted(a, b):
    SetMaskCount()
    SetVectorMask(float32, 60)
    Axpy(b, a, 2.0, 0, 1, isSetMask=False)
    SetMaskNorm()


@pytest.mark.parametrize("call", [scratch, operator, masked, counted])
@pytest.mark.parametrize("observe", [False, True])
def test_next_block_does_not_see_what_the_last_one_stored(call, observe):
    before, after = [], []

    def body():
        u = Ub(a=F32, b=F32)
        before.append(peek(u["b"]).tobytes())
        put(u["a"], np.full(64, 1e19, np.float32))  # beside it the first bytes of UB are small
        call(u["a"], u["b"])
        after.append(peek(u["b"]).tobytes())

    run_block(body, block_dim=3, observe=observe)
    assert len(before) == 3
    assert len(set(before)) == len(set(after)) == 1
    assert before[0] != after[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: ReduceSum(b, a, b, 64),
        lambda a, b: ReduceMax(b, a, b, 64),
        lambda a, b: Brcb(b, a, 1, BrcbRepeatParams(1, 8)),
    ],
)
def test_counter_mode_of_what_covers_all_repeats_is_refused(call):
    def body():
        u = Ub(a=F32, b=F32)
        call(u["a"], u["b"])
        SetMaskCount()
        call(u["a"], u["b"])

    fails(UnsupportedError, r"counter mode \(SetMaskCount\) is not modelled", body)


def test_a_reduction_changes_the_mask_register():
    def body():
        u = Ub(a=F32, b=F32)
        SetVectorMask(float32, 0, 0b101)
        for _ in range(2):
            ReduceSum(u["b"], u["a"], u["b"], 64)
        Muls(u["b"], u["a"], 2.0, 0, 1, isSetMask=False)

    fails(ContractError, "Muls: isSetMask=False takes the mask register", body)
