"""Mask registers: normal and counter mode, per architecture, and what calls leave in them."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, DtypeError, RepeatError, UnsupportedError
from tests.kit import EVERY_SOC, Ub, fails, peek, put, run_block

COUNTING = tuple(soc for soc in EVERY_SOC if soc != "ascend910")
FULL = BinaryRepeatParams()


def lanes(body, soc="ascend910b1", count=512, T=half):
    """Return which elements of dst `body(dst, src)` writes: src is one, dst was zero."""
    found = []

    def kernel():
        u = Ub(a=(T, count), b=(T, count))
        put(u["a"], np.ones(count, T.numpy))
        put(u["b"], np.zeros(count, T.numpy))
        body(u["b"], u["a"])
        found.append(np.flatnonzero(peek(u["b"])))

    run_block(kernel, soc=soc)
    return found[0].tolist()


def adds(dst, src, **names):
    Adds(dst, src, 1.0, MASK_PLACEHOLDER, 2, isSetMask=False, **names)


@pytest.mark.parametrize("soc", EVERY_SOC)
def test_vector_mask_in_normal_mode(soc):
    def bits(dst, src):
        SetMaskNorm()
        SetVectorMask(half, MaskMode.NORMAL, 1 << 63, 0b101)
        adds(dst, src)

    def first(dst, src):
        SetVectorMask(half, 3)
        adds(dst, src)

    assert lanes(bits, soc) == [0, 2, 127, 128, 130, 255]
    assert lanes(first, soc) == [0, 1, 2, 128, 129, 130]


@pytest.mark.parametrize("soc", COUNTING)
def test_a_new_pipe_ends_counter_mode_and_forgets_the_mask(soc):
    def kernel():
        SetMaskCount()
        SetVectorMask(3)
        u = Ub(a=(half, 256), b=(half, 256))  # makes a TPipe
        put(u["a"], np.ones(256, np.float16))
        put(u["b"], np.zeros(256, np.float16))
        with pytest.raises(ContractError, match="isSetMask=False takes the mask register"):
            adds(u["b"], u["a"])
        Adds(u["b"], u["a"], 1.0, 3, 2, UnaryRepeatParams())
        found.extend(np.flatnonzero(peek(u["b"])).tolist())

    found = []
    result = run_block(kernel, soc=soc)
    assert found == [0, 1, 2, 128, 129, 130]
    assert result.rules["new-pipe-registers"] == "assumed"


def test_masks_of_32_bit_types():
    def body(dst, src):
        SetVectorMask(float32, 0, 1 << 63 | 1)
        adds(dst, src)

    assert lanes(body, T=float32) == [0, 63, 64, 127]


@pytest.mark.parametrize("soc", COUNTING)
def test_counter_mode(soc):
    """The mask counts elements of the whole instruction; strides hold, repeat times do not."""

    def register(dst, src):
        SetMaskCount()
        SetVectorMask(half, MaskMode.COUNTER, 130)
        Adds(dst, src, 1.0, MASK_PLACEHOLDER, 1, UnaryRepeatParams(1, 1, 16, 8), isSetMask=False)

    def own(dst, src):
        SetMaskCount()
        Adds(dst, src, 1.0, 130, 9, UnaryRepeatParams(2, 1, 16, 8))

    assert lanes(register, soc) == [*range(128), 256, 257]
    blocks = [32 * (k // 16) + k % 16 for k in range(128)]
    assert lanes(own, soc) == [*blocks, 256, 257]


def test_count_form_in_counter_mode():
    def body(dst, src):
        SetMaskCount()
        SetVectorMask(half, MaskMode.COUNTER, 70)
        Adds(dst, src, 1.0, 1, isSetMask=False)

    assert lanes(body) == list(range(70))
    # 950 has no mask register in its count form
    assert lanes(body, "ascend950") == [0]


@pytest.mark.parametrize(("soc", "after"), [("ascend910b1", 256), ("ascend310p", 256)])
def test_a_count_form_resets_mode_and_mask(soc, after):
    def body(dst, src):
        SetMaskCount()
        SetVectorMask(half, MaskMode.COUNTER, 5)
        Adds(dst, src, 1.0, 1)
        Adds(dst, src, 1.0, 128, 2)

    assert lanes(body, soc) == list(range(after))


def test_a_call_with_its_own_mask_sets_the_register():
    def body(dst, src):
        ResetMask()
        Adds(dst, src, 0.0, 4, 1)
        adds(dst[128:], src)

    assert lanes(body) == [0, 1, 2, 3, *range(128, 132), *range(256, 260)]


def test_reset_mask_is_all_lanes():
    def body(dst, src):
        SetVectorMask(half, 3)
        ResetMask()
        adds(dst, src)

    assert lanes(body) == list(range(256))


def test_registers_end_with_the_block():
    seen = []

    def body():
        u = Ub(a=(half, 256), b=(half, 256))
        put(u["b"], np.zeros(256, np.float16))
        put(u["a"], np.ones(256, np.float16))
        Adds(u["b"], u["a"], 1.0, 128, 1)
        seen.append(np.count_nonzero(peek(u["b"])))
        SetMaskCount()

    run_block(body, block_dim=3)
    assert seen == [128, 128, 128]


def test_zero_masks_and_repeats():
    zero = lambda dst, src: Adds(dst, src, 1.0, [0, 0], 2)  # noqa: E731
    none = lambda dst, src: Adds(dst, src, 1.0, 128, 0)  # noqa: E731
    assert lanes(zero) == lanes(none) == lanes(none, "ascend950") == []
    for soc in ("ascend910", "ascend310p", "ascend950"):
        with pytest.raises(RepeatError, match="mask selects no lane"):
            lanes(zero, soc)


def test_fields_have_their_real_widths():
    def binary(dst, src):
        Add(dst, src, src, 8, 2, BinaryRepeatParams(1, 1, 1, 264, 8, 8))

    def unary(dst, src):
        Adds(dst, src, 1.0, 8, 1, UnaryRepeatParams(264, 1, 8, 8))

    with pytest.raises(RepeatError, match=r"dstRepStride is 264: the field holds .* \(8 bits"):
        lanes(binary)
    assert lanes(unary) == list(range(8))  # its block strides have 16 bits
    with pytest.raises(RepeatError, match="repeatTimes is 256: one instruction"):
        lanes(lambda dst, src: Add(dst, src, src, 8, 256, FULL))


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (ContractError, "takes the mask register, which the kernel did not set", adds),
        (ContractError, "needs counter mode", lambda d, s: Adds(d, s, 1.0, 8, isSetMask=False)),
        (RepeatError, r"SetVectorMask\(1, 2, 3\): use len", lambda d, s: SetVectorMask(1, 2, 3)),
        (RepeatError, "use len, or maskHigh and maskLow", lambda d, s: SetVectorMask(half, -1)),
        (
            ContractError,
            "MaskMode.COUNTER|COUNTER in the other mode; call SetMaskCount first",
            lambda d, s: SetVectorMask(half, MaskMode.COUNTER, 3),
        ),
    ],
)
def test_broken_rules(error, match, call):
    with pytest.raises(error, match=match):
        lanes(call)


def test_counter_mode_has_its_limits():
    def body():
        u = Ub(a=(float32, 64), m=(uint8, 32))
        SetMaskCount()
        Compare(u["m"], u["a"], u["a"], CMPMODE.LT, 64, 1, FULL)

    fails(UnsupportedError, "Compare: counter mode .* not modelled for mask bits", body)
    fails(UnsupportedError, "ascend910 has no counter mode", SetMaskCount, soc="ascend910")


def test_types_without_a_repeat_form():
    def body():
        u = Ub(a=(int8, 256), b=(int8, 256))
        Add(u["b"], u["a"], u["a"], 256)
        Add(u["b"], u["a"], u["a"], 128, 1, FULL)

    text = fails(
        DtypeError, "Add: int8 has no form with mask and repeatTimes", body, soc="ascend950"
    )
    assert "use the count form" in text
