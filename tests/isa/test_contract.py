"""One test per rule of a vector call: the error, its text, and what happens where it is allowed."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    AlignmentError,
    BoundsError,
    ContractError,
    DtypeError,
    RepeatError,
)
from tests.kit import Ub, fails, run_block

T64 = (float32, 64)


def on(**buffers):
    """Return the tensors of new buffers, in order."""
    u = Ub(**buffers)
    return [u[name] for name in buffers]


def with_buffers(use, **buffers):
    """Return a body that calls `use` with the tensors of these buffers."""

    def body():
        use(*on(**buffers))

    return body


def broken(error, match, use, soc="ascend910b1", options=None, **buffers):
    request = {"options": options} if options else {}
    buffers = buffers or {"inBuf": T64, "outBuf": T64}
    return fails(error, match, with_buffers(use, **buffers), soc=soc, **request)


def fine(use, soc="ascend910b1", options=None, **buffers):
    request = {"options": options} if options else {}
    return run_block(with_buffers(use, **buffers or {"a": T64, "b": T64}), soc=soc, **request)


def test_alignment():
    text = broken(AlignmentError, "Muls: src starts at UB", lambda a, b: Muls(b, a[3:], 2.0, 8))
    assert "UB[0xc] of inBuf" in text
    assert "start at multiples of 32 bytes" in text
    assert "an offset that is a multiple of 8 float32 elements" in text
    broken(
        AlignmentError,
        "Muls: dst starts at UB.0x104. of outBuf",
        lambda a, b: Muls(b[1:], a, 2.0, 8),
    )
    broken(
        AlignmentError,
        "Select: selMask starts at .* multiple of 32 uint8",
        lambda a, m: Select(a, m[8:], a, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, 8),
        a=T64,
        m=(uint8, 64),
    )


def test_bounds():
    text = broken(BoundsError, "Muls: dst needs UB", lambda a, b: Muls(b, a, 2.0, 65))
    assert (
        "Muls: dst needs UB[0x100, 0x204), past the end of outBuf float32 UB[0x100, 0x200)" in text
    )
    assert "(260 of 256 bytes); use a smaller count or a larger buffer" in text
    broken(BoundsError, "Adds: src needs .* inBuf", lambda a, b: Adds(b, a[32:], 2.0, 33))
    params = UnaryRepeatParams(1, 1, 8, 9)
    broken(
        BoundsError,
        "Abs: src needs UB.0x0, 0x220.",
        lambda a, b: Abs(b, a, 64, 2, params),
        a=(float32, 128),
        b=(float32, 128),
    )
    # only as far as the mask reaches
    fine(lambda a, b: Abs(b, a, 8, 2, params), a=(float32, 80), b=(float32, 128))


def test_type_on_soc():
    def add(a, b):
        Add(b, a, a, 64)

    bf16 = {"inBuf": (bfloat16_t, 64), "outBuf": (bfloat16_t, 64)}
    text = broken(DtypeError, "Add: bfloat16 is not available on ascend910b1", add, **bf16)
    assert "use float32, float16, int16, int32 (Cast the operands first)" in text
    fine(add, soc="ascend950", **bf16)
    broken(DtypeError, "Add: int64 is not available", add, a=(int64, 64), b=(int64, 64))


def test_types_agree():
    mixed = {"a": (half, 64), "b": T64}
    text = broken(
        DtypeError,
        "Muls: src is float16 but dst is float32",
        lambda a, b: Muls(b, a, 2.0, 64),
        **mixed,
    )
    assert "use Cast or ReinterpretCast" in text


def test_mask_bits_have_their_own_types():
    text = broken(
        DtypeError,
        "Compare: dst holds mask bits: its type is uint8, int8, not float32",
        lambda a, b: Compare(b, a, a, CMPMODE.LT, 64),
    )
    assert text.endswith("[block 0]")
    broken(
        DtypeError,
        "Select: selMask holds mask bits",
        lambda a, b: Select(a, b, a, a, SELMODE.VSEL_TENSOR_TENSOR_MODE, 64),
    )


@pytest.mark.parametrize("times", [256, -1, 1000])
def test_repeat_times(times):
    text = broken(
        RepeatError, f"Muls: repeatTimes is {times}", lambda a, b: Muls(b, a, 2.0, 64, times)
    )
    assert "0..255 repeats; split the call into chunks of at most 255" in text


@pytest.mark.parametrize("times", [1.0, True, "1"])
def test_repeat_times_is_an_integer(times):
    broken(
        RepeatError, "repeatTimes is .* must be an integer", lambda a, b: Muls(b, a, 2.0, 64, times)
    )


def test_strides_have_the_width_of_their_field():
    wide = UnaryRepeatParams(1, 1, 264, 8)
    text = broken(
        RepeatError, "UnaryRepeatParams.dstRepStride is 264", lambda a, b: Abs(b, a, 64, 1, wide)
    )
    assert "the field holds 0..255 (8 bits, hardware would keep 8)" in text
    wide = BinaryRepeatParams(1, 1, 264)
    broken(
        RepeatError,
        "BinaryRepeatParams.src1BlkStride is 264",
        lambda a, b: Add(b, a, a, 64, 1, wide),
    )
    fine(lambda a, b: Abs(b, a, 8, 1, UnaryRepeatParams(300, 300)))  # 16-bit block strides
    broken(
        RepeatError,
        "dstBlkStride is 65536.*16 bits",
        lambda a, b: Abs(b, a, 8, 1, UnaryRepeatParams(65536)),
    )
    broken(RepeatError, "dstRepeatStride is 256", lambda a, b: Duplicate(a, 1.0, 64, 1, 1, 256))
    broken(
        RepeatError,
        "srcRepStride is 1.5: it must be an integer",
        lambda a, b: Abs(b, a, 8, 1, UnaryRepeatParams(1, 1, 8, 1.5)),
    )


def test_destination_block_stride_0():
    still = UnaryRepeatParams(0, 1)
    broken(
        RepeatError, "Abs: dst block stride is 0: undefined", lambda a, b: Abs(b, a, 64, 1, still)
    )
    broken(RepeatError, "block stride is 0", lambda a, b: Duplicate(a, 1.0, 64, 1, 0, 8))
    fine(lambda a, b: Abs(b, a, 64, 1, UnaryRepeatParams(1, 0)))


def test_params_of_the_right_kind():
    text = broken(
        ContractError,
        "Muls: repeatParams is Binary",
        lambda a, b: Muls(b, a, 2.0, 64, 1, BinaryRepeatParams()),
    )
    assert "use UnaryRepeatParams(...)" in text
    broken(
        ContractError,
        "Muls: repeat strides without repeatTimes",
        lambda a, b: Muls(b, a, 2.0, 64, None, UnaryRepeatParams()),
    )


def test_an_equal_count_of_another_type_is_refused_warm_too():
    def body():
        u = Ub(a=(float32, 64), b=(float32, 64))
        Muls(u["b"], u["a"], 2.0, 64)
        Muls(u["b"], u["a"], 2.0, 64.0)

    fails(RepeatError, r"Muls: count is 64.0 \(float\): it must be an integer", body)
