"""Enumerations and the few numbers of the architecture, under their Ascend C names.

IntEnum, since these sit in hashed keys of every call: its hash is the integer's.
Sources: the numbers of RoundMode, CMPMODE and SELMODE follow the Ascend C reference (documented).
"""

from __future__ import annotations

from enum import IntEnum

DATABLOCK_BYTES = 32
REPEAT_BYTES = 256
BLOCKS_PER_REPEAT = REPEAT_BYTES // DATABLOCK_BYTES
MAX_REPEAT_TIMES = 255


class _Named(IntEnum):
    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)


class RoundMode(_Named):
    """How Cast rounds; CAST_NONE rounds to nearest even where precision is lost."""

    CAST_NONE = 0
    CAST_RINT = 1
    CAST_FLOOR = 2
    CAST_CEIL = 3
    CAST_ROUND = 4
    CAST_TRUNC = 5
    CAST_ODD = 6


class CMPMODE(_Named):
    """The six comparisons."""

    LT = 0
    GT = 1
    EQ = 2
    LE = 3
    GE = 4
    NE = 5


class SELMODE(_Named):
    """Where Select takes its mask bits from and what its second source is."""

    VSEL_CMPMASK_SPR = 0
    VSEL_TENSOR_SCALAR_MODE = 1
    VSEL_TENSOR_TENSOR_MODE = 2


class ReduceOrder(_Named):
    """What WholeReduceMax and WholeReduceMin store, and in which order."""

    ORDER_VALUE_INDEX = 0
    ORDER_INDEX_VALUE = 1
    ORDER_ONLY_VALUE = 2
    ORDER_ONLY_INDEX = 3


class CacheLine(_Named):
    """How much of the scalar data cache DataCacheCleanAndInvalid writes back."""

    SINGLE_CACHE_LINE = 0
    ENTIRE_DATA_CACHE = 1


class DcciDst(_Named):
    """Which memory's cache lines DataCacheCleanAndInvalid works on."""

    CACHELINE_ALL = 0
    CACHELINE_UB = 1
    CACHELINE_OUT = 2
    CACHELINE_ATOMIC = 3


class MaskMode(_Named):
    """What a mask counts: lanes of a repeat, or the elements of a whole instruction."""

    NORMAL = 0
    COUNTER = 1


class PIPE(_Named):
    """The in-order units of a vector core."""

    PIPE_S = 0
    PIPE_V = 1
    PIPE_MTE2 = 4
    PIPE_MTE3 = 5
    PIPE_ALL = 6


class CacheMode(_Named):
    """Whether copies of a GlobalTensor allocate in L2 (NORMAL) or bypass it (DISABLE)."""

    CACHE_MODE_DISABLE = 0
    CACHE_MODE_NORMAL = 1


class TPosition(_Named):
    """Logical position of a buffer; VECIN, VECOUT and VECCALC lie in UB, GM in global memory."""

    GM = 0
    VECIN = 9
    VECOUT = 10
    VECCALC = 11


QuePosition = TPosition


class HardEvent(_Named):
    """Legal (source pipe, destination pipe) pairs of SetFlag and WaitFlag on a vector core."""

    MTE2_V = 2
    V_MTE2 = 3
    MTE3_V = 4
    V_MTE3 = 5
    V_V = 10
    MTE3_MTE2 = 11
    MTE2_MTE3 = 12
    S_V = 13
    V_S = 14
    S_MTE2 = 15
    MTE2_S = 16
    S_MTE3 = 17
    MTE3_S = 18

    @property
    def pipes(self) -> tuple[PIPE, PIPE]:
        """Source and destination pipe of the flag."""
        return _PIPES[self]


def _pipes(event: HardEvent) -> tuple[PIPE, PIPE]:
    source, _, destination = event.name.partition("_")
    return PIPE[f"PIPE_{source}"], PIPE[f"PIPE_{destination}"]


_PIPES = {event: _pipes(event) for event in HardEvent}
