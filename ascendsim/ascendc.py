"""All that a kernel author imports: `from ascendsim.ascendc import *`.

Names are those of Ascend C. Fixed translations: a template argument becomes the first argument
(`queue.AllocTensor(half)`), `gm[offset]` is `gm[offset:]`, `float` is `float32`.
"""

from __future__ import annotations

from ascendsim.dtypes import (
    DType,
    bfloat16,
    bfloat16_t,
    float16,
    float32,
    half,
    int8,
    int8_t,
    int16,
    int16_t,
    int32,
    int32_t,
    int64,
    int64_t,
    uint8,
    uint8_t,
    uint16,
    uint16_t,
    uint32,
    uint32_t,
    uint64,
    uint64_t,
)
from ascendsim.enums import (
    CMPMODE,
    PIPE,
    SELMODE,
    CacheLine,
    CacheMode,
    DcciDst,
    HardEvent,
    QuePosition,
    ReduceOrder,
    RoundMode,
    TPosition,
)
from ascendsim.isa import (
    PROGRAM_RULES,
    REGISTRY,
    Abs,
    Add,
    Adds,
    ArithProgression,
    BlockReduceMax,
    BlockReduceMin,
    BlockReduceSum,
    Brcb,
    Cast,
    Compare,
    Compares,
    CompareScalar,
    Copy,
    CreateVecIndex,
    DataCacheCleanAndInvalid,
    DataCopy,
    DataCopyPad,
    Div,
    Duplicate,
    Exp,
    Gather,
    GatherMask,
    GetBlockIdx,
    GetBlockNum,
    GetTPipePtr,
    IBSet,
    IBWait,
    InitGlobalMemory,
    InitOutput,
    Ln,
    Max,
    Maxs,
    Min,
    Mins,
    Mul,
    Muls,
    PairReduceSum,
    PipeBarrier,
    ReduceMax,
    ReduceMin,
    ReduceSum,
    ScalarCast,
    Select,
    SetAtomicAdd,
    SetAtomicMax,
    SetAtomicMin,
    SetAtomicNone,
    SetFlag,
    Sqrt,
    Sub,
    SyncAll,
    ToBfloat16,
    ToFloat,
    TransDataTo5HD,
    Transpose,
    WaitFlag,
    WholeReduceMax,
    WholeReduceMin,
    WholeReduceSum,
)
from ascendsim.isa.params import (
    BinaryRepeatParams,
    BrcbRepeatParams,
    CopyRepeatParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    GatherMaskParams,
    TransDataTo5HDParams,
    UnaryRepeatParams,
)
from ascendsim.pipe import TBuf, TBufPool, TPipe, TQue, TQueBind
from ascendsim.tensor import GlobalTensor, GmAddress, LocalTensor

PIPE_S, PIPE_V = PIPE.PIPE_S, PIPE.PIPE_V
PIPE_MTE2, PIPE_MTE3, PIPE_ALL = PIPE.PIPE_MTE2, PIPE.PIPE_MTE3, PIPE.PIPE_ALL


def sizeof(T: DType) -> int:
    """Return the bytes of one element of `T`."""
    return T.nbytes


APIS = sorted(
    {
        *REGISTRY,
        *PROGRAM_RULES,
        "DataCopy",
        "DataCopyPad",
        "GetBlockIdx",
        "GetBlockNum",
        "GetTPipePtr",
        "PipeBarrier",
        "SetFlag",
        "WaitFlag",
    }
)
MEMBERS = sorted(
    {
        "AllocEventID",
        "AllocTensor",
        "DeQue",
        "Destroy",
        "EnQue",
        "FetchEventID",
        "FreeAllEvent",
        "FreeTensor",
        "Get",
        "GetPhyAddr",
        "GetSize",
        "GetTensorCountInQue",
        "GetValue@GM",
        "GetValue@UB",
        "GetWithOffset",
        "HasIdleBuffer",
        "HasTensorInQue",
        "Init",
        "InitBufPool",
        "InitBuffer",
        "ReinterpretCast",
        "ReleaseEventID",
        "Reset",
        "SetGlobalBuffer",
        "SetL2CacheHint",
        "SetSize",
        "SetValue@GM",
        "SetValue@UB",
        "VacantInQue",
    }
)
TYPES = [
    "BinaryRepeatParams",
    "BrcbRepeatParams",
    "CopyRepeatParams",
    "DataCopyExtParams",
    "DataCopyPadExtParams",
    "DataCopyPadParams",
    "DataCopyParams",
    "GatherMaskParams",
    "GlobalTensor",
    "LocalTensor",
    "TBuf",
    "TBufPool",
    "TPipe",
    "TQue",
    "TQueBind",
    "TransDataTo5HDParams",
    "UnaryRepeatParams",
]

_HIDDEN = {"annotations", "PROGRAM_RULES", "REGISTRY", "APIS", "MEMBERS", "TYPES", "DType"}
__all__ = [name for name in dir() if not name.startswith("_") and name not in _HIDDEN]
