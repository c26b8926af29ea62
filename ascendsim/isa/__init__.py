"""The instruction set: one file per chapter of the Ascend C manual.

REGISTRY holds the declared vector instructions, COPIES and ORDER the others; together with the
chapters they are what `ascendsim isa` shows and what kernels import through ascendc.py.
"""

from ascendsim.isa import (
    arith,
    compare,
    compound,
    convert,
    copy,
    fill,
    gather,
    logic,
    multicore,
    reduce,
    sort,
    spread,
    sync,
    unary,
)
from ascendsim.isa.arith import (
    Add,
    Adds,
    Div,
    Divs,
    LeakyRelu,
    Max,
    Maxs,
    Min,
    Mins,
    Mul,
    Muls,
    Sub,
    Subs,
)
from ascendsim.isa.atomic import (
    InitGlobalMemory,
    InitOutput,
    SetAtomicAdd,
    SetAtomicMax,
    SetAtomicMin,
    SetAtomicNone,
)
from ascendsim.isa.compare import Compare, Compares, CompareScalar, Select
from ascendsim.isa.compound import Axpy, FusedMulAdd, MulAddDst, SubRelu
from ascendsim.isa.convert import Cast, SetDeqScale
from ascendsim.isa.copy import DataCopy, DataCopyPad
from ascendsim.isa.declare import REGISTRY, Decl
from ascendsim.isa.fill import ArithProgression, Brcb, CreateVecIndex, Duplicate
from ascendsim.isa.gather import Copy, Gather, GatherMask
from ascendsim.isa.library import (
    LIBRARY,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Erfc,
    Floor,
    Log,
    Log2,
    Log10,
    Power,
    Round,
    Sigmoid,
    Sign,
    Sin,
    Sinh,
    Tan,
    Tanh,
    Trunc,
)
from ascendsim.isa.logic import And, Ands, Not, Or, Ors, ShiftLeft, ShiftRight
from ascendsim.isa.masks import ResetMask, SetMaskCount, SetMaskNorm, SetVectorMask
from ascendsim.isa.multicore import DataCacheCleanAndInvalid, IBSet, IBWait, SyncAll
from ascendsim.isa.program import PROGRAM_RULES
from ascendsim.isa.reduce import (
    BlockReduceMax,
    BlockReduceMin,
    BlockReduceSum,
    PairReduceSum,
    WholeReduceMax,
    WholeReduceMin,
    WholeReduceSum,
)
from ascendsim.isa.reduce_all import (
    GetAccVal,
    GetReduceRepeatSumSpr,
    ReduceMax,
    ReduceMin,
    ReduceSum,
)
from ascendsim.isa.rules import RULES, Rule
from ascendsim.isa.scalar import ScalarCast, ScalarCountLeadingZero, ToBfloat16, ToFloat
from ascendsim.isa.sort import Concat, Extract, GetMrgSortResult, MrgSort, Sort, Sort32
from ascendsim.isa.spread import BroadCast, Broadcast, Gatherb
from ascendsim.isa.sync import (
    GetBlockIdx,
    GetBlockNum,
    GetDataBlockSizeInBytes,
    GetSubBlockNum,
    GetTPipePtr,
    PipeBarrier,
    SetFlag,
    Trap,
    WaitFlag,
    pipe_barrier,
)
from ascendsim.isa.transpose import TransDataTo5HD, Transpose
from ascendsim.isa.unary import Abs, Exp, Ln, Reciprocal, Relu, Rsqrt, Sqrt
