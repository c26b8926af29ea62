"""All that a kernel author imports: `from ascendsim.ascendc import *`.

Names are those of Ascend C. Fixed translations: a template argument becomes the first argument
(`queue.AllocTensor(half)`), `gm[offset]` is `gm[offset:]`, `float` is `float32`.
"""

from __future__ import annotations

from ascendsim.dtypes import (
    NOT_MODELLED,
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
    LIBRARY,
    REGISTRY,
    Abs,
    Acos,
    Acosh,
    Add,
    Adds,
    And,
    Ands,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Axpy,
    Cast,
    Ceil,
    Compare,
    Compares,
    CompareScalar,
    Cos,
    Cosh,
    DataCopy,
    DataCopyPad,
    Div,
    Divs,
    Duplicate,
    Erf,
    Erfc,
    Exp,
    Floor,
    FusedMulAdd,
    GetBlockIdx,
    GetBlockNum,
    GetTPipePtr,
    LeakyRelu,
    Ln,
    Log,
    Log2,
    Log10,
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
    Power,
    Reciprocal,
    Relu,
    ResetMask,
    Round,
    Rsqrt,
    Select,
    SetDeqScale,
    SetFlag,
    SetMaskCount,
    SetMaskNorm,
    SetVectorMask,
    ShiftLeft,
    ShiftRight,
    Sigmoid,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Sub,
    Subs,
    Tan,
    Tanh,
    Trunc,
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

# types that are not modelled: their names lead to an error that says so
int4b_t, fp4x2_e2m1_t, fp4x2_e1m2_t, fp8_e4m3fn_t, fp8_e5m2_t = NOT_MODELLED[:5]
fp8_e8m0_t, hifloat8_t, double, complex32, complex64 = NOT_MODELLED[5:]
MASK_PLACEHOLDER = 0  # what stands for the mask in calls with isSetMask=False


def sizeof(T: DType) -> int:
    """Return the bytes of one element of `T`."""
    return T.nbytes


APIS = sorted(
    {
        *REGISTRY,
        *LIBRARY,
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

_HIDDEN = {"annotations", "REGISTRY", "LIBRARY", "NOT_MODELLED"}
_HIDDEN |= {"APIS", "MEMBERS", "TYPES", "DType"}
__all__ = [name for name in dir() if not name.startswith("_") and name not in _HIDDEN]
