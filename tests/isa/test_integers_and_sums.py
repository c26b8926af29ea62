"""Integer, logic and multiply-add calls: their errors, records, options, scales and operators."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.dtypes import dtype
from ascendsim.errors import ContractError, DtypeError, UnsupportedError
from tests.kit import Ub, fails, peek, put, run_block

I16, F16, F32 = (int16, 64), (half, 64), (float32, 64)


def kernel(call, **buffers):
    def body():
        u = Ub(**(buffers or {"a": I16, "b": I16, "c": I16}))
        call(*(u[name] for name in (buffers or "abc")))

    return body


@pytest.mark.parametrize(
    ("error", "match", "call", "buffers"),
    [
        (
            ContractError,
            r"ShiftLeft: the scalar is 17: it is a number of bits",
            lambda a, b, c: ShiftLeft(b, a, 17, 64),
            {},
        ),
        (
            ContractError,
            "ShiftRight: the scalar is -1",
            lambda a, b, c: ShiftRight(b, a, -1, 64),
            {},
        ),
        (
            ContractError,
            "ShiftRight: the scalar is 1.5",
            lambda a, b, c: ShiftRight(b, a, 1.5, 64),
            {},
        ),
        (ContractError, "Adds: scalar is nan", lambda a, b, c: Adds(b, a, float("nan"), 64), {}),
        (
            DtypeError,
            "And: float32 is not available on ascend910b1: use int16, uint16",
            lambda a, b: And(b, a, a, 64),
            {"a": F32, "b": F32},
        ),
        (
            DtypeError,
            "Axpy: src is float32 but dst is float16",
            lambda a, b: Axpy(b, a, 1.0, 64),
            {"a": F32, "b": F16},
        ),
        (
            DtypeError,
            "MulAddDst: src1 is float32 but|MulAddDst: src0 is float16 but",
            lambda a, b, c: MulAddDst(b, a, c, 64),
            {"a": F16, "b": F32, "c": F32},
        ),
        (
            UnsupportedError,
            "ascend910b1 has no Divs",
            lambda a, b: Divs(b, a, 2.0, 64),
            {"a": F32, "b": F32},
        ),
        (
            UnsupportedError,
            "mode LT is not available on ascend910b1 for int32",
            lambda a, b: Compare(b, a, a, CMPMODE.LT, 64),
            {"a": (int32, 64), "b": (uint8, 32)},
        ),
        (
            ContractError,
            "Cast: int32->float16 multiplies by the scale of SetDeqScale",
            lambda a, b: Cast(b, a, RoundMode.CAST_NONE, 64),
            {"a": (int32, 64), "b": F16},
        ),
        (ContractError, "SetDeqScale: the scale is 'x'", lambda a, b, c: SetDeqScale("x"), {}),
        (
            ContractError,
            "only two tensors joined by one of",
            lambda a, b, c: b.__setitem__(slice(None), 1.0),
            {},
        ),
        (
            UnsupportedError,
            "elements of type int4b_t are not modelled",
            lambda a, b, c: a.ReinterpretCast(int4b_t),
            {},
        ),
        (
            UnsupportedError,
            "elements of type double are not modelled",
            lambda a, b, c: a.ReinterpretCast(double),
            {},
        ),
    ],
)
def test_broken_rules(error, match, call, buffers):
    fails(error, match, kernel(call, **buffers))


def run(call, soc="ascend910b1", options=None, **arrays):
    """Run `call` on buffers with these contents and return what they hold then, and the block."""
    found = {}

    def body():
        types = {name: dtype(array.dtype) for name, array in arrays.items()}
        u = Ub(**{name: (T, arrays[name].size) for name, T in types.items()})
        for name, array in arrays.items():
            put(u[name], array)
        call(*(u[name] for name in arrays))
        found.update({name: peek(u[name]) for name in arrays})

    return found, run_block(body, soc=soc, options=options or {})


def test_shifts_by_the_width_and_more():
    x = np.array([-5, 5, -1, 32767] * 16, np.int16)
    found, _ = run(lambda a, b: ShiftRight(b, a, 16, 64), a=x, b=np.zeros_like(x))
    assert found["b"].tolist() == [-1, 0, -1, 0] * 16
    found, _ = run(lambda a, b: ShiftLeft(b, a, 99, 64), soc="ascend950", a=x, b=np.zeros_like(x))
    assert not found["b"].any()


def test_the_scale_holds_until_it_is_set_again():
    x = np.arange(64, dtype=np.int32)

    def call(a, b, c):
        SetDeqScale(0.5)
        Cast(b, a, RoundMode.CAST_NONE, 64)
        SetDeqScale(2.0)
        Cast(c, a, RoundMode.CAST_NONE, 64)

    zero = np.zeros(64, np.float16)
    found, block = run(call, a=x, b=zero, c=zero)
    assert (found["b"] == x / 2).all()
    assert (found["c"] == 2 * x).all()
    assert block.rules["deq-scale"] == "assumed"


def test_a_block_starts_without_a_scale():
    def body():
        u = Ub(a=(int32, 64), b=F16)
        if GetBlockIdx() == 0:
            SetDeqScale(1.0)
        Cast(u["b"], u["a"], RoundMode.CAST_NONE, 64)

    fails(ContractError, "SetDeqScale", body, block_dim=2)


def test_option_int_overflow():
    x = np.array([300, -300, np.inf, np.nan] * 16, np.float16)
    cast = lambda a, b: Cast(b, a, RoundMode.CAST_RINT, 64)  # noqa: E731
    found, _ = run(cast, a=x, b=np.zeros(64, np.int8))
    assert found["b"][:4].tolist() == [127, -128, 127, 0]
    found, block = run(cast, options={"int_overflow": "truncate"}, a=x, b=np.zeros(64, np.int8))
    assert found["b"][:4].tolist() == [44, -44, 127, 0]
    assert "integer-cast" in block.rules


def test_integers_say_what_they_rely_on():
    x = np.arange(64, dtype=np.int16)
    _, block = run(lambda a, b: Add(b, a, a, 64), a=x, b=x)
    assert set(block.rules) == {"integer-wrap", "count-form"}


def test_record_of_a_call_that_reads_its_destination():
    def call(a, b):
        Axpy(b, a, 2.0, 40)

    ones = np.ones(64, np.float16)
    found, block = run(call, a=ones, b=np.ones(64, np.float32))
    assert found["b"].tolist() == [3.0] * 40 + [1.0] * 24
    (record,) = (r for r in block.records if r.call.name == "Axpy")
    shown = [(a.role, a.writes, record.call.ranges(a)) for a in record.call.accesses]
    start = record.call.accesses[0].start
    whole = [(start, start + 160)]
    assert shown == [("dst", True, whole), ("src0", False, [(0, 80)]), ("dst", False, whole)]
    (logged,) = (c for c in block.calls if c["op"] == "Axpy")
    assert (logged["count"], logged["dst"]["ub"], logged["dtype"]) == (40, start, "float32")
    assert (logged["scalar"], logged["src_dtype"]) == ("0x4000", "float16")  # the scalar is half


def test_accumulating_in_place_with_a_repeat_stride_of_zero():
    x = np.arange(256, dtype=np.float32)

    def call(a, b):
        Axpy(b, a, 1.0, 64, 4, UnaryRepeatParams(1, 1, 0, 8))

    found, _ = run(call, a=x, b=np.zeros(256, np.float32))
    assert (found["b"][:64] == x.reshape(4, 64).sum(0)).all()


def test_multiply_add_rounds_once_on_950_only():
    a, b = np.full(64, 1 + 2.0**-6, np.float16), np.full(64, 1 + 2.0**-6, np.float16)
    c = np.full(64, -1, np.float16)
    results = []
    for soc in ("ascend910b1", "ascend950"):
        found, _ = run(lambda a, b, c: MulAddDst(c, a, b, 64), soc=soc, a=a, b=b, c=c)
        results.append(float(found["c"][0]))
    assert results == [2.0**-5, 2.0**-5 + 2.0**-12]


def test_reciprocal_warns_or_is_refused():
    x = np.full(64, 3, np.float32)
    call = lambda a, b: Reciprocal(b, a, 64)  # noqa: E731
    found, block = run(call, a=x, b=x)
    assert found["b"][0] == np.float32(1) / np.float32(3)
    assert "table that is not published" in block.warning("vector-recip")
    _, block = run(call, soc="ascend950", a=x, b=x)
    assert not block.warnings
    body = kernel(lambda a, b: Rsqrt(b, a, 64), a=F32, b=F32)
    fails(
        UnsupportedError, "vector_recip=unsupported", body, options={"vector_recip": "unsupported"}
    )


@pytest.mark.parametrize(
    ("text", "want"),
    [("a + b", 5), ("a - b", 1), ("a * b", 6), ("a / b", 1.5)],
)
def test_operators(text, want):
    def call(a, b, c):
        c[:] = eval(text, {"a": a, "b": b})
        c[32:] = a + a

    a, b = np.full(64, 3, np.float32), np.full(64, 2, np.float32)
    found, block = run(call, a=a, b=b, c=np.zeros(64, np.float32))
    assert found["c"].tolist() == [want] * 32 + [6] * 32
    first = next(c for c in block.calls if c["op"] in ("Add", "Sub", "Mul", "Div"))
    assert first["count"] == 64
    assert first["file"].endswith("test_integers_and_sums.py")


def test_logic_operators():
    a, b = np.full(64, 12, np.int16), np.full(64, 10, np.int16)
    for operation, want in ((lambda a, b: a & b, 8), (lambda a, b: a | b, 14)):
        found, _ = run(
            lambda a, b, c, o=operation: c.__setitem__(slice(None), o(a, b)), a=a, b=b, c=a
        )
        assert set(found["c"].tolist()) == {want}
