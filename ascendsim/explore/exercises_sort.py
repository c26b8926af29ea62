"""One use of what sorts, spreads and moves datablocks, against array twins or numpy.

Importing this module adds them to `EXERCISES`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim import ascendc
from ascendsim.ascendc import (
    Concat,
    Extract,
    Gatherb,
    GatherRepeatParams,
    GetDataBlockSizeInBytes,
    GetMrgSortResult,
    GetSubBlockNum,
    MrgSort,
    MrgSort4Info,
    MrgSortSrcList,
    ReduceSum,
    ScalarCountLeadingZero,
    Sort,
    Sort32,
    Trap,
    float32,
    pipe_barrier,
)
from ascendsim.dtypes import DType, uint32
from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES, PIPE
from ascendsim.errors import KernelError
from ascendsim.explore.bench import Bench, sample
from ascendsim.explore.exercises import equal, same, uses
from ascendsim.numerics import sort
from ascendsim.tensor import GmAddressList

LANES, REPEATS = 32, 4
COUNT = LANES * REPEATS


def _pairs(bench: Bench, dtype: DType) -> tuple[tuple[Any, Any], tuple[np.ndarray, np.ndarray]]:
    """Return scores without NaN, many of them equal, and indices: as tensors and as arrays."""
    scores = sample(dtype, COUNT)
    scores = np.where(np.isnan(scores.astype(np.float32)), dtype.numpy.type(1), scores)
    scores[40:60] = scores[10]
    indices = np.random.default_rng(2).integers(0, 1 << 32, COUNT, np.uint32)
    return (bench.local(dtype, scores), bench.local(uint32, indices)), (scores, indices)


def _records(bench: Bench, tensor: Any, count: int = COUNT) -> np.ndarray:
    return bench.bytes_of(tensor)[: 8 * count].copy().view(np.uint64)


def _room(bench: Bench, dtype: DType) -> Any:
    return bench.local(dtype, 8 * COUNT // dtype.nbytes)


@uses("Sort32", "Sort")
def _sorts(bench: Bench, dtype: DType) -> None:
    tensors, arrays = _pairs(bench, dtype)
    target, scratch = _room(bench, dtype), _room(bench, dtype)
    Sort32(target, *tensors, REPEATS)
    same(_records(bench, target), sort.sorted_records(*arrays, LANES))
    for full in (False, True):
        Sort(target, *tensors, scratch, REPEATS, isFullSort=full)
        same(_records(bench, target), sort.sorted_records(*arrays, COUNT if full else LANES))


@uses("Extract")
def _extract(bench: Bench, dtype: DType) -> None:
    tensors, (scores, indices) = _pairs(bench, dtype)
    target = _room(bench, dtype)
    Sort32(target, *tensors, REPEATS)
    values, places = bench.local(dtype, COUNT), bench.local(uint32, COUNT)
    Extract(values, places, target, REPEATS)
    found = sort.sorted_records(scores, indices, LANES)
    same(bench.array(values, COUNT), sort.scores_of(found, dtype.numpy))
    same(bench.array(places, COUNT), (found >> np.uint64(32)).astype(np.uint32))


@uses("Concat")
def _concat(bench: Bench) -> None:
    source, scratch = bench.local(float32, 64), bench.local(float32, 64)
    equal(Concat(source, scratch, 4) is source, True)


@uses("MrgSort", "MrgSort4Info", "MrgSortSrcList")
def _merge(bench: Bench, dtype: DType) -> None:
    tensors, arrays = _pairs(bench, dtype)
    runs, target = _room(bench, dtype), _room(bench, dtype)
    Sort32(runs, *tensors, REPEATS)
    step = 8 * LANES // dtype.nbytes
    queues = [runs[step * k :] for k in range(REPEATS)]
    lines = list(sort.sorted_records(*arrays, LANES).reshape(REPEATS, LANES))
    for number, valid in ((2, 3), (3, 7), (4, 15)):
        for suspend in (False, True):
            lengths = [32, 20, 7, 31]
            MrgSort(target, MrgSortSrcList(*queues), MrgSort4Info(lengths, suspend, valid, 1))
            parts = [line[:n] for line, n in zip(lines[:number], lengths, strict=False)]
            want, taken = sort.merged(parts, dtype.numpy, suspend)
            same(_records(bench, target, want.size), want)
            if suspend:
                equal(GetMrgSortResult()[:number], tuple(taken))
    numbers = [0] * 4
    MrgSort(target, MrgSortSrcList(*queues), [LANES] * 4, numbers, 15, 1)
    same(_records(bench, target), sort.merged(lines, dtype.numpy, False)[0])


@uses("GetMrgSortResult")
def _merge_result(bench: Bench) -> None:
    queues = [bench.local(float32, np.array([k, 0], np.float32)) for k in (5, 4)]
    target, numbers = bench.local(float32, 4), [0] * 4
    MrgSort(
        target, MrgSortSrcList(*queues), [1, 1, 0, 0], numbers, 3, 1, isExhaustedSuspension=True
    )
    equal((numbers, GetMrgSortResult()), ([1, 0, 0, 0], (1, 0, 0, 0)))


@uses("BroadCast", "Broadcast")
def _broadcast(bench: Bench, dtype: DType) -> None:
    source, values = bench.local(dtype, sample(dtype, 64)), sample(dtype, 64)
    target = bench.local(dtype, 64 * 40)
    for call in (ascendc.BroadCast, ascendc.Broadcast):
        if call.__name__ not in bench.core.soc.ops:
            continue
        call(target, source, [37], [1], dim=1, axis=0)
        same(bench.array(target, 37), np.repeat(values[:1], 37))
        call(target, source, [32, 37], [32, 1], bench.local(dtype, 64), dim=2, axis=1)
        same(bench.array(target, 32 * 37), np.repeat(values[:32], 37))
        call(target, source, [5, 32], [1, 32], dim=2, axis=0)
        same(bench.array(target, 5 * 32), np.tile(values[:32], 5))


@uses("Gatherb", "GatherRepeatParams")
def _gather_blocks(bench: Bench, dtype: DType) -> None:
    lanes = DATABLOCK_BYTES // dtype.nbytes
    values = sample(dtype, 20 * lanes)
    order = np.random.default_rng(0).integers(0, 20, 2 * BLOCKS_PER_REPEAT)
    offsets = bench.local(uint32, (order * DATABLOCK_BYTES).astype(np.uint32))
    source, target = bench.local(dtype, values), bench.local(dtype, 2 * order.size * lanes)
    Gatherb(target, source, offsets, 2, GatherRepeatParams(0, 8))
    same(bench.array(target, order.size * lanes), values.reshape(20, lanes)[order].reshape(-1))
    Gatherb(target, source, offsets, 2, GatherRepeatParams(2, 16))
    got = bench.array(target, 2 * order.size * lanes).reshape(order.size, 2, lanes)[:, 0]
    same(np.ascontiguousarray(got), values.reshape(20, lanes)[order])


@uses("GetAccVal", "GetReduceRepeatSumSpr")
def _sum_register(bench: Bench, dtype: DType) -> None:
    source, target = bench.local(dtype, np.ones(70, dtype.numpy)), bench.local(dtype, 32)
    ReduceSum(target, source, target, 70)
    for name in ("GetAccVal", "GetReduceRepeatSumSpr"):
        equal(float(getattr(ascendc, name)(dtype)), 70.0)


@uses("GetDataBlockSizeInBytes", "ScalarCountLeadingZero", "pipe_barrier", "Trap")
def _plain(bench: Bench) -> None:
    equal(
        (GetDataBlockSizeInBytes(), ScalarCountLeadingZero(1), ScalarCountLeadingZero(0)),
        (32, 63, 64),
    )
    pipe_barrier(PIPE.PIPE_ALL)
    try:
        Trap()
    except KernelError:
        return
    raise AssertionError("Trap did not end the kernel")


@uses("GetSubBlockNum")
def _sub_blocks(bench: Bench) -> None:
    equal(GetSubBlockNum(), 1)


@uses("ListTensorDesc", "TensorDesc", "GetDataPtr", "GetDesc")
def _tensor_lists(bench: Bench) -> None:
    arrays = [np.arange(3 * k, 3 * k + 3, dtype=np.float32) for k in range(2)]
    found = ascendc.ListTensorDesc(GmAddressList([bench.address(float32, a) for a in arrays]))
    equal(found.GetSize(), 2)
    for k, values in enumerate(arrays):
        tensor = ascendc.GlobalTensor(float32)
        tensor.SetGlobalBuffer(found.GetDataPtr(float32, k), 3)
        equal([float(tensor.GetValue(i)) for i in range(3)], values.tolist())
        if bench.core.soc.arch != "c100":
            desc, shape = ascendc.TensorDesc(float32), [0] * 8
            desc.SetShapeAddr(shape)
            found.GetDesc(desc, k)
            equal((desc.GetDim(), desc.GetIndex(), desc.GetShape(0), shape[0]), (1, k, 3, 3))
            equal(float(desc.GetDataObj().GetValue(1)), float(values[1]))
