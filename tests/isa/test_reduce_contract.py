"""What a reduction refuses, and what it leaves for its readers."""

from __future__ import annotations

import numpy as np

from ascendsim.ascendc import *
from ascendsim.errors import (
    AlignmentError,
    BoundsError,
    ContractError,
    DtypeError,
    QueueError,
    RepeatError,
    UnsupportedError,
)
from tests.kit import Ub, fails, peek, put, run_block

T64 = {"d": (float32, 64), "s": (float32, 64)}


def broken(error, match, use, soc="ascend910b1", **buffers):
    def body():
        u = Ub(**(buffers or T64))
        use(*(u[name] for name in buffers or T64))

    return fails(error, match, body, soc=soc)


def test_contract():
    sum_of = WholeReduceSum
    broken(AlignmentError, "src starts at UB.0x10c.* multiple of 32",
           lambda d, s: sum_of(d, s[3:], 8, 1, 1, 1, 8))  # fmt: skip
    broken(AlignmentError, "WholeReduceMax: dst .* multiple of 8 bytes",
           lambda d, s: WholeReduceMax(d[1:], s, 64, 1, 1, 1, 8))  # fmt: skip
    broken(BoundsError, "src needs UB.*512 of 256", lambda d, s: sum_of(d, s, 64, 2, 1, 1, 8))
    broken(BoundsError, "dst needs UB", lambda d, s: sum_of(d, s, 64, 65, 1, 1, 0))
    broken(RepeatError, "repeatTime is 256.*0..255", lambda d, s: sum_of(d, s, 64, 256, 1, 1, 8))
    broken(RepeatError, "srcRepStride is 65536", lambda d, s: sum_of(d, s, 64, 1, 1, 1, 65536))
    broken(RepeatError, "repeatTime is 1.0: it must be an integer",
           lambda d, s: sum_of(d, s, 64, 1.0, 1, 1, 8))  # fmt: skip
    broken(
        RepeatError, "mask selects no lane", lambda d, s: sum_of(d, s, 0, 1, 1, 1, 8), "ascend950"
    )
    broken(ContractError, "order is 1: use one of ReduceOrder",
           lambda d, s: WholeReduceMax(d, s, 64, 1, 1, 1, 8, 1))  # fmt: skip
    broken(UnsupportedError, "ORDER_ONLY_INDEX is not available on ascend310p: use ORDER_VALUE",
           lambda d, s: WholeReduceMax(d, s, 64, 1, 1, 1, 8, ReduceOrder.ORDER_ONLY_INDEX),
           "ascend310p")  # fmt: skip
    broken(DtypeError, "int32 is not available on ascend910b1: use float32, float16",
           lambda d, s: sum_of(d, s, 64, 1, 1, 1, 8), d=(int32, 64), s=(int32, 64))  # fmt: skip
    broken(DtypeError, "dst is float32 but a source is float16",
           lambda d, s: sum_of(d, s, 64, 1, 1, 1, 8), d=(float32, 64), s=(half, 64))  # fmt: skip
    broken(ContractError, "dstRepStride is 0: not supported on 910",
           lambda d, s: sum_of(d, s, 64, 1, 0, 1, 8), "ascend910",
           d=(half, 64), s=(half, 64))  # fmt: skip
    broken(ContractError, "operand 1 is 3", lambda d, s: sum_of(d, 3, 64, 1, 1, 1, 8))


def test_contract_of_all():
    three = {"d": (half, 32), "s": (half, 512), "t": (half, 16)}
    broken(BoundsError, "sharedTmpBuffer is .* need 288 bytes",
           lambda d, s, t: ReduceSum(d, s, t, [1, 0], 130, 0), **three)  # fmt: skip
    broken(BoundsError, "sharedTmpBuffer is t .* repeats need",
           lambda d, s, t: ReduceMax(d, s, t, 2176, True),
           d=(half, 32), s=(half, 2176), t=(half, 16))  # fmt: skip
    broken(ContractError, "131072 half elements with calIndex",
           lambda d, s, t: ReduceMax(d, s, t, 128, 1024, 0, True), **three)  # fmt: skip
    broken(RepeatError, "count is -1", lambda d, s, t: ReduceMin(d, s, t, -1), **three)
    broken(
        AlignmentError,
        "dst .* multiple of 4",
        lambda d, s, t: ReduceMin(d[1:], s, t, 9, True),
        **three,
    )

    def freed():
        queue = TQue(TPosition.VECIN, 1)
        pipe = TPipe()
        pipe.InitBuffer(queue, 1, 256)
        t = queue.AllocTensor(float32)
        queue.FreeTensor(t)
        WholeReduceSum(t, t, 64, 1, 1, 1, 8)

    fails(QueueError, "WholeReduceSum: .* buffer that was freed", freed)


def test_nothing_to_reduce():
    def body():
        u = Ub(d=(float32, 64), s=(float32, 64), t=(float32, 64))
        put(u["d"], np.full(64, 5, np.float32))
        ReduceSum(u["d"], u["s"], u["t"], 0)
        WholeReduceSum(u["d"], u["s"], 64, 0, 1, 1, 8)
        WholeReduceSum(u["d"], u["s"], 0, 1, 1, 1, 8)
        assert set(peek(u["d"])) == {5}

    run_block(body)


def test_records():
    def body():
        u = Ub(d=(half, 128), s=(half, 256), t=(half, 128))
        WholeReduceMax(u["d"], u["s"], [0b1001, 0], 2, 3, 1, 8)
        BlockReduceSum(u["d"], u["s"], 2, 33, 2, 1, 8)
        ReduceMax(u["d"], u["s"], u["t"], 200, True)

    block = run_block(body)
    whole, parts, best = [r for r in block.records if "Reduce" in r.call.name]
    spans = [{a.role: r.call.ranges(a) for a in r.call.accesses} for r in (whole, parts, best)]
    assert spans[0] == {
        "dst": [(0, 4), (12, 16)],
        "src0": [(256, 258), (262, 264), (512, 514), (518, 520)],
    }
    assert spans[1]["dst"] == [(0, 6), (32, 38)]
    assert spans[2] == {"dst": [(0, 4)], "src0": [(256, 656)], "tmp": [(768, 832)]}
    assert {a.role for a in best.call.accesses if a.writes} == {"dst", "tmp"}
    logged = next(c for c in block.calls if c["op"] == "WholeReduceMax")
    assert (logged["mask"], logged["repeatTimes"], logged["order"]) == (9, 2, "ORDER_VALUE_INDEX")
    assert "dst_crc" in logged
    assert whole.where.file == __file__
    assert block.rules["reduce-tree"] == "documented"
    assert block.rules["reduce-nan"] == "assumed"
