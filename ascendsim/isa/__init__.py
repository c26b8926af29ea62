"""The instruction set: one file per chapter of the Ascend C manual.

REGISTRY holds the declared vector instructions, COPIES and ORDER the others; together with the
chapters they are what `ascendsim isa` shows and what kernels import through ascendc.py.
"""

from ascendsim.isa import arith, compare, compound, convert, copy, fill, logic, sync, unary
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
from ascendsim.isa.compare import Compare, Compares, CompareScalar, Select
from ascendsim.isa.compound import Axpy, FusedMulAdd, MulAddDst
from ascendsim.isa.convert import Cast, SetDeqScale
from ascendsim.isa.copy import DataCopy, DataCopyPad
from ascendsim.isa.declare import REGISTRY, Decl
from ascendsim.isa.fill import Duplicate
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
from ascendsim.isa.rules import RULES, Rule
from ascendsim.isa.sync import (
    GetBlockIdx,
    GetBlockNum,
    GetTPipePtr,
    PipeBarrier,
    SetFlag,
    WaitFlag,
)
from ascendsim.isa.unary import Abs, Exp, Ln, Reciprocal, Relu, Rsqrt, Sqrt
