"""Sort pairs of score and index: Sort32, MrgSort, and the library's Sort, Concat and Extract.

A pair becomes a record of 8 bytes: the score in the low 4 (half: the low 2, the next 2 reserved),
the index, a uint32, in the high 4. Manual chapters: sort and combine (ISASI); library, sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascendsim import dtypes
from ascendsim.core import require_data
from ascendsim.errors import ContractError, DtypeError, UnsupportedError
from ascendsim.isa.footprint import Operand, from_start, one_type, refuse_overlap, repeats_of
from ascendsim.isa.params import MrgSort4Info, MrgSortSrcList, check_queues
from ascendsim.isa.program import FORMATS, issue, make_call, program
from ascendsim.numerics import opcodes
from ascendsim.numerics.sort_layout import LENGTHS, MERGE_WORDS, QUEUES, RECORD_BYTES, STARTS, TAKEN
from ascendsim.record import UB, Call, current_core

LANES = 32  # pairs of one repeat (Sort32 page; documented)
_RULES = ("sort-records", "sort-stable", "sort-zeros")


@program(*_RULES)
def Sort32(dst: Any, src0: Any, src1: Any, repeatTime: int) -> None:
    """Sort each 32 pairs of score (src0) and index (src1, uint32) in descending order of the score.

    dst gets 32 records of 8 bytes per repeat. Of equal scores the first stays first. A NaN among
    the scores is an error: the manual does not say where it goes. It asks for starts at multiples
    of a whole repeat of each operand, and of 32 bytes too; the latter is what is checked here.
    """
    _sort("Sort32", (dst, src0, src1), repeats_of("Sort32", repeatTime), False)


@program(*_RULES)
def Sort(
    dst: Any, concat: Any, index: Any, tmp: Any, repeatTime: int, *, isFullSort: bool = False
) -> None:
    """Sort pairs as Sort32 does, or (isFullSort, a template argument) all of them together.

    `Sort<T, true>(dst, ...)` is `Sort(dst, ..., isFullSort=True)`. tmp is left as it is. The forms
    with SortConfig (950) are not modelled.
    """
    if getattr(tmp, "space", None) != UB:
        raise ContractError(f"Sort: tmp is {tmp!r}: pass Sort(dst, concat, index, tmp, repeatTime)")
    repeats = repeats_of("Sort", repeatTime)
    _sort("Sort", (dst, concat, index), repeats, bool(isFullSort))


def _sort(name: str, tensors: tuple[Any, Any, Any], repeats: int, full: bool) -> None:
    call = issue(name, tensors, (repeats, full), _bind_sort, depth=4)
    _refuse_nan(name, call)


def _refuse_nan(name: str, call: Call) -> None:
    lane = int(call.row[1][opcodes.P_STATUS]) - 1
    if lane >= 0:
        raise UnsupportedError(
            f"{name}: score {lane} is a NaN, and no text says where a NaN is sorted to (rule "
            f"sort-stable); nothing was stored; replace NaN before sorting"
        ).recorded()


def _bind_sort(name: str, tensors: tuple[Any, Any, Any], repeats: int, full: bool) -> Call:
    dst, scores, indices = tensors
    dtype = one_type(name, (dst, scores))
    _check_index("src1" if name == "Sort32" else "index", indices)
    total = LANES * repeats
    operands = (
        Operand("dst", dst, from_start(total * RECORD_BYTES), True),
        Operand("src", scores, from_start(total * dtype.nbytes)),
        Operand("src1", indices, from_start(total * 4)),
    )
    refuse_overlap(*operands)
    words = _words(dtype) | {
        opcodes.G_REPEATS: repeats,
        opcodes.G_LANES: LANES,
        opcodes.P_METHOD: int(full),
    }
    fields = {"repeatTimes": repeats} | ({"isFullSort": full} if name == "Sort" else {})
    return make_call(name, "sort", operands, total, words, fields, 2 * (total if full else LANES))


@program("sort-records")
def Extract(dstValue: Any, dstIndex: Any, sorted: Any, repeatTime: int) -> None:
    """Take records apart: 32 scores to dstValue and 32 indices (uint32) to dstIndex per repeat."""
    tensors = dstValue, sorted, dstIndex
    issue("Extract", tensors, (repeats_of("Extract", repeatTime),), _bind_extract)


def _bind_extract(name: str, tensors: tuple[Any, Any, Any], repeats: int) -> Call:
    values, source, indices = tensors
    dtype = one_type(name, (values, source))
    _check_index("dstIndex", indices)
    total = LANES * repeats
    into = Operand("dst", values, from_start(total * dtype.nbytes), True)
    out_of = Operand("src", source, from_start(total * RECORD_BYTES))
    more = Operand("dstIndex", indices, from_start(total * 4), True)
    refuse_overlap(into, out_of)
    refuse_overlap(more, out_of)
    words = _words(dtype) | {
        opcodes.G_REPEATS: repeats,
        opcodes.G_LANES: LANES,
        opcodes.P_BASE: indices.start - values.start,
        opcodes.P_CHECKED: 0,
    }
    fields = {"repeatTimes": repeats}
    return make_call(name, "extract", (into, out_of, more), total, words, fields)


@program()
def Concat(src: Any, tmp: Any, repeatTime: int, *more: Any) -> Any:
    """Return what Sort takes as its scores: on 910B and 950 that is src itself.

    `Concat(concat, src, tmp, n)` of Ascend C makes its reference `concat` stand for src; here that
    is `concat = Concat(src, tmp, n)`. Not on 910 and 310P, which sort region proposals.
    """
    if more or getattr(src, "space", None) != UB or getattr(tmp, "space", None) != UB:
        raise ContractError(
            "Concat: its first argument is a reference that stands for src afterwards: write "
            "concat = Concat(src, tmp, repeatTime)"
        )
    if src.core.soc.ops.get("Concat") is None:
        raise UnsupportedError(
            f"Concat: {src.core.soc.name} sorts region proposals, which are not modelled"
        )
    if src.dtype is not tmp.dtype:
        raise DtypeError(f"Concat: tmp is {tmp.dtype} but src is {src.dtype}: they have one type")
    repeats_of("Concat", repeatTime)
    return src


@program(*_RULES, "merge-suspension")
def MrgSort(
    dst: Any, src: MrgSortSrcList, *arguments: Any, isExhaustedSuspension: Any = None
) -> None:
    """Merge two to four sorted queues of records into one, in descending order of the score.

    Forms: MrgSort(dst, src, MrgSort4Info(...)) and, of the library, MrgSort(dst, src,
    elementCountList, sortedNum, validBit, repeatTime, isExhaustedSuspension=...), where sortedNum
    is a list that gets the four numbers when the merge was suspended. Of equal scores that of the
    earlier queue comes first. With suspension the merge ends when a queue has given its last
    record. More than one repeat needs four queues of one length, one behind the other.
    """
    info, numbers = _info(arguments, isExhaustedSuspension)
    if not isinstance(src, MrgSortSrcList):
        raise ContractError(f"MrgSort: src is {src!r}: use MrgSortSrcList(src1, src2, src3, src4)")
    queues = check_queues(info)
    tensors = [getattr(src, f"src{k + 1}") for k in range(queues)]
    suspend = bool(info.ifExhaustedSuspension)
    if suspend:
        require_data(current_core(), "MrgSort", "where a merge with suspension ends depends on it")
    lengths = tuple(int(n) for n in info.elementLengths[:queues])
    given = (lengths, suspend, int(info.repeatTimes))
    call = issue("MrgSort", (dst, *tensors), given, _bind_merge)
    _refuse_nan("MrgSort", call)
    core = dst.core
    taken = call.row[1][opcodes.PARAMETER_WORDS + TAKEN :][:QUEUES] if core.executing else None
    core.merged = None if taken is None or not suspend else tuple(map(int, taken))
    if numbers is not None and suspend:
        numbers[:] = GetMrgSortResult()


def _info(arguments: Sequence[Any], suspension: Any) -> tuple[MrgSort4Info, list[Any] | None]:
    """Return the parameters of either form, and the list that takes the numbers."""
    if len(arguments) == 1 and isinstance(arguments[0], MrgSort4Info) and suspension is None:
        return arguments[0], None
    if len(arguments) != 4 or not isinstance(arguments[1], list):
        raise ContractError(
            "MrgSort takes (dst, src, MrgSort4Info(...)) or (dst, src, elementCountList, "
            "sortedNum, validBit, repeatTime), sortedNum a list"
        )
    lengths, numbers, valid, repeats = arguments
    return MrgSort4Info(lengths, bool(suspension), valid, repeats), numbers


def GetMrgSortResult() -> tuple[int, int, int, int]:
    """Return how many records of each queue the last MrgSort with suspension took.

    The four references of the Ascend C call are the return value here.
    """
    core = current_core()
    require_data(core, "GetMrgSortResult")
    if core.merged is None:
        raise ContractError(
            "GetMrgSortResult: the last MrgSort did not run with ifExhaustedSuspension=True (or "
            "there was none), so it left no numbers; call that first"
        )
    return core.merged  # type: ignore[no-any-return]


def _bind_merge(
    name: str, tensors: tuple[Any, ...], lengths: tuple[int, ...], suspend: bool, repeats: int
) -> Call:
    dst, *queues = tensors
    dtype = one_type(name, tensors)
    starts = [queue.start - queues[0].start for queue in queues]
    total = sum(lengths)
    steps = [sum(lengths[:k]) * RECORD_BYTES for k in range(len(lengths))]
    if repeats > 1 and (
        len(queues) < QUEUES or len(set(lengths)) > 1 or starts != steps or suspend
    ):
        raise ContractError(
            f"repeatTimes is {repeats}: more than 1 takes effect only with four queues of one "
            f"length, one behind the other, without suspension; merge one by one"
        )
    reach = [(total * (repeats - 1) + n) * RECORD_BYTES if repeats else 0 for n in lengths]
    into = Operand("dst", dst, from_start(total * repeats * RECORD_BYTES), True)
    out_of = [
        Operand("src" if not k else f"src{k}", queue, from_start(reach[k]), alignment=RECORD_BYTES)
        for k, queue in enumerate(queues)
    ]
    refuse_overlap(into, *out_of)
    words = _words(dtype) | {opcodes.G_REPEATS: repeats, opcodes.P_METHOD: int(suspend)}
    fields = {"repeatTimes": repeats, "elementLengths": list(lengths), "suspension": suspend}
    call = make_call(name, "merge", (into, *out_of), total * repeats, words, fields, MERGE_WORDS)
    own = call.row[1][opcodes.PARAMETER_WORDS :]
    own[LENGTHS : LENGTHS + len(lengths)] = lengths
    own[STARTS : STARTS + len(starts)] = starts
    return call


def _words(dtype: Any) -> dict[int, int]:
    return {
        opcodes.P_ELEMENT: dtype.nbytes,
        opcodes.P_KIND: FORMATS[dtype.name].inf_bits,
        opcodes.P_CHECKED: 1,
    }


def _check_index(what: str, tensor: Any) -> None:
    if tensor.dtype is not dtypes.uint32:
        raise DtypeError(f"{what} is {tensor.dtype}: indices are uint32; use ReinterpretCast")
