"""Compare to mask bits, and select by mask bits.

Manual chapter: compare and select. Element i of a comparison is bit i%8 of byte i/8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ascendsim.enums import CMPMODE, SELMODE
from ascendsim.errors import ContractError, UbOverflow
from ascendsim.isa.declare import vector
from ascendsim.isa.params import BinaryRepeatParams, UnaryRepeatParams, check_widths
from ascendsim.isa.roles import BitsIn, BitsOut, In, Out, Scalar
from ascendsim.memory import Place
from ascendsim.numerics import compare, opcodes
from ascendsim.record import UB

SCRATCH_LANES = 32
_COMPARE = ("compare-bits", "compare-nan")


@vector(body="compare", arithmetic=False, rules=_COMPARE)
def Compare(dst: BitsOut, src0: In, src1: In, cmpMode: CMPMODE, env: int = 0) -> Any:
    """Set bit i of dst to src0[i] cmpMode src1[i].

    The count should span a multiple of 256 bytes; see the rule compare-tail. Exceptional values:
    a NaN operand gives 0, except NE (option ne_nan); -0 equals +0.
    """
    return compare.compare(src0, src1, cmpMode, env=env)


@vector(body="compares", arithmetic=False, rules=_COMPARE)
def Compares(dst: BitsOut, src: In, scalar: Scalar, cmpMode: CMPMODE, env: int = 0) -> Any:
    """Set bit i of dst to src[i] cmpMode scalar.

    The scalar is first rounded to the type of src. Otherwise as Compare.
    """
    return compare.compare(src, np.full(src.shape, scalar, src.dtype), cmpMode, env=env)


@vector(body="compares", arithmetic=False, rules=_COMPARE)
def CompareScalar(dst: BitsOut, src: In, scalar: Scalar, cmpMode: CMPMODE, env: int = 0) -> Any:
    """Set bit i of dst to src[i] cmpMode scalar: the older name of Compares."""
    return compare.compare(src, np.full(src.shape, scalar, src.dtype), cmpMode, env=env)


def _scratch(
    execute: Callable[..., Any], tensors: tuple[Any, ...], mode: SELMODE
) -> tuple[Callable[..., Any], tuple[tuple[int, int], ...]]:
    """Let Select write its hidden scratch as well, where the SoC has one inside the simulated UB.

    Content (assumed): the UB address of the mask, or the scalar, over and over.
    Source: asc-devkit impl/basic_api/dav_c220 and dav_m200, compare-select (code).
    """
    core = tensors[0].core
    start, nbytes = core.soc.select_scratch_offset, core.soc.select_scratch_bytes
    unused = core.options.select_scratch == "off" or mode is SELMODE.VSEL_CMPMASK_SPR
    if unused or start < 0 or start + nbytes > core.ub.nbytes:
        return execute, ()
    core.relied_on(("select-scratch",), "Select")
    element = 4 if mode is SELMODE.VSEL_TENSOR_TENSOR_MODE else tensors[0].dtype.nbytes
    opcode = core.bodies.opcode(f"duplicate_{element}")
    duplicate = core.bodies.entry(opcode)
    row = np.zeros(opcodes.ROW_WORDS, np.int64)
    row[opcodes.OP], row[opcodes.COUNT] = opcode, SCRATCH_LANES
    row[opcodes.DST] = core.ub.base + start
    scratch_row = row.ctypes.data
    scratch = Place(start, nbytes)
    word = float(tensors[-1].start) if mode is SELMODE.VSEL_TENSOR_TENSOR_MODE else None

    def with_scratch(address: int, scalar: float, row: np.ndarray = row) -> None:
        if core.ub_used > start:
            raise UbOverflow(
                f"Select writes scratch at UB[{start:#x}, {start + nbytes:#x}), which a buffer "
                f"holds; keep the buffers below {start:#x} (the framework reserves the rest)",
                finding="memcheck:reserved-ub",
            )
        core.used.add(scratch)
        duplicate(scratch_row, scalar if word is None else word)
        execute(address, scalar)

    end = start + SCRATCH_LANES * element
    return with_scratch, ((start, end),)


@vector(
    name="Select",
    body="select",
    bits=True,
    arithmetic=False,
    rules=("select-bits",),
    around=_scratch,
    depth=3,
)
def _SelectTensor(
    dst: Out, selMask: BitsIn, src0: In, src1: In, selMode: SELMODE, env: int = 0
) -> Any:
    """dst[i] = src0[i] where mask bit i is 1, else src1[i] (a tensor, or a scalar in mode 1).

    Mode 0 (VSEL_CMPMASK_SPR) uses the first 256 bytes' worth of bits again in every repeat; mode 1
    (VSEL_TENSOR_SCALAR_MODE) and mode 2 (VSEL_TENSOR_TENSOR_MODE) take one bit per element, on and
    on. Only count elements are stored. Exceptional values: bits are copied as they are.
    """
    return compare.select(selMask, src0, src1)


@vector(
    name="Select",
    body="selects",
    bits=True,
    arithmetic=False,
    rules=("select-bits",),
    around=_scratch,
    depth=3,
)
def _SelectScalar(
    dst: Out, selMask: BitsIn, src0: In, src1: Scalar, selMode: SELMODE, env: int = 0
) -> Any:
    """dst[i] = src0[i] where mask bit i is 1, else the scalar src1."""
    return compare.select(selMask, src0, np.full(src0.shape, src1, src0.dtype))


def Select(
    dst: Any,
    selMask: Any,
    src0: Any,
    src1: Any,
    selMode: SELMODE,
    count: Any,
    repeatTimes: int | None = None,
    repeatParams: Any = None,
    isSetMask: bool = True,
) -> None:
    """See `ascendsim isa Select`; src1 is a LocalTensor or, in mode 1, a scalar.

    BinaryRepeatParams serve both; the strides of src1 do not matter where it is a scalar.
    """
    tensor = getattr(src1, "space", None) == UB
    if tensor == (selMode is SELMODE.VSEL_TENSOR_SCALAR_MODE):
        wanted = "a scalar" if tensor else "a LocalTensor"
        raise ContractError(f"Select: src1 is {src1!r}: {selMode!s} takes {wanted} there")
    form = _SelectTensor if tensor else _SelectScalar
    if not tensor and isinstance(repeatParams, BinaryRepeatParams):
        check_widths(repeatParams)
        dst_strides, strides, _ = repeatParams.strides()
        repeatParams = UnaryRepeatParams(
            dst_strides[0], strides[0], dst_strides[1], strides[1]
        )  # fmt: skip
    form(dst, selMask, src0, src1, selMode, count, repeatTimes, repeatParams, isSetMask)
