"""Fill a tensor: with a scalar, with the elements of another, with a progression.

Manual chapter: data filling; ArithProgression is of the library chapter on indices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES, PIPE, REPEAT_BYTES
from ascendsim.errors import ContractError, RepeatError
from ascendsim.isa import geometry as geo
from ascendsim.isa.declare import vector
from ascendsim.isa.footprint import (
    Operand,
    check_operands,
    from_start,
    mask_key,
    mask_of,
    one_type,
    refuse_overlap,
    repeats_of,
    runs,
    supported,
    whole,
)
from ascendsim.isa.params import BrcbRepeatParams, check_widths
from ascendsim.isa.program import issue, make_call, program
from ascendsim.isa.roles import Out, Scalar
from ascendsim.numerics import opcodes
from ascendsim.numerics.progression import progression
from ascendsim.record import UB, Access, Call

MAX_COUNT = (1 << 31) - 1
MAX_BLOCK_STRIDE, MAX_REPEAT_STRIDE = 65535, 255


@vector(body="duplicate", bits=True, arithmetic=False)
def Duplicate(dst: Out, scalar: Scalar, env: int = 0) -> Any:
    """Store the scalar, as bits of the type of dst, in every element.

    The repeat form takes dstBlockStride and dstRepeatStride instead of a parameter structure.
    Exceptional values: every pattern is copied as it is, NaN payloads and -0 too.
    """
    return np.full(dst.shape, scalar, dst.dtype)


@program()
def Brcb(dst: Any, src: Any, repeatTime: int, repeatParams: BrcbRepeatParams) -> None:
    """Spread elements over datablocks: element k of src fills 32 bytes of dst.

    Each repeat takes the next eight elements of src and fills eight datablocks, dstBlkStride apart;
    repeats are dstRepStride apart. dst and src must not share bytes. Exceptional values: bits are
    copied as they are.
    """
    if not isinstance(repeatParams, BrcbRepeatParams):
        raise ContractError(f"Brcb: repeatParams is {repeatParams!r}: use BrcbRepeatParams(...)")
    check_widths(repeatParams)
    strides = repeatParams.dstBlkStride, repeatParams.dstRepStride
    issue("Brcb", (dst, src), (repeats_of("Brcb", repeatTime), *strides), _bind_brcb)


def _bind_brcb(name: str, tensors: tuple[Any, Any], repeats: int, block: int, repeat: int) -> Call:
    dst, src = tensors
    dtype = one_type(name, tensors)
    if not block:
        raise RepeatError("dstBlkStride is 0: undefined on hardware; use at least 1")
    starts = [
        DATABLOCK_BYTES * (r * repeat + b * block)
        for r in range(repeats)
        for b in range(BLOCKS_PER_REPEAT)
    ]
    taken = repeats * BLOCKS_PER_REPEAT * dtype.nbytes
    operands = (
        Operand("dst", dst, runs(starts, DATABLOCK_BYTES), True),
        Operand("src", src, from_start(taken)),
    )
    refuse_overlap(*operands)
    words = {
        opcodes.G_REPEATS: repeats,
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_DST_BLOCK: block * DATABLOCK_BYTES,
        opcodes.P_DST_REPEAT: repeat * DATABLOCK_BYTES,
    }
    fields = {"repeatTimes": repeats, "dstBlkStride": block, "dstRepStride": repeat}
    return make_call(name, "broadcast", operands, repeats * BLOCKS_PER_REPEAT, words, fields)


@program("progression-chain")
def CreateVecIndex(
    dst: Any,
    firstValue: Any,
    count: Any,
    repeatTime: int | None = None,
    dstBlkStride: int = 1,
    dstRepStride: int = 8,
) -> None:
    """Store firstValue, firstValue + 1, ... in the first `count` elements, or in masked lanes.

    Forms: CreateVecIndex(dst, firstValue, count) and CreateVecIndex(dst, firstValue, mask,
    repeatTime, dstBlkStride, dstRepStride); lane i of repeat r holds firstValue + i + r times the
    lanes of a repeat, whether the mask selects the lanes before it or not. Integers wrap. Where the
    numbers of a float type are not exact, they are those of the chain of additions that computes
    them (rule progression-chain). On hardware the scalar unit makes the first datablock.
    """
    dtype = _filled("CreateVecIndex", dst)
    first = dtype.to_bits(firstValue)
    if repeatTime is None:
        given: tuple[Any, ...] = (whole("CreateVecIndex", "count", count, 0, MAX_COUNT), None, 1, 8)
    else:
        given = (
            mask_key(count),
            repeats_of("CreateVecIndex", repeatTime),
            whole("CreateVecIndex", "dstBlkStride", dstBlkStride, 0, MAX_BLOCK_STRIDE),
            whole("CreateVecIndex", "dstRepStride", dstRepStride, 0, MAX_REPEAT_STRIDE),
        )
    issue("CreateVecIndex", (dst,), (first, dtype.to_bits(1), *given), _bind_progression)


@program("progression-chain")
def ArithProgression(dst: Any, firstValue: Any, diffValue: Any, count: int) -> None:
    """Store firstValue, firstValue + diffValue, firstValue + 2 diffValue, ... `count` elements.

    diffValue must not be negative. On 910B and older a count beyond 32 bytes is rounded up to
    whole datablocks, so up to 31 bytes behind the last element are written too. Numbers that are
    not exact are those of the chain of additions that computes them (rule progression-chain).
    """
    dtype = _filled("ArithProgression", dst)
    if not diffValue >= 0:
        raise ContractError(
            f"ArithProgression: diffValue is {diffValue!r}: it must not be negative (the manual); "
            f"use a progression of the positive difference and Muls"
        )
    number = whole("ArithProgression", "count", count, 1, MAX_COUNT)
    given = (dtype.to_bits(firstValue), dtype.to_bits(diffValue), number, None, 1, 8)
    issue("ArithProgression", (dst,), given, _bind_progression)


def _filled(name: str, dst: Any) -> DType:
    dtype = getattr(dst, "dtype", None)
    if not isinstance(dtype, DType):
        raise ContractError(f"{name}: dst is {dst!r}: it must be a LocalTensor")
    return dtype


def _bind_progression(
    name: str,
    tensors: tuple[Any],
    first: int,
    difference: int,
    count: Any,
    repeats: int | None,
    block: int,
    repeat: int,
) -> Call:
    (dst,) = tensors
    core, dtype = dst.core, dst.dtype
    supported(name, core, dtype)
    lanes, per_block = REPEAT_BYTES // dtype.nbytes, DATABLOCK_BYTES // dtype.nbytes
    base = lanes if core.soc.arch == "3510" else per_block
    if repeats is None:
        shape = geo.counted(count, (dtype.nbytes,) * 2, lanes)
        if name == "ArithProgression" and core.soc.arch != "3510" and count > per_block:
            shape = geo.counted(-(-count // per_block) * per_block, (dtype.nbytes,) * 2, lanes)
        fields: dict[str, Any] = {"count": count}
    else:
        base = lanes if isinstance(count, tuple) else base
        mask = mask_of(count, lanes, core.soc.arch)
        strides = ((block, repeat), (1, BLOCKS_PER_REPEAT))
        shape = geo.repeated(mask, repeats, strides, (dtype.nbytes,) * 2, lanes)
        fields = {"mask": mask, "repeatTimes": repeats}
    ends = (dtype.from_bits(first), dtype.from_bits(difference))
    table = progression(*ends, max(shape.count, shape.lanes * shape.repeats), (base, lanes))
    fields |= {"firstValue": ends[0].item(), "diffValue": ends[1].item()}
    return _store_table(name, dst, table, shape, fields)


def _store_table(
    name: str, dst: Any, table: np.ndarray, shape: geo.Geometry, fields: dict[str, Any]
) -> Call:
    """Return the call that stores the elements of `table` in the lanes of `shape`."""
    core, layout = dst.core, shape.layouts[0]
    spans = ((0, shape.extent(layout)),)
    left = check_operands(name, (Operand("dst", dst, spans, True),))
    opcode = core.bodies.opcode(f"copy_{dst.dtype.nbytes}")
    row = np.zeros(opcodes.ROW_WORDS, np.int64)
    row[opcodes.OP], row[opcodes.COUNT] = opcode, shape.count
    row[opcodes.DST], row[opcodes.SRC0] = dst.address, table.ctypes.data
    words = None
    if not shape.contiguous:
        words = shape.words(masked_compare=False)
        for operand, each in enumerate(shape.layouts):
            place = opcodes.G_OPERANDS + 3 * operand
            words[place : place + 3] = each.element, each.block_stride, each.repeat_stride
        row[opcodes.GEOMETRY] = words.ctypes.data
    at = Access(
        "dst", UB, dst.buffer, dst.start, dst.dtype, True,
        layout.element, layout.block_stride, layout.repeat_stride,
    )  # fmt: skip
    execute = core.bodies.entry(opcode) if shape.count else (lambda address, scalar: None)
    fields = {"dtype": dst.dtype, **fields}
    return Call(
        name, PIPE.PIPE_V, core, (at,), execute, row.ctypes.data, None, (row, words, table), shape,
        fields, beyond=left,
    )  # fmt: skip
