"""What copies refuse, and what their texts say."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ascendsim.ascendc import *
from ascendsim.errors import (
    AlignmentError,
    BoundsError,
    ContractError,
    DtypeError,
    QueueError,
    RepeatError,
)
from tests.kit import Ub, fails, gm, run_block

NO_PAD = DataCopyPadParams()


def test_addresses():
    x = {"x": np.zeros(64, np.float16)}
    text = fails(
        AlignmentError,
        "DataCopy: dst starts at UB.0x2. of a",
        lambda x: DataCopy(Ub(a=(half, 64))["a"][1:], gm(x), 16),
        x,
    )
    assert "multiples of 32 bytes in UB" in text
    fails(
        AlignmentError,
        "DataCopyPad: src starts",
        lambda x: DataCopyPad(gm(x), Ub(a=(half, 64))["a"][1:], DataCopyParams(1, 2, 0, 0)),
        x,
    )
    odd = {"x": np.zeros(64, np.uint8)}
    text = fails(
        AlignmentError,
        r"DataCopy: src starts at x\[0x1\]",
        lambda x: DataCopy(Ub(a=(half, 64))["a"], gm(x[1:].cast(half)), 16),
        odd,
    )
    assert "must be a multiple of 2 bytes" in text
    # byte addresses are fine for DataCopyPad, and element addresses for DataCopy
    run_block(
        lambda x: DataCopyPad(
            Ub(a=(half, 64))["a"], gm(x[1:].cast(half)), DataCopyParams(1, 2, 0, 0)
        ),
        odd,
    )
    run_block(lambda x: DataCopy(Ub(a=(half, 64))["a"], gm(x)[1:], 16), x)


def test_bounds():
    x = {"x": np.zeros(256, np.float16)}
    text = fails(
        BoundsError,
        "DataCopy: dst needs UB.0x0, 0xa0.",
        lambda x: DataCopy(Ub(a=(half, 64))["a"], gm(x), 80),
        x,
    )
    assert "past the end of a float16 UB[0x0, 0x80) (160 of 128 bytes)" in text
    gap = DataCopyParams(2, 2, 0, 1)
    fails(
        BoundsError,
        "dst needs UB.0x0, 0xa0.",
        lambda x: DataCopy(Ub(a=(half, 64))["a"], gm(x), gap),
        x,
    )
    fails(
        BoundsError,
        r"DataCopyPad: padding reaches UB\[0x40\], past the end of a",
        lambda x: DataCopyPad(
            Ub(a=(half, 16), b=(half, 16))["a"],
            gm(x),
            DataCopyParams(1, 32, 0, 0),
            DataCopyPadParams(True, 0, 1, 0),
        ),
        x,
    )


def test_widths():
    def pad(params, padding=NO_PAD):
        return lambda x: DataCopyPad(Ub(a=(half, 4096))["a"], gm(x), params, padding)

    x = {"x": np.zeros(64, np.float16)}
    text = fails(
        RepeatError, "DataCopyParams.blockLen is 65536", pad(DataCopyParams(1, 65536, 0, 0)), x
    )
    assert "hardware would keep 0" in text
    fails(
        RepeatError,
        "blockCount is 4096: the field holds 0..4095",
        pad(DataCopyParams(4096, 2, 0, 0)),
        x,
    )
    fails(RepeatError, "srcStride is 65536", pad(DataCopyParams(1, 2, 65536, 0)), x)
    fails(RepeatError, "blockLen is 2097152", pad(DataCopyExtParams(1, 1 << 21, 0, 0, 0)), x)
    fails(
        RepeatError, "blockLen is 2.0: it must be an integer", pad(DataCopyParams(1, 2.0, 0, 0)), x
    )
    fails(
        ContractError,
        "blockLen is 3 bytes: it must hold whole float16",
        pad(DataCopyParams(1, 3, 0, 0)),
        x,
    )
    fails(ContractError, "dataCopyParams is 8: use DataCopyParams", pad(8), x)
    fails(ContractError, "padParams is 0", pad(DataCopyParams(1, 2, 0, 0), 0), x)
    text = fails(
        RepeatError,
        "padding of 0 and 17 float16",
        pad(DataCopyParams(1, 2, 0, 0), DataCopyPadParams(True, 0, 17, 0)),
        x,
    )
    assert "at most 32 bytes (16 elements)" in text
    wide = {"x": np.zeros(64, np.int64)}

    def of_64_bits(x):
        DataCopyPad(
            Ub(a=(int64, 64))["a"],
            gm(x),
            DataCopyParams(1, 8, 0, 0),
            DataCopyPadParams(True, 0, 1, 5),
        )

    fails(ContractError, "paddingValue of a 64-bit type must be 0", of_64_bits, wide)


def test_what_is_no_copy():
    x = {"x": np.zeros(64, np.float16)}
    fails(
        ContractError,
        "DataCopy: dst is GM x .* copies go GM to UB",
        lambda x: DataCopy(gm(x), gm(x), 16),
        x,
    )
    fails(
        ContractError,
        "DataCopyPad: one side is a GlobalTensor",
        lambda x: DataCopyPad(*[Ub(a=(half, 64))["a"]] * 2, DataCopyParams(1, 32, 0, 0)),
        x,
    )
    text = fails(
        DtypeError,
        "DataCopy: dst is float32 but src is float16",
        lambda x: DataCopy(Ub(a=(float32, 64))["a"], gm(x), 16),
        x,
    )
    assert "use ReinterpretCast, or Cast after the copy" in text


def test_counts_of_copies():
    x = {"x": np.zeros(64, np.float16)}
    fails(
        ContractError,
        "DataCopy: count is 16.0",
        lambda x: DataCopy(Ub(a=(half, 64))["a"], gm(x), 16.0),
        x,
    )
    fails(
        ContractError,
        "DataCopy: count is -16",
        lambda x: DataCopy(Ub(a=(half, 64))["a"], gm(x), -16),
        x,
    )
    many = {"x": np.zeros(16, np.uint8)}
    fails(
        ContractError,
        "more than 65535 datablocks",
        lambda x: DataCopy(Ub(a=(uint8, 64))["a"], gm(x), 65536 * 32),
        many,
    )


def test_a_freed_tensor():
    x = {"x": np.zeros(64, np.float16)}

    def freed(x):
        pipe, q = TPipe(), TQue(TPosition.VECIN, 1)
        pipe.InitBuffer(q, 1, 128)
        t = q.AllocTensor(half)
        q.FreeTensor(t)
        DataCopy(t, gm(x), 16)

    fails(QueueError, "whose buffer was freed; copy before FreeTensor", freed, x)


def test_a_bound_copy_refuses_what_it_refused_at_first():
    """The second call finds the first one's checks; what those do not cover is checked again."""
    x = {"x": np.zeros(64, np.float32)}

    def twice(first, second, pad=NO_PAD, free=False):
        def body(x):
            k = SimpleNamespace(pipe=TPipe(), q=TQue(TPosition.VECIN, 1))
            k.pipe.InitBuffer(k.q, 1, 256)
            tensor = k.q.AllocTensor(float32)
            DataCopyPad(tensor, gm(x), DataCopyParams(*first), NO_PAD)
            if free:
                k.q.FreeTensor(tensor)
            DataCopyPad(tensor, gm(x)[second[4] :], DataCopyParams(*second[:4]), pad)

        return body

    same = (1, 64, 0, 0)
    fails(RepeatError, "blockLen is 64.0", twice(same, (1, 64.0, 0, 0, 0)), x)
    fails(BoundsError, "src reaches x", twice(same, (*same, 60)), x)
    fails(QueueError, "freed", twice(same, (*same, 0), free=True), x)
    fails(ContractError, "use DataCopyPadParams", twice(same, (*same, 0), pad=None), x)
    float_pad = DataCopyPadParams(False, 0.0, 0, 0)
    fails(RepeatError, "leftPadding is 0.0", twice(same, (*same, 0), pad=float_pad), x)
    kinds = DataCopyExtParams(1, 64, 0, 0), DataCopyParams(1, 64, 0, 0)

    def body(x):
        u = Ub(a=(float32, 64))
        for params in (*kinds, *kinds):
            DataCopyPad(u["a"], gm(x), params, NO_PAD)

    fields = [c for c in run_block(body, x).calls if c["op"] == "DataCopyPad"]
    assert ["rsv" in call for call in fields] == [True, False, True, False]


def test_copies_to_gm_do_not_look_at_padding():
    def body(x):
        u = Ub(a=(float32, 64))
        for pad in (None, DataCopyPadParams(True, 0.5, 0, 0)):
            DataCopyPad(gm(x), u["a"], DataCopyParams(1, 12, 0, 0), pad)

    run_block(body, {"x": np.zeros(64, np.float32)})


def test_parameters_that_a_kernel_changes_are_read_anew():
    def body(x):
        u = Ub(a=(float32, 64))
        params, pad = DataCopyParams(1, 64, 0, 0), DataCopyPadParams()
        DataCopyPad(u["a"], gm(x), params, pad)
        params.blockLen = 32
        DataCopyPad(u["a"], gm(x), params, pad)
        pad.isPad, pad.rightPadding = True, 2
        DataCopyPad(u["a"], gm(x), params, pad)

    calls = [c for c in run_block(body, {"x": np.zeros(64, np.float32)}).calls if "isPad" in c]
    assert [(c["blockLen"], c["rightPadding"]) for c in calls] == [(64, 0), (32, 0), (32, 2)]
