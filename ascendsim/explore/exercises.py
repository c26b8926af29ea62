"""One use of everything that kernels may call and that is no declared vector instruction.

Each function raises when what it uses does not behave; with a second argument it is run once per
element type. `EXERCISES` maps the names of `ascendsim isa` to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ascendsim import ascendc
from ascendsim.ascendc import (
    BinaryRepeatParams,
    CacheMode,
    DataCopy,
    DataCopyExtParams,
    DataCopyPad,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    GetBlockIdx,
    GetBlockNum,
    GlobalTensor,
    HardEvent,
    LocalTensor,
    Muls,
    PipeBarrier,
    ResetMask,
    SetDeqScale,
    SetFlag,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    TBuf,
    TPosition,
    TQue,
    TQueBind,
    UnaryRepeatParams,
    WaitFlag,
    float32,
    uint8,
)
from ascendsim.dtypes import ALL, DType
from ascendsim.enums import PIPE
from ascendsim.explore.bench import Bench, sample
from ascendsim.isa import LIBRARY

TYPED = tuple(dtype.name for dtype in ALL)
# parameter structures exist where their instruction does, for its element types
BELONGS_TO = {
    "DataCopyParams": "DataCopy",
    "DataCopyExtParams": "DataCopyPad",
    "DataCopyPadParams": "DataCopyPad",
    "DataCopyPadExtParams": "DataCopyPad",
    "BrcbRepeatParams": "Brcb",
    "CopyRepeatParams": "Copy",
    "GatherMaskParams": "GatherMask",
    "GatherRepeatParams": "Gatherb",
    "MrgSort4Info": "MrgSort",
    "MrgSortSrcList": "MrgSort",
    "TransDataTo5HDParams": "TransDataTo5HD",
}
EXERCISES: dict[str, Callable[..., None]] = {}


def uses(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the exercise of these names."""

    def register(exercise: Callable[..., None]) -> Callable[..., None]:
        EXERCISES.update(dict.fromkeys(names, exercise))
        return exercise

    return register


@uses("DataCopy", "DataCopyParams")
def _data_copy(bench: Bench, dtype: DType) -> None:
    values = sample(dtype, 128)
    source, target = bench.gm(dtype, values), bench.gm(dtype, np.zeros_like(values))
    first, second = bench.local(dtype, 128), bench.local(dtype, 128)
    DataCopy(first, source, 128)
    DataCopy(second, first, 128)
    DataCopy(target, second, DataCopyParams(2, 64 * dtype.nbytes // 32, 0, 0))
    same(target.holder.array, values)


@uses("DataCopyPad", "DataCopyExtParams", "DataCopyPadParams", "DataCopyPadExtParams")
def _data_copy_pad(bench: Bench, dtype: DType) -> None:
    values = sample(dtype, 37)
    source, target = bench.gm(dtype, values), bench.gm(dtype, np.zeros_like(values))
    local = bench.local(dtype, 64)
    whole = DataCopyExtParams(1, values.nbytes, 0, 0, 0)
    DataCopyPad(local, source, whole, DataCopyPadExtParams(dtype, False, 0, 0, 0))
    DataCopyPad(local, source, DataCopyParams(1, values.nbytes, 0, 0), DataCopyPadParams())
    DataCopyPad(target, local, whole)
    same(target.holder.array, values)


@uses("PipeBarrier")
def _pipe_barrier(bench: Bench) -> None:
    for pipe in (PIPE.PIPE_V, PIPE.PIPE_MTE2, PIPE.PIPE_MTE3, PIPE.PIPE_ALL):
        PipeBarrier(pipe)


@uses("SetFlag", "WaitFlag", "AllocEventID", "FetchEventID", "ReleaseEventID")
def _flags(bench: Bench) -> None:
    for event in HardEvent:
        if event is HardEvent.V_V:  # order within V is PipeBarrier
            continue
        number = bench.pipe.AllocEventID(event)
        equal(bench.pipe.FetchEventID(event), number + 1)
        SetFlag(event, number)
        WaitFlag(event, number)
        bench.pipe.ReleaseEventID(event, number)
        equal(bench.pipe.FetchEventID(event), number)


@uses("GetBlockIdx", "GetBlockNum")
def _block_numbers(bench: Bench) -> None:
    equal((GetBlockIdx(), GetBlockNum()), (0, 1))


@uses(
    "TQue",
    "AllocTensor",
    "EnQue",
    "DeQue",
    "FreeTensor",
    "VacantInQue",
    "HasTensorInQue",
    "HasIdleBuffer",
    "GetTensorCountInQue",
    "FreeAllEvent",
)
def _queue(bench: Bench, dtype: DType) -> None:
    for queue in (TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)):
        _pass_through(bench, queue, dtype)


@uses("TQueBind")
def _bound_queue(bench: Bench, dtype: DType) -> None:
    _pass_through(bench, TQueBind(TPosition.VECIN, TPosition.VECOUT, 2), dtype)


def _pass_through(bench: Bench, queue: Any, dtype: DType) -> None:
    bench.pipe.InitBuffer(queue, 2, 64 * dtype.nbytes)
    first, second = queue.AllocTensor(dtype), queue.AllocTensor(dtype)
    equal((queue.HasIdleBuffer(), queue.HasTensorInQue()), (False, False))
    queue.EnQue(first)
    queue.EnQue(second)
    equal((queue.GetTensorCountInQue(), queue.VacantInQue()), (2, False))
    for sent in (first, second):
        equal(queue.DeQue(dtype) is sent, True)
        queue.FreeTensor(sent)
    queue.FreeAllEvent()
    equal((queue.HasIdleBuffer(), queue.VacantInQue()), (True, True))


@uses("TPipe", "Init", "Reset", "Destroy", "InitBuffer")
def _pipe(bench: Bench) -> None:
    for restart in (bench.pipe.Reset, bench.pipe.Destroy, bench.pipe.Init):
        restart()
        if restart != bench.pipe.Destroy:
            buffer = TBuf(TPosition.VECCALC)
            bench.pipe.InitBuffer(buffer, 100)
            equal((buffer.Get(uint8).GetSize(), buffer.Get(uint8).GetPhyAddr()), (128, 0))


@uses("TBuf", "Get", "LocalTensor", "GetSize", "SetSize", "GetPhyAddr")
def _local_tensor(bench: Bench, dtype: DType) -> None:
    buffer = TBuf(TPosition.VECCALC)
    bench.pipe.InitBuffer(buffer, 64 * dtype.nbytes)
    tensor = buffer.Get(dtype)
    equal((isinstance(tensor, LocalTensor), tensor.GetSize()), (True, 64))
    equal(buffer.Get(dtype, 32).GetSize(), 32)
    equal(tensor[32:].GetPhyAddr() - tensor.GetPhyAddr(), 32 * dtype.nbytes)
    equal(buffer.AllocTensor(dtype).GetSize(), 64)
    tensor.SetSize(32)
    equal(tensor.GetSize(), 32)


@uses("ReinterpretCast")
def _reinterpret(bench: Bench, dtype: DType) -> None:
    values = sample(dtype, 64)
    tensor = bench.local(dtype, values)
    for other in ALL:
        seen = tensor.ReinterpretCast(other)
        equal(seen.GetSize(), values.nbytes // other.nbytes)
        same(bench.bytes_of(seen)[: values.nbytes], values.view(np.uint8))


@uses("GetValue@UB", "SetValue@UB")
def _values_in_ub(bench: Bench, dtype: DType) -> None:
    values = sample(dtype, 32)
    tensor = bench.local(dtype, values)
    tensor.SetValue(31, 3)
    values[31] = 3
    same(np.array([tensor.GetValue(i) for i in range(32)], dtype.numpy), values)


@uses("GetValue@GM", "SetValue@GM", "GlobalTensor", "SetGlobalBuffer")
def _values_in_gm(bench: Bench, dtype: DType) -> None:
    values = sample(dtype, 33)
    tensor = GlobalTensor(dtype)
    tensor.SetGlobalBuffer(bench.address(dtype, values), 33)
    equal(tensor.GetSize(), 33)
    tensor[1:].SetValue(31, 3)
    values[32] = 3
    same(np.array([tensor.GetValue(i) for i in range(33)], dtype.numpy), values)


@uses("SetL2CacheHint")
def _cache_hint(bench: Bench) -> None:
    values = np.arange(64, dtype=np.float32)
    source, local = bench.gm(float32, values), bench.local(float32, 64)
    for mode in reversed(CacheMode):
        source.SetL2CacheHint(mode)
        equal((source.cache, source[1:].cache), (mode, mode))
        DataCopy(local, source, 64)  # the hint changes no byte
        same(bench.array(local, 64), values)


@uses("SetVectorMask", "ResetMask", "SetMaskNorm")
def _vector_mask(bench: Bench) -> None:
    values = np.arange(128, dtype=np.float32)
    source, target = bench.local(float32, values), bench.local(float32, np.zeros_like(values))
    SetMaskNorm()
    SetVectorMask(float32, 0, 0b101)
    Muls(target, source, 2.0, 0, 2, isSetMask=False)
    ResetMask()
    want = np.where(np.isin(values % 64, (0, 2)), 2 * values, np.float32(0))
    same(bench.array(target, 128), want.astype(np.float32))


@uses("SetMaskCount")
def _mask_count(bench: Bench) -> None:
    if not bench.core.soc.has_counter_mode:
        return
    values = np.arange(128, dtype=np.float32)
    source, target = bench.local(float32, values), bench.local(float32, np.zeros_like(values))
    SetMaskCount()
    SetVectorMask(float32, 70)
    Muls(target, source, 2.0, 0, 1, isSetMask=False)
    SetMaskNorm()
    same(bench.array(target, 128), np.where(values < 70, 2 * values, np.float32(0)))


@uses("SetDeqScale")
def _deq_scale(bench: Bench) -> None:
    SetDeqScale(0.1)
    equal(bench.core.deq_scale, float(np.float16(0.1)))


@uses("UnaryRepeatParams", "BinaryRepeatParams")
def _repeat_params(bench: Bench) -> None:
    equal(BinaryRepeatParams(1, 1, 1, 8, 8, 8), BinaryRepeatParams())
    values = np.arange(128, dtype=np.float32)
    source, target = bench.local(float32, values), bench.local(float32, np.zeros_like(values))
    Muls(target, source, 2.0, 64, 2, UnaryRepeatParams(1, 1, 8, 0))  # the first repeat, twice
    same(bench.array(target, 128), np.tile(values[:64], 2) * np.float32(2))


def equal(got: Any, want: Any) -> None:
    """Raise unless two values are equal."""
    if got != want:
        raise AssertionError(f"got {got}, want {want}")


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Raise unless two arrays hold the same bytes."""
    if got.tobytes() != want.tobytes():
        raise AssertionError("the bytes that came out are not those that went in")


def _library(name: str, bench: Bench, dtype: DType) -> None:
    """Run a function of the library in its forms; all give what its array body gives."""
    decl, call = LIBRARY[name], getattr(ascendc, name)
    operands = [sample(dtype, 70, turn) for turn, _ in enumerate(decl.operands[1:])]
    names = [name for name, _ in decl.operands[1:]]
    want = decl.compute(dst=None, **dict(zip(names, operands, strict=True)), env=bench.core.env)
    sources = [bench.local(dtype, values) for values in operands]
    for rest in ((), (70,), (bench.local(uint8, 4096),), (bench.local(uint8, 4096), 70)):
        target = bench.local(dtype, 96)
        if not rest or not isinstance(rest[-1], int):
            sources[0].SetSize(70)
        call(target, *sources, *rest)
        same(bench.array(target, 70), want)


EXERCISES.update({name: partial(_library, name) for name in LIBRARY})
