"""One use of everything that concerns several blocks, GM, pools and single numbers.

Importing this module adds them to `EXERCISES`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ascendsim.ascendc import (
    DataCacheCleanAndInvalid,
    DataCopy,
    GetTPipePtr,
    IBSet,
    IBWait,
    InitGlobalMemory,
    InitOutput,
    ScalarCast,
    SetAtomicAdd,
    SetAtomicMax,
    SetAtomicMin,
    SetAtomicNone,
    SyncAll,
    TBuf,
    TBufPool,
    ToBfloat16,
    ToFloat,
    TPosition,
    TQue,
    float32,
    int32,
)
from ascendsim.dtypes import DType, bfloat16
from ascendsim.enums import CacheLine, DcciDst, RoundMode
from ascendsim.explore.bench import Bench, sample
from ascendsim.explore.exercises import equal, same, uses
from ascendsim.numerics import arith


@uses("SetAtomicAdd", "SetAtomicMax", "SetAtomicMin")
def _atomic(bench: Bench, dtype: DType) -> None:
    env = bench.core.env
    twins: tuple[Callable[..., Any], ...] = arith.add, arith.maximum, arith.minimum
    if dtype.kind != "float":
        plain = np.add, np.maximum, np.minimum
        twins = tuple(lambda a, b, env, f=f: f(a, b) for f in plain)
    for call, twin in zip((SetAtomicAdd, SetAtomicMax, SetAtomicMin), twins, strict=True):
        row = bench.core.soc.ops.get(call.__name__)
        if row is None or dtype.name not in row.dtypes:
            continue
        old, new = sample(dtype, 96, 1), sample(dtype, 96, 2)
        target, local = bench.gm(dtype, old), bench.local(dtype, new)
        call(dtype)
        DataCopy(target, local, 96)
        SetAtomicNone()
        same(target.holder.array, twin(old, new, env=env))
        DataCopy(target, local, 96)
        same(target.holder.array, new)


@uses("SetAtomicNone")
def _not_atomic(bench: Bench) -> None:
    target, local = bench.gm(float32, np.ones(8, np.float32)), bench.local(float32, 8)
    SetAtomicAdd(float32)
    SetAtomicNone()
    DataCopy(target, local, 8)
    same(target.holder.array, bench.array(local, 8))


@uses("InitGlobalMemory", "InitOutput")
def _initial_values(bench: Bench, dtype: DType) -> None:
    target = bench.gm(dtype, np.zeros(40, dtype.numpy))
    InitGlobalMemory(target, 33, 3)
    InitOutput(target[33:], 5)
    want = np.zeros(40, dtype.numpy)
    want[:33] = 3
    same(target.holder.array, want)


@uses("SyncAll")
def _sync(bench: Bench) -> None:
    if bench.core.soc.arch in ("c220", "3510"):
        SyncAll()
    words, local = bench.gm(int32, np.zeros(8, np.int32)), bench.local(int32, 8)
    SyncAll(words, local)
    SyncAll(words, local)
    equal((int(words.holder.array[0]), int(bench.array(local, 8)[0])), (2, 2))


@uses("IBSet", "IBWait")
def _set_and_wait(bench: Bench) -> None:
    words, local = bench.gm(int32, np.zeros(24, np.int32)), bench.local(int32, 8)
    IBSet(words, local, 0, 2)
    equal(list(np.flatnonzero(words.holder.array)), [16])
    IBWait(words, local, 0, 2)
    equal(int(words.holder.array.any()), 0)


@uses("DataCacheCleanAndInvalid")
def _data_cache(bench: Bench) -> None:
    target = bench.gm(float32, np.zeros(8, np.float32))
    target.SetValue(3, 5.0)
    DataCacheCleanAndInvalid(float32, CacheLine.SINGLE_CACHE_LINE, DcciDst.CACHELINE_OUT, target)
    DataCacheCleanAndInvalid(target)
    equal(float(target.holder.array[3]), 5.0)


@uses("GetTPipePtr")
def _pipe_pointer(bench: Bench) -> None:
    equal(GetTPipePtr() is bench.pipe, True)


@uses("GetWithOffset")
def _with_offset(bench: Bench, dtype: DType) -> None:
    buffer = TBuf(TPosition.VECCALC)
    bench.pipe.InitBuffer(buffer, 1024)
    part = buffer.GetWithOffset(dtype, 64, 64)
    equal((part.GetSize(), part.start - buffer.Get(dtype).start), (64, 64))


@uses("TBufPool", "InitBufPool")
def _pools(bench: Bench) -> None:
    first, second = TBufPool(TPosition.VECCALC), TBufPool(TPosition.VECCALC)
    bench.pipe.InitBufPool(first, 1024)
    bench.pipe.InitBufPool(second, 512, first)
    queue, buffer = TQue(TPosition.VECIN, 1), TBuf(TPosition.VECCALC)
    first.InitBuffer(queue, 1, 256)
    start = queue.AllocTensor(float32).start
    first.Reset()
    second.InitBuffer(buffer, 100)
    equal(buffer.Get(float32).start, start)


@uses("ToFloat", "ToBfloat16", "ScalarCast")
def _scalars(bench: Bench) -> None:
    number = bfloat16.numpy.type(3.140625)
    equal((ToFloat(number), ToBfloat16(3.14159)), (np.float32(3.140625), number))
    equal(type(ToFloat(number)), np.float32)
    equal(ScalarCast(float32, int32, RoundMode.CAST_ROUND, 2.5), 3)
