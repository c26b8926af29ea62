"""Copies to GM under SetAtomicAdd, Max and Min; initial values; what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import BoundsError, ContractError, DtypeError, UnsupportedError
from ascendsim.numerics.exact import exact_add, exact_max, exact_min
from ascendsim.numerics.rounding import FLOAT16, FLOAT32
from tests.helpers import assert_same_bits
from tests.kit import Ub, fails, gm, interesting, put, run_block

EXACT = {SetAtomicAdd: exact_add, SetAtomicMax: exact_max, SetAtomicMin: exact_min}


@pytest.mark.parametrize("call", list(EXACT), ids=lambda c: c.__name__)
@pytest.mark.parametrize("T", [float32, half])
def test_floats_against_exact_arithmetic(T, call):
    old, new = interesting(T, 64, 1), interesting(T, 64, 2)
    fmt = {float32: FLOAT32, half: FLOAT16}[T]

    def body(x, out):
        u = Ub(a=(T, 64))
        DataCopy(u["a"], gm(x), 64)
        DataCopy(gm(out), u["a"], 64)
        put(u["a"], new)
        call(T)
        DataCopy(gm(out), u["a"], 64)
        SetAtomicNone()

    got = run_block(body, {"x": old}, {"out": ((64,), T.name)}).outputs["out"]
    pairs = zip(old.view(T.bits), new.view(T.bits), strict=True)
    want = [EXACT[call](int(a), int(b), fmt, 1) for a, b in pairs]
    assert_same_bits(got, np.array(want, T.bits).view(T.numpy))


@pytest.mark.parametrize("T", [int8, int16, int32])
def test_integers(T):
    old, new = interesting(T, 64, 1), interesting(T, 64, 2)

    def body(x, out):
        u = Ub(a=(T, 64))
        g = gm(out)
        for turn, call in enumerate((SetAtomicAdd, SetAtomicMax, SetAtomicMin)):
            put(u["a"], old)
            DataCopy(g[64 * turn :], u["a"], 64)
            put(u["a"], new)
            call(T)
            DataCopy(g[64 * turn :], u["a"], 64)
            SetAtomicNone()

    got = run_block(body, {"x": old}, {"out": ((192,), T.name)}).outputs["out"]
    want = [old + new, np.maximum(old, new), np.minimum(old, new)]
    assert_same_bits(got, np.concatenate(want))


def test_published_sum_of_three_blocks():
    def body(x, out):
        u = Ub(a=(half, 256))
        if GetBlockIdx() == 0:
            InitGlobalMemory(gm(out), 256, 2.0)
        DataCopy(u["a"], gm(x), 256)
        SetAtomicAdd(half)
        DataCopyPad(gm(out), u["a"], DataCopyParams(1, 512, 0, 0))
        SetAtomicNone()

    block = run_block(
        body, {"x": np.ones(256, np.float16)}, {"out": ((256,), "float16")}, block_dim=3
    )
    assert list(block.outputs["out"]) == [5.0] * 256
    assert not [w for w in block.warnings if w.startswith("coverage")]
    assert block.rules["atomic-order"] == "assumed"
    copies = [c for c in block.calls if c["op"] == "DataCopyPad"]
    assert [c["atomic"] for c in copies] == ["SetAtomicAdd"] * 3
    assert "dst_crc" in copies[0]
    (initial,) = [c for c in block.calls if c["op"] == "InitGlobalMemory"]
    assert (initial["value"], initial["count"], initial["dst"]["off"]) == (2.0, 256, 0)


def test_the_order_decides_rounded_sums():
    def body(x, out):
        u = Ub(a=(float32, 8))
        InitOutput(gm(out), 8)
        for part in (1, 2, 0):
            DataCopy(u["a"], gm(x)[8 * part :], 8)
            SetAtomicAdd(float32)
            DataCopy(gm(out), u["a"], 8)
            SetAtomicNone()

    x = np.repeat(np.array([1.0, 1e16, -1e16], np.float32), 8)
    assert list(run_block(body, {"x": x}, {"out": ((8,), "float32")}).outputs["out"]) == [1.0] * 8


def test_blocks_with_gaps_and_quiet_runs():
    def body(x, out):
        u = Ub(a=(int32, 64))
        put(u["a"], np.arange(64, dtype=np.int32))
        InitOutput(gm(out), 64, 100)
        SetAtomicAdd(int32)
        DataCopyPad(gm(out), u["a"], DataCopyExtParams(3, 12, 1, 20, 0))
        SetAtomicNone()

    want = np.full(64, 100, np.int32)
    for k in range(3):
        want[8 * k : 8 * k + 3] += np.arange(16 * k, 16 * k + 3, dtype=np.int32)
    for observe in (True, False):
        block = run_block(
            body, {"x": want}, {"out": ((64,), "int32")}, observe=observe, soc="ascend950"
        )
        assert_same_bits(block.outputs["out"], want)


def test_a_new_pipe_and_a_new_block_end_it():
    def body(out):
        Ub(z=(float32, 8))
        SetAtomicAdd(float32)
        GetTPipePtr().Destroy()
        u = Ub(a=(float32, 8))
        put(u["a"], np.full(8, 3, np.float32))
        DataCopy(gm(out), u["a"], 8)

    block = run_block(body, {}, {"out": ((8,), "float32")})
    assert list(block.outputs["out"]) == [3.0] * 8

    def left(out):
        SetAtomicMax(float32)

    warning = run_block(left, {}, {"out": ((8,), "float32")}).warning("atomic-left-on")
    assert "SetAtomicMax on" in warning


def test_contract():
    out = {"out": ((8,), "float32")}

    def of(use):
        return lambda out: use(gm(out), Ub(a=(float32, 8))["a"])

    def mixed(g, a):
        SetAtomicAdd(half)
        DataCopy(g, a, 8)

    fails(ContractError, r"dst is float32 while SetAtomicAdd\(float16\) is on", of(mixed), {}, out)
    fails(DtypeError, "SetAtomicAdd: uint8 is not available on ascend910b1: use float32",
          of(lambda g, a: SetAtomicAdd(uint8)), {}, out)  # fmt: skip
    fails(UnsupportedError, "SetAtomicMax: ascend310p has no SetAtomicMax",
          of(lambda g, a: SetAtomicMax(half)), {}, out, soc="ascend310p")  # fmt: skip
    fails(ContractError, "SetAtomicAdd: 'x' is no element type",
          of(lambda g, a: SetAtomicAdd("x")), {}, out)  # fmt: skip
    fails(BoundsError, "InitOutput: dst reaches out",
          of(lambda g, a: InitOutput(g, 80)), {}, out)  # fmt: skip
    fails(ContractError, "InitOutput: .* is no GlobalTensor",
          of(lambda g, a: InitOutput(a, 8)), {}, out)  # fmt: skip
    fails(ContractError, "DataCacheCleanAndInvalid: 3 is no tensor",
          of(lambda g, a: DataCacheCleanAndInvalid(3)), {}, out)  # fmt: skip


def test_scalar_casts():
    def body():
        cases = [
            (half, RoundMode.CAST_ODD, 3.14159, 3.142578125),
            (bfloat16, RoundMode.CAST_RINT, 3.14159, 3.140625),
            (int32, RoundMode.CAST_ROUND, 2.5, 3),
            (int32, RoundMode.CAST_RINT, 2.5, 2),
            (int32, RoundMode.CAST_CEIL, 1.5, 2),
            (int32, RoundMode.CAST_FLOOR, -1.5, -2),
            (int32, RoundMode.CAST_TRUNC, -1.5, -1),
            (int32, RoundMode.CAST_RINT, 3e9, 2147483647),
            (int32, RoundMode.CAST_RINT, float("-inf"), -2147483648),
            (int32, RoundMode.CAST_RINT, float("nan"), 0),
        ]
        for target, mode, value, want in cases:
            assert ScalarCast(float32, target, mode, value) == want
        assert ToFloat(bfloat16.from_bits(0x3F81)).view(np.uint32) == 0x3F810000
        assert ToBfloat16(float("inf")) == np.inf

    run_block(body)
    fails(ContractError, "ScalarCast: float32->int32 does not take CAST_ODD",
          lambda: ScalarCast(float32, int32, RoundMode.CAST_ODD, 1.0))  # fmt: skip
    fails(DtypeError, "ScalarCast: no conversion float32->uint8",
          lambda: ScalarCast(float32, uint8, RoundMode.CAST_RINT, 1.0))  # fmt: skip
    fails(ContractError, "ToFloat: 'x' is no number", lambda: ToFloat("x"))
