"""One use of every reduction and every instruction that moves elements, against its array twin.

Importing this module adds them to `EXERCISES`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.ascendc import (
    ArithProgression,
    BlockReduceMax,
    BlockReduceMin,
    BlockReduceSum,
    Brcb,
    BrcbRepeatParams,
    Copy,
    CopyRepeatParams,
    CreateVecIndex,
    Gather,
    GatherMask,
    GatherMaskParams,
    PairReduceSum,
    ReduceMax,
    ReduceMin,
    ReduceOrder,
    ReduceSum,
    TransDataTo5HD,
    TransDataTo5HDParams,
    Transpose,
    WholeReduceMax,
    WholeReduceMin,
    WholeReduceSum,
)
from ascendsim.dtypes import DType, uint32
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES, REPEAT_BYTES
from ascendsim.explore.bench import Bench, sample
from ascendsim.explore.exercises import equal, same, uses
from ascendsim.numerics import reduce

REPEATS = 5
_BITS = 0x9E3779B97F4A7C15F39CC0605CEDC834  # a mask without a pattern


def _data(bench: Bench, dtype: DType, count: int, turn: int = 0) -> tuple[Any, np.ndarray]:
    values = sample(dtype, count, turn)
    return bench.local(dtype, values), values


def _masks(lanes: int) -> list[tuple[Any, np.ndarray]]:
    """Return masks as kernels pass them, with the lanes that they select."""
    counted = [(n, np.arange(lanes) < n) for n in (lanes, lanes // 2 + 1, 1)]
    bits = _BITS & (1 << lanes) - 1
    words = [bits & (1 << 64) - 1, bits >> 64]
    return [*counted, (words, np.array([bits >> lane & 1 for lane in range(lanes)], bool))]


@uses("WholeReduceSum", "BlockReduceSum", "PairReduceSum")
def _sums(bench: Bench, dtype: DType) -> None:
    if dtype.kind != "float":
        _integer_sums(bench, dtype)
        return
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, REPEATS * lanes)
    target = bench.local(dtype, np.zeros(values.size, dtype.numpy))
    for given, mask in _masks(lanes):
        for groups in (1, BLOCKS_PER_REPEAT, lanes // 2):
            if groups == 1:
                WholeReduceSum(target, source, given, REPEATS, 1, 1, 8)
            else:
                block = groups == BLOCKS_PER_REPEAT
                (BlockReduceSum if block else PairReduceSum)(
                    target, source, REPEATS, given, 1, 1, 8
                )
            used = mask.reshape(groups, -1).any(1)
            for repeat in range(REPEATS):
                lane_values = reduce.masked(values[repeat * lanes :][:lanes], mask)
                want = reduce.tree(lane_values, groups, bench.core.env)
                same(bench.array(target[repeat * groups :], groups)[used], want[used])


def _integer_sums(bench: Bench, dtype: DType) -> None:
    """Add integers, and those with half as many bits (950)."""
    for source_type in (dtype, as_dtype(dtype.name.replace("32", "16"))):
        lanes = REPEAT_BYTES // source_type.nbytes
        source, values = _data(bench, source_type, REPEATS * lanes)
        target = bench.local(dtype, REPEATS)
        for given, mask in _masks(lanes):
            WholeReduceSum(target, source, given, REPEATS, 1, 1, 8)
            kept = values.reshape(REPEATS, lanes)[:, mask]
            sums = [sum(map(int, line)) % (1 << 8 * dtype.nbytes) for line in kept]
            same(bench.array(target, REPEATS), np.array(sums, dtype.bits).view(dtype.numpy))


@uses("WholeReduceMax", "WholeReduceMin", "BlockReduceMax", "BlockReduceMin")
def _best_of_repeats(bench: Bench, dtype: DType) -> None:
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, REPEATS * lanes)
    target = bench.local(dtype, np.zeros(values.size, dtype.numpy))
    whole = {False: WholeReduceMax, True: WholeReduceMin}
    block = {False: BlockReduceMax, True: BlockReduceMin}
    for minimum in (False, True):
        for given, mask in _masks(lanes):
            whole[minimum](target, source, given, REPEATS, 1, 1, 8, ReduceOrder.ORDER_VALUE_INDEX)
            for repeat in range(REPEATS):
                chosen = np.flatnonzero(mask)
                part = values[repeat * lanes :][:lanes][chosen]
                want, place = reduce.best(part, minimum, bench.core.env)
                got = bench.array(target[2 * repeat :], 2)
                same(got[:1], want)
                equal(int(got.view(dtype.bits)[1]), int(chosen[place]))
        if dtype.kind == "float":
            block[minimum](target, source, REPEATS, lanes, 1, 1, 8)
            parts = values.reshape(-1, lanes // BLOCKS_PER_REPEAT)
            found = [reduce.best(part, minimum, bench.core.env)[0] for part in parts]
            same(bench.array(target, len(parts)), np.concatenate(found))


@uses("ReduceSum")
def _sum_of_all(bench: Bench, dtype: DType) -> None:
    if dtype.kind != "float":
        source, values = _data(bench, dtype, 1000)
        target = bench.local(dtype, 4)
        ReduceSum(target, source, target, 999)
        total = sum(map(int, values[:999])) % (1 << 8 * dtype.nbytes)
        same(bench.array(target, 1), np.array([total], dtype.bits).view(dtype.numpy))
        return
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, 70 * lanes)
    values[:] = np.where(np.isfinite(values.astype(np.float32)), values, 1)
    bench.bytes_of(source)[: values.nbytes] = values.view(np.uint8)
    target, scratch = bench.local(dtype, 32), bench.local(dtype, 128)
    arch = bench.core.soc.arch
    for count in (1, lanes, 3 * lanes + 5, 70 * lanes):
        ReduceSum(target, source, scratch, count)
        filled = np.zeros(-(-count // lanes) * lanes, dtype.numpy)
        filled[:count] = values[:count]
        vectors = arch == "3510" and 256 <= count * dtype.nbytes <= 1024
        way = "sequence" if arch == "c220" else "vectors" if vectors else "tree"
        same(bench.array(target, 1), reduce.total(filled, lanes, way, bench.core.env))
    for given, mask in _masks(lanes):
        ReduceSum(target, source, scratch, given, 67, 8)
        kept = [reduce.masked(v, mask) for v in values[: 67 * lanes].reshape(-1, lanes)]
        want = reduce.total(np.concatenate(kept), lanes, "tree", bench.core.env)
        same(bench.array(target, 1), want)


@uses("ReduceMax", "ReduceMin")
def _best_of_all(bench: Bench, dtype: DType) -> None:
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, 70 * lanes, 3)
    target, scratch = bench.local(dtype, 32), bench.local(dtype, 512)
    for minimum, call in ((False, ReduceMax), (True, ReduceMin)):
        for count in (1, lanes + 1, 70 * lanes):
            call(target, source, scratch, count, True)
            want, place = reduce.best(values[:count], minimum, bench.core.env)
            got = bench.array(target, 2)
            same(got[:1], want)
            equal(int(got.view(dtype.bits)[1]), place)
        for given, mask in _masks(lanes):
            call(target, source, scratch, given, REPEATS, 8, False)
            part = values[: REPEATS * lanes].reshape(-1, lanes)[:, mask].reshape(-1)
            same(bench.array(target, 1), reduce.best(part, minimum, bench.core.env)[0])


@uses("Brcb", "BrcbRepeatParams")
def _brcb(bench: Bench, dtype: DType) -> None:
    source, values = _data(bench, dtype, 3 * BLOCKS_PER_REPEAT)
    per_block = DATABLOCK_BYTES // dtype.nbytes
    target = bench.local(dtype, values.size * per_block)
    Brcb(target, source, 3, BrcbRepeatParams(1, 8))
    same(bench.array(target, values.size * per_block), np.repeat(values, per_block))


@uses("CopyRepeatParams")
def _copy(bench: Bench, dtype: DType) -> None:
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, 2 * lanes)
    target = bench.local(dtype, np.zeros(2 * lanes, dtype.numpy))
    if dtype.name in bench.core.soc.ops["Copy"].count_only:
        Copy(target, source, 2 * lanes)
        same(bench.array(target, 2 * lanes), values)
        return
    Copy(target, source, lanes // 2, 2, CopyRepeatParams(1, 1, 4, 8))
    same(bench.array(target, lanes), values.reshape(2, lanes)[:, : lanes // 2].reshape(-1))


@uses("CreateVecIndex", "ArithProgression")
def _progressions(bench: Bench, dtype: DType) -> None:
    lanes = REPEAT_BYTES // dtype.nbytes
    target = bench.local(dtype, 4 * lanes)
    CreateVecIndex(target, 3, 3 * lanes + 1)
    same(bench.array(target, 3 * lanes + 1), (np.arange(3 * lanes + 1) + 3).astype(dtype.numpy))
    CreateVecIndex(target, 3, lanes, 2, 1, 8)
    same(bench.array(target, 2 * lanes), (np.arange(2 * lanes) + 3).astype(dtype.numpy))
    ArithProgression(target, 5, 2, 3 * lanes)
    same(bench.array(target, 3 * lanes), (5 + 2 * np.arange(3 * lanes)).astype(dtype.numpy))


@uses("Gather")
def _gather(bench: Bench, dtype: DType) -> None:
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, 300)
    order = np.random.default_rng(0).integers(0, 290, 3 * lanes)
    offsets = bench.local(uint32, (order * dtype.nbytes).astype(np.uint32))
    target = bench.local(dtype, np.zeros(3 * lanes, dtype.numpy))
    Gather(target, source, offsets, 10 * dtype.nbytes, 3 * lanes - 1)
    same(bench.array(target, 3 * lanes - 1), values[order[:-1] + 10])
    Gather(target, source, offsets, 0, lanes // 2, 3, 8)
    got = bench.array(target, 3 * lanes).reshape(3, lanes)[:, : lanes // 2]
    same(got, values[order.reshape(3, lanes)[:, : lanes // 2]])


@uses("GatherMask", "GatherMaskParams")
def _gather_mask(bench: Bench, dtype: DType) -> None:
    lanes = REPEAT_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, 4 * lanes)
    target = bench.local(dtype, 4 * lanes)
    steps = (0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4)
    for pattern, (first, step) in enumerate(steps, 1):
        kept = GatherMask(target, source, pattern, False, 0, GatherMaskParams(1, 4, 8, 0))
        equal(kept, values[first::step].size)
        same(bench.array(target, kept), values[first::step])
    words = as_dtype(f"uint{8 * dtype.nbytes}")
    bits = np.random.default_rng(1).integers(0, 256, lanes // 2, np.uint8)
    chosen = np.unpackbits(bits, bitorder="little").astype(bool)
    if bench.core.soc.arch == "m200":  # repeats of 256 bytes there, which read the same bits again
        chosen = np.tile(chosen[:lanes], 4)
    mask = bench.local(words, bits.view(words.numpy))
    kept = GatherMask(target, source, mask, True, 4 * lanes, GatherMaskParams(1, 1, 8, 0))
    equal(kept, int(chosen.sum()))
    same(bench.array(target, kept), values[chosen])


@uses("Transpose")
def _transpose(bench: Bench, dtype: DType) -> None:
    source, values = _data(bench, dtype, 256)
    target = bench.local(dtype, 256)
    Transpose(target, source)
    same(bench.array(target, 256), np.ascontiguousarray(values.reshape(16, 16).T))


@uses("TransDataTo5HD", "TransDataTo5HDParams")
def _format(bench: Bench, dtype: DType) -> None:
    lanes = DATABLOCK_BYTES // dtype.nbytes
    source, values = _data(bench, dtype, 32 * lanes)
    target = bench.local(dtype, 32 * lanes)
    lists = [[t[lanes * k :] for k in range(16)] for t in (target, source)]
    TransDataTo5HD(*lists, TransDataTo5HDParams(False, False, 2, 16, 16))
    want = values.reshape(2, 16, lanes).transpose(0, 2, 1)
    same(bench.array(target, 32 * lanes), np.ascontiguousarray(want))
