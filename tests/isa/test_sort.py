"""Sorting against Python's own sort and merge; the manual's examples; what is refused."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError, DtypeError, OverlapError, RepeatError, UnsupportedError
from tests.helpers import assert_same_bits
from tests.kit import Ub, fails, peek, put, run_block

SOCS = ("ascend910b1", "ascend950")


def scores(T, count, seed):
    """Scores with many equal ones, both zeros, infinities and subnormals, but no NaN."""
    rng = np.random.default_rng(seed)
    plain = rng.integers(-9, 9, count).astype(T.numpy)
    special = np.array([0.0, -0.0, np.inf, -np.inf, 1e-7, -1e-7], np.float32).astype(T.numpy)
    return np.where(rng.random(count) < 0.3, rng.choice(special, count), plain)


def by_score(pairs):
    """Return (score, index) pairs in descending order; Python's sort is stable."""
    return sorted(pairs, key=lambda pair: -float(pair[0]))


def pairs_in(tensor, T, count):
    """Return the records that a tensor begins with, and the bytes between score and index."""
    raw = peek(tensor, uint8)[: 8 * count].reshape(count, 8)
    found = np.ascontiguousarray(raw[:, : T.nbytes]).view(T.numpy).reshape(-1)
    return found, np.ascontiguousarray(raw[:, 4:]).view(np.uint32).reshape(-1), raw[:, T.nbytes : 4]


def check(tensor, T, want):
    values, indices, between = pairs_in(tensor, T, len(want))
    assert_same_bits(values, np.array([v for v, _ in want], T.numpy))
    assert indices.tolist() == [int(i) for _, i in want]
    assert not between.any()


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("T", [float32, half])
def test_sort(T, soc):
    def body():
        for count in (32, 64, 32 * 17):
            values = scores(T, count, count)
            places = np.random.default_rng(1).integers(0, 1 << 32, count, np.uint32)
            room = 8 * count // T.nbytes
            u = Ub(d=(T, room), s=(T, count), i=(uint32, count), t=(T, room))
            put(u["s"], values)
            put(u["i"], places)
            pairs = list(zip(values, places, strict=True))
            runs = [pair for k in range(0, count, 32) for pair in by_score(pairs[k : k + 32])]
            Sort32(u["d"], u["s"], u["i"], count // 32)
            check(u["d"], T, runs)
            concat = Concat(u["s"], u["t"], count // 16)
            Sort(u["d"], concat, u["i"], u["t"], count // 32)
            check(u["d"], T, runs)
            Sort(u["d"], concat, u["i"], u["t"], count // 32, isFullSort=True)
            check(u["d"], T, by_score(pairs))
            Extract(u["s"], u["i"], u["d"], count // 32)
            assert_same_bits(peek(u["s"]), np.array([v for v, _ in by_score(pairs)], T.numpy))
            assert peek(u["i"]).tolist() == [int(i) for _, i in by_score(pairs)]
            u.pipe.Destroy()

    run = run_block(body, soc=soc)
    assert run.rules["sort-records"] == run.rules["sort-stable"] == "documented"
    assert run.rules["sort-zeros"] == "assumed"


def merged(queues, suspend):
    """Merge (score, index) queues; heapq.merge keeps the order of equal ones over the queues."""
    keyed = [[(-float(v), k, (v, i)) for v, i in queue] for k, queue in enumerate(queues)]
    order = list(heapq.merge(*keyed, key=lambda item: (item[0], item[1])))
    taken, found = [0] * 4, []
    for _, k, pair in order:
        found.append(pair)
        taken[k] += 1
        if suspend and taken[k] == len(queues[k]):
            break
    return found, taken


@pytest.mark.parametrize("T", [float32, half])
@pytest.mark.parametrize("lengths", [(32, 32), (5, 32, 1), (32, 7, 12, 31), (1, 1, 1, 1)])
def test_merge(T, lengths):
    def body():
        step, count = 256 // T.nbytes, len(lengths)
        u = Ub(d=(T, 5 * step), q=(T, count * step), s=(T, 32 * count), i=(uint32, 32 * count))
        put(u["s"], scores(T, 32 * count, sum(lengths)))
        put(u["i"], np.arange(32 * count, dtype=np.uint32))
        Sort32(u["q"], u["s"], u["i"], count)
        tensors = [u["q"][k * step :] for k in range(count)]
        queues = []
        for tensor, n in zip(tensors, lengths, strict=True):
            values, places, _ = pairs_in(tensor, T, n)
            queues.append(list(zip(values, places, strict=True)))
        valid = (1 << count) - 1
        for suspend in (False, True):
            want, taken = merged(queues, suspend)
            info = MrgSort4Info([*lengths, 0, 0][:4], suspend, valid, 1)
            before = peek(u["d"], uint8)
            MrgSort(u["d"], MrgSortSrcList(*tensors), info)
            check(u["d"], T, want)
            behind = peek(u["d"], uint8)[8 * len(want) :]
            assert_same_bits(behind, before[8 * len(want) :])
            if suspend:
                assert GetMrgSortResult() == tuple(taken)
            numbers = [9] * 4
            MrgSort(
                u["d"], MrgSortSrcList(*tensors), [*lengths, 0, 0][:4], numbers, valid, 1,
                isExhaustedSuspension=suspend,
            )  # fmt: skip
            check(u["d"], T, want)
            assert numbers == (taken if suspend else [9] * 4)

    run_block(body)


def test_the_manuals_example_of_merge_repeats():
    """Eight queues of 32, merged by four: two sorted runs of 128."""

    def body():
        u = Ub(d=(float32, 512), q=(float32, 512), s=(float32, 256), i=(uint32, 256))
        values = np.random.default_rng(3).permutation(256).astype(np.float32)
        put(u["s"], values)
        put(u["i"], np.arange(256, dtype=np.uint32))
        Sort32(u["q"], u["s"], u["i"], 8)
        src = MrgSortSrcList(*(u["q"][64 * k :] for k in range(4)))
        MrgSort(u["d"], src, MrgSort4Info([32] * 4, False, 15, 2))
        pairs = [(v, i) for i, v in enumerate(values)]
        check(u["d"], float32, by_score(pairs[:128]) + by_score(pairs[128:]))

    run_block(body)


def test_the_manuals_example_of_sort():
    """128 numbers in four runs of falling numbers become one."""

    def body():
        u = Ub(d=(half, 512), s=(half, 128), i=(uint32, 128), t=(half, 512))
        falling = np.concatenate([np.arange(31, -1, -1) + 32 * k for k in range(4)])
        put(u["s"], falling.astype(np.float16))
        put(u["i"], falling.astype(np.uint32))
        Sort(u["d"], u["s"], u["i"], u["t"], 4, isFullSort=True)
        Extract(u["s"], u["i"], u["d"], 4)
        assert peek(u["s"]).tolist() == peek(u["i"]).tolist() == list(range(127, -1, -1))

    run_block(body)


@pytest.mark.parametrize("soc", SOCS)
def test_the_manuals_example_of_gatherb(soc):
    """Offsets 224, 192 ... 0 turn the eight datablocks round."""

    def body():
        u = Ub(d=(uint16, 128), s=(uint16, 128), o=(uint32, 8))
        put(u["s"], np.arange(128, dtype=np.uint16))
        put(u["o"], np.arange(224, -1, -32, dtype=np.uint32))
        Gatherb(u["d"], u["s"], u["o"], 1, GatherRepeatParams(1, 8))
        assert peek(u["d"]).tolist() == np.arange(128).reshape(8, 16)[::-1].reshape(-1).tolist()

    run_block(body, soc=soc)


F = (float32, 256)


def sorting(**more):
    """Call Sort32 on two repeats; `more` replaces operands."""

    def body():
        u = Ub(d=F, s=(float32, 64), i=(uint32, 64), h=(half, 256), f=(float32, 64))
        put(u["s"], np.where(np.arange(64) == 37, np.nan, 1).astype(np.float32))
        operands = {"dst": u["d"], "src0": u["f"], "src1": u["i"]}
        operands |= {name: u[buffer] for name, buffer in more.items()}
        Sort32(*operands.values(), 2)

    return body


def test_what_sort32_refuses():
    fails(UnsupportedError, "Sort32: score 37 is a NaN.*rule sort-stable", sorting(src0="s"))
    fails(DtypeError, "src1 is float32: indices are uint32", sorting(src1="f"))
    fails(DtypeError, "operands have one type", sorting(dst="h"))
    fails(OverlapError, "dst and src share bytes", sorting(src0="d"))
    fails(UnsupportedError, "ascend310p has no Sort32", sorting(), soc="ascend310p")


def merging(lengths, valid, repeats=1, suspend=False, far=False):
    def body():
        u = Ub(d=F, q=(float32, 256), f=(float32, 64))
        put(u["q"], np.zeros(256, np.float32))
        put(u["f"], np.zeros(64, np.float32))
        queues = [u["q"][16 * k :] for k in range(3)] + [u["f"] if far else u["q"][48:]]
        MrgSort(u["d"], MrgSortSrcList(*queues), MrgSort4Info(lengths, suspend, valid, repeats))
        u.pipe.Destroy()

    return body


def test_what_a_merge_refuses():
    fails(RepeatError, "validBit is 5: it is 3, 7 or 15", merging([8] * 4, 5))
    fails(RepeatError, r"each is 0\.\.4095 records", merging([4096] * 4, 3))
    fails(RepeatError, "an empty queue with suspension", merging([8, 0, 8, 8], 15, suspend=True))
    for wrong in (
        merging([8] * 4, 7, 2),
        merging([8, 8, 8, 7], 15, 2),
        merging([8] * 4, 15, 2, suspend=True),
        merging([8] * 4, 15, 2, far=True),
    ):
        fails(ContractError, "more than 1 takes effect only with four queues", wrong)
    run_block(merging([8] * 4, 15, 2))


def test_results_that_nobody_left():
    fails(ContractError, "did not run with ifExhaustedSuspension", GetMrgSortResult)

    def after_a_plain_merge():
        merging([8] * 4, 15, suspend=True)()
        assert GetMrgSortResult()[0] == 8
        merging([8] * 4, 15)()
        GetMrgSortResult()

    fails(ContractError, "did not run with ifExhaustedSuspension", after_a_plain_merge)


def test_the_reference_of_concat_is_a_return_value():
    def body():
        u = Ub(a=F, b=F, c=F)
        Concat(u["a"], u["b"], u["c"], 4)

    fails(ContractError, r"write concat = Concat\(src, tmp, repeatTime\)", body)


@pytest.mark.parametrize("axis", [0, 1])
def test_broadcast_stores_its_elements_and_nothing_else(axis):
    def body():
        for T in (float32, half, int8, uint8):
            lines, lanes = (5, 64) if axis == 0 else (33, 7)
            u = Ub(d=(T, 512), s=(T, 64))
            put(u["s"], np.arange(64).astype(T.numpy))
            before = peek(u["d"], uint8)
            source = [1, lanes] if axis == 0 else [lines, 1]
            BroadCast(u["d"], u["s"], [lines, lanes], source, dim=2, axis=axis)
            want = np.broadcast_to(np.arange(source[0] * source[1]).reshape(source), (lines, lanes))
            assert_same_bits(peek(u["d"])[: want.size], want.reshape(-1).astype(T.numpy))
            end = want.size * T.nbytes
            assert_same_bits(peek(u["d"], uint8)[end:], before[end:])
            u.pipe.Destroy()

    run_block(body)


@pytest.mark.parametrize(
    ("text", "dst", "src", "dim", "axis"),
    [
        ("with a 1 at axis 0", [4, 8], [2, 8], 2, 0),
        ("with a 1 at axis 1", [4, 8], [1, 8], 2, 1),
        ("dim is 1 or 2", [4, 8, 2], [1, 8, 2], 3, 0),
        ("it has 2 dimensions", [4], [1], 2, 0),
        ("a multiple of 32 is needed along axis 1", [4, 7], [1, 7], 2, 0),
    ],
)
def test_broadcasts_that_are_refused(text, dst, src, dim, axis):
    def body():
        u = Ub(d=F, s=(float32, 64))
        Broadcast(u["d"], u["s"], dst, src, dim=dim, axis=axis)

    fails(ContractError, f"Broadcast: .*{text}", body)
