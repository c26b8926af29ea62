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
    CacheMode,
    HardEvent,
    MaskMode,
    QuePosition,
    RoundMode,
    TPosition,
)
from ascendsim.isa import (
    REGISTRY,
    Abs,
    Add,
    Adds,
    And,
    Ands,
    Axpy,
    Cast,
    Compare,
    Compares,
    CompareScalar,
    DataCopy,
    DataCopyPad,
    Div,
    Divs,
    Duplicate,
    Exp,
    FusedMulAdd,
    GetBlockIdx,
    GetBlockNum,
    GetTPipePtr,
    LeakyRelu,
    Ln,
    Max,
    Maxs,
    Min,
    Mins,
    Mul,
    MulAddDst,
    Muls,
    Not,
    Or,
    Ors,
    PipeBarrier,
    Reciprocal,
    Relu,
    ResetMask,
    Rsqrt,
    Select,
    SetDeqScale,
    SetFlag,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    ShiftLeft,
    ShiftRight,
    Sqrt,
    Sub,
    Subs,
    WaitFlag,
)
from ascendsim.isa.params import (
    BinaryRepeatParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    UnaryRepeatParams,
)
from ascendsim.pipe import TBuf, TPipe, TQue, TQueBind
from ascendsim.tensor import GlobalTensor, GmAddress, LocalTensor

PIPE_S, PIPE_V = PIPE.PIPE_S, PIPE.PIPE_V
PIPE_MTE2, PIPE_MTE3, PIPE_ALL = PIPE.PIPE_MTE2, PIPE.PIPE_MTE3, PIPE.PIPE_ALL

MASK_PLACEHOLDER = 0  # what stands for the mask in calls with isSetMask=False


def sizeof(T: DType) -> int:
    """Return the bytes of one element of `T`."""
    return T.nbytes


APIS = sorted(
    {
        *REGISTRY,
        "DataCopy",
        "DataCopyPad",
        "GetBlockIdx",
        "GetBlockNum",
        "PipeBarrier",
        "ResetMask",
        "SetDeqScale",
        "SetFlag",
        "SetMaskCount",
        "SetMaskNorm",
        "SetVectorMask",
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
        "HasIdleBuffer",
        "HasTensorInQue",
        "Init",
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
    "DataCopyExtParams",
    "DataCopyPadExtParams",
    "DataCopyPadParams",
    "DataCopyParams",
    "GlobalTensor",
    "LocalTensor",
    "TBuf",
    "TPipe",
    "TQue",
    "TQueBind",
    "UnaryRepeatParams",
]

_HIDDEN = {"annotations", "REGISTRY", "APIS", "MEMBERS", "TYPES", "DType"}
__all__ = [name for name in dir() if not name.startswith("_") and name not in _HIDDEN]
