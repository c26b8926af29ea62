"""What gathers, broadcasts, progressions and transpositions refuse."""

from __future__ import annotations

import numpy as np

from ascendsim.ascendc import *
from ascendsim.errors import (
    AlignmentError,
    BoundsError,
    ContractError,
    DtypeError,
    OverlapError,
    RepeatError,
    UnsupportedError,
)
from tests.isa.test_reduce_contract import broken
from tests.kit import put


def test_contract_of_format_lists():
    both = {"d": (half, 256), "s": (half, 256)}

    def lists(d, s):
        return [[t[16 * k :] for k in range(16)] for t in (d, s)]

    params = TransDataTo5HDParams
    broken(BoundsError, r"srcList\[15\] needs UB",
           lambda d, s: TransDataTo5HD(*lists(d, s), params(False, False, 2, 0, 1)),
           **both)  # fmt: skip
    broken(ContractError, "dstList must be a list of 16 tensors",
           lambda d, s: TransDataTo5HD([d], [s], params()), **both)  # fmt: skip
    broken(RepeatError, "repeatTimes is 256",
           lambda d, s: TransDataTo5HD(*lists(d, s), params(False, False, 256)),
           **both)  # fmt: skip
    broken(BoundsError, "no allocated buffer has UB address 0x400",
           lambda d, s: TransDataTo5HD(half, [1024] * 16, [0] * 16, params()), **both)  # fmt: skip
    eight = {"d": (int8, 512), "s": (int8, 512)}
    broken(DtypeError, "int8 is not available",
           lambda d, s: TransDataTo5HD(*lists(d, s), params()), **eight)  # fmt: skip


def test_contract():
    u16 = {"d": (uint16, 256), "s": (uint16, 256), "o": (uint32, 128)}
    broken(OverlapError, "Gather: dst and src share bytes",
           lambda d, s, o: Gather(s[128:], s, o, 0, 16), **u16)  # fmt: skip
    broken(DtypeError, "srcOffset is uint16: use uint32",
           lambda d, s, o: Gather(d, s, s, 0, 16), **u16)  # fmt: skip

    def offset(value):
        def use(d, s, o):
            put(o, np.array([0, value], np.uint32))
            Gather(d, s, o, 0, 2)

        return use

    broken(BoundsError, r"srcOffset\[1\] is 512: bytes .* leave s uint16", offset(512), **u16)
    broken(AlignmentError, r"srcOffset\[1\] is 3, no multiple of 2 bytes", offset(3), **u16)
    broken(UnsupportedError, "ascend910 has no Gather", offset(0), "ascend910", **u16)
    broken(RepeatError, "Brcb: repeatTime is -1",
           lambda d, s, o: Brcb(d, s, -1, BrcbRepeatParams(1, 8)), **u16)  # fmt: skip
    broken(RepeatError, "dstBlkStride is 0",
           lambda d, s, o: Brcb(d, s, 1, BrcbRepeatParams(0, 8)), **u16)  # fmt: skip
    broken(OverlapError, "Brcb: dst and src share",
           lambda d, s, o: Brcb(d, d, 1, BrcbRepeatParams(1, 8)), **u16)  # fmt: skip
    broken(RepeatError, "dstRepeatSize is 4096",
           lambda d, s, o: Copy(d, s, 8, 1, CopyRepeatParams(1, 1, 4096, 8)), **u16)  # fmt: skip
    broken(ContractError, "Copy: no count form on ascend910b1: pass mask",
           lambda d, s, o: Copy(d, s, 8), **u16)  # fmt: skip


def test_contract_of_masks_and_progressions():
    u16 = {"d": (uint16, 256), "s": (uint16, 256), "o": (uint32, 128)}
    mask = GatherMaskParams(1, 1, 8, 0)
    broken(RepeatError, "src1Pattern is 8: it must be 1..7",
           lambda d, s, o: GatherMask(d, s, 8, False, 0, mask), **u16)  # fmt: skip
    broken(DtypeError, "src1Pattern is uint32: uint16 takes mask bits as uint16",
           lambda d, s, o: GatherMask(d, s, o, False, 0, mask), **u16)  # fmt: skip
    broken(UnsupportedError, "pattern 7 is not available on ascend310p",
           lambda d, s, o: GatherMask(d, s, 7, False, 0, mask), "ascend310p", **u16)  # fmt: skip

    def full(d, s):
        put(s, np.full(256, 0xFFFF, np.uint16))
        GatherMask(d, s, s[128:], False, 0, mask)

    broken(BoundsError, "keeps 128 elements, past the end of d uint16", full,
           d=(uint16, 16), s=(uint16, 256))  # fmt: skip
    broken(BoundsError, "GatherMask: dst needs UB",
           lambda d, s: GatherMask(d, s, 1, False, 0, mask),
           d=(uint16, 16), s=(uint16, 256))  # fmt: skip
    broken(ContractError, "diffValue is -1: it must not be negative",
           lambda d: ArithProgression(d, 0, -1, 8), d=(int32, 8))  # fmt: skip
    broken(BoundsError, "CreateVecIndex: dst needs",
           lambda d: CreateVecIndex(d, 0, 9), d=(int32, 8))  # fmt: skip
    broken(DtypeError, "uint8 is not available", lambda d: CreateVecIndex(d, 0, 9), d=(uint8, 32))
    broken(RepeatError, "dst overlaps src in part",
           lambda d, s: Transpose(d[16:], d), d=(half, 512), s=(half, 512))  # fmt: skip
