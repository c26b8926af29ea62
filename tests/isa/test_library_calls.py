"""Functions of the library as calls: forms, errors, records and warnings."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, DtypeError, OverlapError, QueueError
from tests.isa.test_integers_and_sums import F32, kernel, run
from tests.kit import fails


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
