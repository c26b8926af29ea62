"""What an SoC lacks, what is no operand, and texts that must stay useful."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    ContractError,
    DtypeError,
    QueueError,
    RequestError,
    UnsupportedError,
)
from tests.helpers import assert_same_bits
from tests.isa.test_contract import T64, broken, fine
from tests.isa.test_contract_forms import SPR
from tests.kit import Ub, fails, gm, peek, put, run_block


def test_select_mode_0_needs_the_bits_of_one_repeat_only():
    """Its mask bits are used again in every repeat, so 32 bytes serve any count."""
    got = {}

    def body():
        u = Ub(a=(float32, 1024), b=(float32, 1024), m=(uint8, 32))
        put(u["a"], np.ones(1024, np.float32))
        put(u["b"], np.zeros(1024, np.float32))
        put(u["m"], np.full(32, 0x0F, np.uint8))
        Select(u["a"], u["m"], u["a"], u["b"], SPR, 1024)
        got["a"] = peek(u["a"])

    for soc in ("ascend910", "ascend910b1", "ascend950"):
        block = run_block(body, soc=soc)
        assert_same_bits(got["a"], np.tile(np.repeat(np.float32([1, 0]), 4), 128))
        (record,) = (r for r in block.records if r.call.name == "Select")
        (mask,) = (a for a in record.call.accesses if a.role == "mask")
        spans = record.call.ranges(mask)
        assert spans == [(8192, 8200)]


def cast(mode):
    return lambda a, b: Cast(b, a, mode, 64)


def test_cast_pairs():
    wide, narrow = {"a": T64, "b": (bfloat16_t, 64)}, {"a": (bfloat16_t, 64), "b": (half, 64)}
    text = broken(
        ContractError,
        "Cast: float32->bfloat16 does not take CAST_NONE",
        cast(RoundMode.CAST_NONE),
        **wide,
    )
    assert "on ascend910b1" in text
    assert "would leave dst unwritten" in text
    assert "use CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC" in text
    text = broken(
        DtypeError,
        "Cast: no conversion bfloat16->float16",
        cast(RoundMode.CAST_NONE),
        **narrow,
    )
    assert "it has float32->float16" in text
    broken(
        DtypeError,
        "no conversion float32->int8",
        cast(RoundMode.CAST_RINT),
        a=T64,
        b=(int8, 64),
    )
    broken(
        DtypeError,
        "no conversion float32->bfloat16 on ascend310p",
        cast(RoundMode.CAST_RINT),
        soc="ascend310p",
        **wide,
    )


def test_cast_modes():
    to_half = {"a": T64, "b": (half, 64)}
    for soc in ("ascend910", "ascend310p"):
        broken(
            ContractError,
            "does not take CAST_FLOOR",
            cast(RoundMode.CAST_FLOOR),
            soc=soc,
            **to_half,
        )
        fine(cast(RoundMode.CAST_NONE), soc=soc, **to_half)
    fine(cast(RoundMode.CAST_NONE), a=(half, 64), b=T64)
    broken(ContractError, "use one of RoundMode.CAST_NONE", cast(1), a=T64, b=(half, 64))


def test_widening_in_place_is_a_partial_overlap():
    def body():
        u = Ub(a=(float32, 64))
        Cast(u["a"], u["a"].ReinterpretCast(half), RoundMode.CAST_NONE, 64)

    assert "Cast: a source overlaps dst" in run_block(body).warning("overlap")


@pytest.mark.parametrize("name", ["Compares", "CompareScalar"])
def test_comparisons_with_a_scalar_do_not_exist_on_910(name):
    def use(a, m):
        globals()[name](m, a, 0.0, CMPMODE.LT, 64)

    buffers = {"a": T64, "m": (uint8, 32)}
    text = broken(
        UnsupportedError, f"{name}: ascend910 has no {name}", use, soc="ascend910", **buffers
    )
    assert f"`ascendsim isa {name}`" in text
    fine(use, soc="ascend310p", **buffers)


def test_comparison_mode():
    broken(
        ContractError,
        "use one of CMPMODE.LT",
        lambda a, m: Compare(m, a, a, "LT", 64),
        a=T64,
        m=(uint8, 32),
    )


def test_operands_are_tensors_in_ub():
    x = {"x": np.zeros(64, np.float32)}
    text = fails(
        ContractError,
        "Abs: src is .*it must be a LocalTensor",
        lambda x: Abs(Ub(a=T64)["a"], gm(x), 64),
        x,
    )
    assert "copy it in with DataCopy" in text
    fails(ContractError, "Abs: dst is", lambda x: Abs(gm(x), Ub(a=T64)["a"], 64), x)
    fails(ContractError, "Adds: src is 3", lambda x: Adds(Ub(a=T64)["a"], 3, 1.0, 64), x)
    fails(ContractError, "Adds: dst is None", lambda x: Adds(None, Ub(a=T64)["a"], 1.0, 64), x)


def test_operands_of_another_launch():
    kept = []

    def first():
        kept.append(Ub(a=T64)["a"])

    def second():
        Abs(Ub(a=T64)["a"], kept[0], 64)

    run_block(first)
    fails(ContractError, "Abs: operands lie in the UB of different cores", second)


@pytest.mark.parametrize(
    "scalar", [1, 1.0, np.float32(1), np.float16(1), np.int64(1), True], ids=repr
)
def test_scalars_of_any_number_type(scalar):
    got = {}

    def body(T):
        u = Ub(a=(T, 64))
        Duplicate(u["a"], scalar, 64)
        Muls(u["a"], u["a"], scalar, 64)
        got["a"] = peek(u["a"])

    for T in (float32, half):
        run_block(lambda T=T: body(T))
        assert_same_bits(got["a"], np.ones(64, T.numpy))


def test_a_scalar_that_is_no_number():
    def use(a, b):
        Muls(b, a, "two", 64)

    broken(ContractError, r"Muls: scalar is 'two' \(str\): it must be a number", use)


def test_scalars_are_rounded_to_the_type():
    got = {}

    def body():
        u = Ub(a=(half, 64), b=T64)
        Duplicate(u["a"], 1.0, 64)
        Muls(u["a"], u["a"], 1e9, 64)  # infinite in half
        Duplicate(u["b"], -0.0, 64)
        Adds(u["b"], u["b"], 16777217.0, 64)  # 2**24 + 1 is no fp32 number
        got.update(a=peek(u["a"]), b=peek(u["b"]))

    run_block(body, soc="ascend950")
    assert set(got["a"]) == {np.inf}
    assert set(got["b"]) == {16777216.0}


@pytest.mark.parametrize("bits", [0x80000000, 0x7FC12345, 0xFFFFFFFF, 0x00000001])
def test_duplicate_and_select_copy_bits(bits):
    value = np.uint32(bits).view(np.float32)
    got = {}

    def body():
        u = Ub(a=T64, m=(uint8, 32))
        Duplicate(u["a"], value, 64)
        got["duplicate"] = peek(u["a"], uint32)
        Duplicate(u["a"], 1.0, 64)
        put(u["m"], np.zeros(32, np.uint8))
        Select(u["a"], u["m"], u["a"], value, SELMODE.VSEL_TENSOR_SCALAR_MODE, 64)
        got["select"] = peek(u["a"], uint32)

    for soc in ("ascend310p", "ascend910b1", "ascend950"):
        run_block(body, soc=soc)
        assert set(got["duplicate"]) == set(got["select"]) == {bits}


def test_a_scalar_of_zero_and_of_minus_zero_are_different_calls():
    got = []

    def body():
        u = Ub(a=T64)
        for scalar in (0.0, -0.0, np.nan, 0.0):
            Duplicate(u["a"], scalar, 64)
            got.append(int(peek(u["a"], uint32)[0]))

    run_block(body)
    assert got[0] == got[3] == 0
    assert got[1] == 0x80000000
    assert got[2] & 0x7F800000 == 0x7F800000


def test_unknown_types_and_names():
    fails(
        RequestError,
        "dtype 'quad' is unknown; use one of float32",
        lambda: Ub(a=T64).a.Get("quad"),
    )


@pytest.mark.parametrize("pipe", ["PIPE_V", 1, PIPE.PIPE_S, None])
def test_barriers_of_pipes_that_have_none(pipe):
    fails(
        ContractError,
        "PipeBarrier: pipe is .*use one of PIPE_ALL, PIPE_MTE2",
        lambda: PipeBarrier(pipe),
    )


def test_flags():
    event = HardEvent.MTE2_V

    def twice():
        SetFlag(event, 0)
        SetFlag(event, 0)

    text = fails(QueueError, r"SetFlag: MTE2_V\(0\) is already set", twice)
    assert "wait for it first or use another event id" in text
    text = fails(
        QueueError, r"WaitFlag: no SetFlag\(MTE2_V, 1\) went before", lambda: WaitFlag(event, 1)
    )
    assert "until one comes, if any; set the flag on the PIPE_MTE2 side first" in text
    for number in (-1, 8, 0.0, None):
        fails(ContractError, "ascend910b1 has ids 0..7", lambda n=number: SetFlag(event, n))
    fails(ContractError, "ascend910 has ids 0..3", lambda: SetFlag(event, 4), soc="ascend910")
    fails(ContractError, "SetFlag: event is .*PipeBarrier", lambda: SetFlag(HardEvent.V_V, 0))
    fails(ContractError, "WaitFlag: event is 'MTE2_V'", lambda: WaitFlag("MTE2_V", 0))
