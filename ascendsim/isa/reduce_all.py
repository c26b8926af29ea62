"""Reductions of all elements to one: ReduceSum, ReduceMax, ReduceMin.

Manual chapter: reduction. These are library functions over the instructions of reduce.py; how the
sums of the repeats are added depends on the chip and on the form, as the manual says.
"""

from __future__ import annotations

from typing import Any

from ascendsim.core import require_data
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES, REPEAT_BYTES
from ascendsim.errors import BoundsError, ContractError
from ascendsim.isa.footprint import (
    MAX_STRIDE,
    Operand,
    from_start,
    mask_key,
    mask_of,
    one_type,
    source_geometry,
    supported,
    whole,
)
from ascendsim.isa.program import combining, issue, lane_words, make_call, program
from ascendsim.isa.reduce_bind import STEMS
from ascendsim.isa.support import check_form
from ascendsim.numerics import opcodes
from ascendsim.record import Call, current_core

_BODIES = {"ReduceSum": "sum", "ReduceMax": "extreme_all", "ReduceMin": "extreme_all"}
MAX_INT32 = (1 << 31) - 1
MAX_VECTORS_BYTES = 1024  # 950 adds up to this many bytes vector by vector


@program("reduce-tree", "reduce-sum-order", "reduce-masked-lanes", "reduce-scratch", "nan-word")
def ReduceSum(
    dst: Any,
    src: Any,
    sharedTmpBuffer: Any,
    count: Any,
    repeatTime: int | None = None,
    srcRepStride: int | None = None,
) -> None:
    """Add the first `count` elements of src, or the masked lanes of repeats; dst gets one element.

    Forms: ReduceSum(dst, src, tmp, count) and ReduceSum(dst, src, tmp, mask, repeatTime,
    srcRepStride). Each repeat is summed as a tree. The sums of the repeats are added in order by
    the count form of 910B, lane by lane before the tree by the count form of 950 from 256 to 1024
    bytes, and as a tree again in all other cases. tmp is undefined afterwards where it is used (it
    needs one element per repeat, rounded up to 32 bytes). 64-bit integers (950, count form) wrap.
    Exceptional values: as Add.
    """
    call = _reduce(
        "ReduceSum", (dst, src, sharedTmpBuffer), (count, repeatTime, srcRepStride), False
    )
    core = dst.core
    if repeatTime is None and call.geometry.count and core.executing:  # type: ignore[union-attr]
        stored = core.ub.array[dst.start : dst.start + dst.dtype.nbytes].view(dst.dtype.numpy)
        core.sum_register = dst.dtype, stored[0]


@program()
def GetAccVal(T: Any) -> Any:
    """Return the sum that the last ReduceSum in its count form left, a T (half or float).

    `GetAccVal<float>()` is `GetAccVal(float32)`; GetReduceRepeatSumSpr is its newer name. After
    other instructions it is an error: the manual promises the number after that form only.
    """
    return _sum_register("GetAccVal", T)


@program()
def GetReduceRepeatSumSpr(T: Any) -> Any:
    """Return the sum that the last ReduceSum left: the newer name of GetAccVal."""
    return _sum_register("GetReduceRepeatSumSpr", T)


def _sum_register(name: str, T: Any) -> Any:
    core, dtype = current_core(), as_dtype(T)
    supported(name, core, dtype)
    require_data(core, name)
    if core.sum_register is None or core.sum_register[0] is not dtype:
        raise ContractError(
            f"{name}: no ReduceSum(dst, src, tmp, count) of {dtype} went before, and what other "
            f"reductions leave in the register is not documented; read dst with GetValue(0)"
        )
    return core.sum_register[1]


@program("reduce-first", "reduce-nan", "reduce-scratch", "nan-word")
def ReduceMax(
    dst: Any,
    src: Any,
    sharedTmpBuffer: Any,
    count: Any,
    repeatTime: Any = None,
    srcRepStride: int | None = None,
    calIndex: bool = False,
) -> None:
    """Find the largest of the first `count` elements of src, or of the masked lanes of repeats.

    Forms: ReduceMax(dst, src, tmp, count[, calIndex]) and ReduceMax(dst, src, tmp, mask,
    repeatTime, srcRepStride[, calIndex]). dst gets the value and, with calIndex, its position in
    src as an integer in the next element (ReinterpretCast to read it). Of equal elements the first
    is taken. tmp is undefined afterwards, except on 950, which does not use it. Exceptional values:
    a NaN wins (first one); -0 is below +0.
    """
    _extreme("ReduceMax", (dst, src, sharedTmpBuffer), (count, repeatTime, srcRepStride), calIndex)


@program("reduce-first", "reduce-nan", "reduce-scratch", "nan-word")
def ReduceMin(
    dst: Any,
    src: Any,
    sharedTmpBuffer: Any,
    count: Any,
    repeatTime: Any = None,
    srcRepStride: int | None = None,
    calIndex: bool = False,
) -> None:
    """Find the smallest of all elements: as ReduceMax, with Min's order."""
    _extreme("ReduceMin", (dst, src, sharedTmpBuffer), (count, repeatTime, srcRepStride), calIndex)


def _extreme(name: str, tensors: tuple[Any, ...], lanes: tuple[Any, Any, Any], index: Any) -> None:
    count, repeats, stride = lanes
    if stride is None and isinstance(repeats, bool):  # the count form, calIndex by position
        repeats, index = None, repeats
    _reduce(name, tensors, (count, repeats, stride), bool(index), depth=5)


def _reduce(
    name: str,
    tensors: tuple[Any, ...],
    lanes: tuple[Any, Any, Any],
    index: bool,
    depth: int = 4,
) -> Call:
    count, repeats, stride = lanes
    given: tuple[Any, ...]
    if repeats is None:
        given = (whole(name, "count", count, 0, MAX_INT32), None, None, index)
    else:
        times = whole(name, "repeatTime", repeats, 0, MAX_INT32)
        given = (mask_key(count), times, whole(name, "srcRepStride", stride, 0, MAX_STRIDE), index)
    return issue(name, tensors, given, _bind, depth)


def _bind(
    name: str,
    tensors: tuple[Any, Any, Any],
    count: Any,
    times: int | None,
    stride: int | None,
    index: bool,
) -> Call:
    dst, src, tmp = tensors
    dtype, core = one_type(name, tensors), dst.core
    element, lanes = dtype.nbytes, REPEAT_BYTES // dtype.nbytes
    (bits, repeats, step, total), source = _lanes(name, src, (count, times, stride))
    _check_index(index, element, total)
    method = _method(core.soc.arch, times is None, total * element)
    used = _scratch(name, core.soc.arch, method, (repeats, lanes, element), index)
    _check_scratch(tmp, used)
    width = element * (2 if index else 1)
    operands = (
        Operand("dst", dst, ((0, width),) if total else (), True, width),
        Operand("src", src, source),
        Operand("tmp", tmp, ((0, used),) if used and total else (), True),
    )
    words = {
        **combining(core, STEMS[name[-3:]], dtype),
        **lane_words(repeats, lanes, bits),
        opcodes.P_ELEMENT: element,
        opcodes.P_SRC_BLOCK: DATABLOCK_BYTES,
        opcodes.P_SRC_REPEAT: step * DATABLOCK_BYTES,
        opcodes.P_STEP: step * DATABLOCK_BYTES // element,
        opcodes.P_LEVELS: lanes.bit_length() - 1,
        opcodes.P_METHOD: method,
        opcodes.P_MINIMUM: int(name == "ReduceMin"),
        opcodes.P_ORDER: opcodes.ORDER_VALUE_INDEX if index else opcodes.ORDER_ONLY_VALUE,
        opcodes.P_POISON: used,
    }
    fields = {"count": count} if times is None else {"mask": bits, "repeatTimes": times}
    fields |= {"calIndex": int(index)}
    room = repeats * element // 8 + 1
    return make_call(name, _body(name, dtype), operands, total, words, fields, room)


def _body(name: str, dtype: DType) -> str:
    whole_sum = name == "ReduceSum" and dtype.kind != "float"
    return "integer_sum" if whole_sum else _BODIES[name]


def _lanes(
    name: str, src: Any, given: tuple[Any, int | None, int | None]
) -> tuple[tuple[int, int, int, int], Any]:
    """Return (mask, repeats, their stride in datablocks, lanes in all) and what is read of src."""
    (count, times, stride), element = given, src.dtype.nbytes
    lanes = REPEAT_BYTES // element
    if times is None:
        shape = (1 << lanes) - 1, -(-count // lanes), BLOCKS_PER_REPEAT, count
        return shape, from_start(count * element)
    check_form(name, src.dtype, src.core)
    bits = mask_of(count, lanes, src.core.soc.arch)
    repeats, step = (times if bits else 0), stride or 0
    source = source_geometry(bits, lanes, repeats, element, (1, step))
    return (bits, repeats, step, lanes * repeats), source


def _check_scratch(tmp: Any, used: int) -> None:
    if used > tmp.nbytes:
        raise BoundsError(
            f"sharedTmpBuffer is {tmp!r}: these repeats need {used} bytes; use a larger buffer"
        )


def _check_index(index: bool, element: int, total: int) -> None:
    if index and element == 2 and total > 1 << 16:
        raise ContractError(
            f"{total} half elements with calIndex: the index is stored in 16 bits; reduce at most "
            f"{1 << 16} elements at once"
        )


def _method(arch: str, counted: bool, nbytes: int) -> int:
    """Return how ReduceSum adds the sums of its repeats (the manual's ways one, two and three)."""
    if arch == "c220" and counted:
        return opcodes.METHOD_SEQUENCE
    if arch == "3510" and counted and REPEAT_BYTES <= nbytes <= MAX_VECTORS_BYTES:
        return opcodes.METHOD_VECTORS
    return opcodes.METHOD_TREE


def _scratch(name: str, arch: str, method: int, shape: tuple[int, int, int], index: bool) -> int:
    """Return the bytes of sharedTmpBuffer that are used, by the formulas of the manual."""
    repeats, lanes, element = shape
    per_block = DATABLOCK_BYTES // element

    def rounded(elements: int) -> int:
        return -(-elements // per_block) * per_block

    if arch == "3510" or not repeats:
        return 0
    if name == "ReduceSum":
        return rounded(repeats) * element if method == opcodes.METHOD_TREE else 0
    stage, needed = 2 * repeats, rounded(2 * repeats)
    while index and stage > 2:
        stage = -(-stage // lanes) * 2
        needed += rounded(stage)
    return needed * element
