"""Transpose matrices of 16 rows.

Manual chapter: data transformation (Transpose, TransDataTo5HD).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.errors import BoundsError, ContractError, RepeatError
from ascendsim.isa.footprint import Operand, meet, one_type, runs
from ascendsim.isa.params import TransDataTo5HDParams, check_widths
from ascendsim.isa.program import issue, make_call, program
from ascendsim.numerics import opcodes
from ascendsim.record import Call, current_core

TILE = 16
LIST_SIZE = 16


@program()
def Transpose(dst: Any, src: Any) -> None:
    """Transpose 16 x 16 elements of 16 bits: dst[j * 16 + i] = src[i * 16 + j].

    The form with a temporary buffer and shapes is not modelled. dst may be src.
    """
    issue("Transpose", (dst, src), (), _bind_transpose)


@program("format-lists")
def TransDataTo5HD(*arguments: Any) -> None:
    """Transpose 16 datablocks: datablock i of dstList gets element i of every block of srcList.

    Arguments: (dstList, srcList, TransDataTo5HDParams) with lists of 16 LocalTensors, or (T,
    dstList, srcList, params) with lists of 16 addresses (GetPhyAddr). Of 16-bit types a repeat is a
    16 x 16 transposition; of 32-bit types element i of the first eight sources goes to dstList[2i],
    that of the last eight to dstList[2i + 1]. 8-bit types are not modelled. Each list moves by its
    stride from repeat to repeat; all sources of a repeat are read before it is stored.
    """
    if len(arguments) == 4:
        T, *lists, params = arguments
        dst, src = (_at_addresses(as_dtype(T), each) for each in lists)
    elif len(arguments) == 3:
        dst, src, params = arguments
    else:
        raise ContractError("TransDataTo5HD: pass dstList, srcList and TransDataTo5HDParams(...)")
    for what, each in (("dstList", dst), ("srcList", src)):
        if not isinstance(each, Sequence) or len(each) != LIST_SIZE:
            raise ContractError(f"TransDataTo5HD: {what} must be a list of {LIST_SIZE} tensors")
    if not isinstance(params, TransDataTo5HDParams):
        raise ContractError(f"TransDataTo5HD: {params!r}: use TransDataTo5HDParams(...)")
    check_widths(params)
    issue("TransDataTo5HD", (*dst, *src), (params,), _bind_format)


def _at_addresses(dtype: DType, addresses: Any) -> list[Any]:
    """Return the tensors of this block's buffers that start at UB addresses."""
    core = current_core()
    found = []
    for address in addresses:
        for buffer in (b for holder in core.holders for b in holder.buffers if b.state):
            if buffer.start <= address < buffer.start + buffer.nbytes:
                found.append(buffer.view(dtype)[(address - buffer.start) // dtype.nbytes :])
                break
        else:
            raise BoundsError(f"TransDataTo5HD: no allocated buffer has UB address {address:#x}")
    return found


def _bind_transpose(name: str, tensors: tuple[Any, Any]) -> Call:
    dtype = one_type(name, tensors)
    span = ((0, TILE * TILE * dtype.nbytes),)
    operands = (Operand("dst", tensors[0], span, True), Operand("src", tensors[1], span))
    if meet(*operands) and tensors[0].start != tensors[1].start:
        raise RepeatError("dst overlaps src in part: undefined on hardware; use two buffers")
    words = {opcodes.G_REPEATS: 2, opcodes.P_ELEMENT: dtype.nbytes}
    return make_call(name, "transpose", operands, TILE * TILE, words, {"count": TILE * TILE})


def _bind_format(name: str, *given: Any) -> Call:
    tensors, params = given
    dtype, repeats = one_type(name, tensors), params.repeatTimes
    parts = tensors[:LIST_SIZE], tensors[LIST_SIZE:]
    steps = [s * DATABLOCK_BYTES for s in (params.dstRepStride, params.srcRepStride)]
    lists, offsets = [], []
    for role, part, step in zip(("dst", "src"), parts, steps, strict=True):
        spans = runs([step * r for r in range(repeats)], DATABLOCK_BYTES)
        names = [f"{role}List[{k}]" for k in range(LIST_SIZE)]
        lists.append(
            [Operand(n, t, spans, role == "dst") for n, t in zip(names, part, strict=True)]
        )
        offsets += [t.start - part[0].start for t in part]
    (into, *more_into), (out_of, *more_out_of) = lists
    operands = [into, out_of, *more_into, *more_out_of]  # the row holds where the lists begin
    words = {
        opcodes.G_REPEATS: repeats,
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_DST_REPEAT: steps[0],
        opcodes.P_SRC_REPEAT: steps[1],
    }
    count = repeats * LIST_SIZE * DATABLOCK_BYTES // dtype.nbytes
    fields = {"repeatTimes": repeats}
    call = make_call(name, "format", operands, count, words, fields, len(offsets))
    call.row[1][opcodes.PARAMETER_WORDS :] = offsets
    return call
