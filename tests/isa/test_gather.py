"""Instructions that move or make elements, against plain loops; their contract and records."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    ContractError,
)
from tests.helpers import assert_same_bits
from tests.kit import Ub, interesting, peek, put, run_block

VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "memory_vectors.json").read_text())[
        "vectors"
    ]
}
BOTH = pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])


@BOTH
def test_published_copies(soc):
    rows = VECTORS["copy_rows_mask8"]
    stride = CopyRepeatParams(*rows["params"]["params"].values())

    def body():
        u = Ub(s=(int32, 18 * 64), d=(int32, 18 * 64))
        table = np.arange(18 * 64, dtype=np.int32).reshape(rows["input"]["shape"])
        put(u["s"], table)
        Copy(u["d"], u["s"], rows["params"]["mask"], rows["params"]["repeatTime"], stride)
        assert_same_bits(peek(u["d"])[:144], np.ascontiguousarray(table[:, :8]).reshape(-1))
        Copy(u["d"], u["s"], 64, 8, CopyRepeatParams())
        assert_same_bits(peek(u["d"])[:512], table.reshape(-1)[:512])

    run_block(body, soc=soc)


@pytest.mark.parametrize("soc", ["ascend310p", "ascend910b1", "ascend950"])
def test_published_brcb_and_gather(soc):
    brcb, gather = VECTORS["brcb_16"], VECTORS["gather_reverse"]

    def body():
        u = Ub(s=(half, 128), d=(half, 256), o=(uint32, 128))
        put(u["s"], np.array(brcb["input"]["src"], np.float16))
        Brcb(u["d"], u["s"], 2, BrcbRepeatParams(1, 8))
        assert_same_bits(peek(u["d"]), np.array(brcb["output"]["dst"], np.float16))
        put(u["s"], np.array(gather["input"]["src"], np.float16))
        put(u["o"], np.array(gather["input"]["offset"], np.uint32))
        Gather(u["d"], u["s"], u["o"], 0, 128)
        assert_same_bits(peek(u["d"])[:128], np.array(gather["output"]["dst"], np.float16))

    run_block(body, soc=soc)


@BOTH
def test_published_gather_masks(soc):
    fixed, custom = VECTORS["gathermask_pattern2"], VECTORS["gathermask_custom_70"]

    def body():
        u = Ub(s=(uint32, 256), d=(uint32, 256), m=(uint32, 8))
        put(u["s"], np.array(fixed["input"]["src0"], np.uint32))
        kept = GatherMask(u["s"], u["s"], 2, False, 0, GatherMaskParams(1, 4, 8, 0))
        want = np.array(fixed["output"]["dst"], np.uint32)
        assert kept == want.size == 128
        assert_same_bits(peek(u["s"])[:kept], want)
        put(u["s"], np.array(custom["input"]["src0"], np.uint32))
        put(u["m"], np.full(8, int(custom["params"]["pattern_word"].split()[0], 16), np.uint32))
        kept = GatherMask(u["d"], u["s"], u["m"], True, 70, GatherMaskParams(1, 2, 4, 0), 0)
        assert kept == custom["output"]["rsvdCnt"]
        assert_same_bits(peek(u["d"])[:kept], np.array(custom["output"]["dst"], np.uint32))

    run_block(body, soc=soc)


def test_gather_mask_with_strides():
    """Blocks and repeats apart, mask bits of each repeat in a datablock of their own."""
    values = interesting(half, 2048, 1)
    bits = np.random.default_rng(3).integers(0, 1 << 16, 64, np.uint16)

    def body():
        u = Ub(s=(half, 2048), d=(half, 512), m=(uint16, 64))
        put(u["s"], values)
        put(u["m"], bits)
        kept = GatherMask(u["d"], u["s"], u["m"], False, 0, GatherMaskParams(2, 3, 20, 1))
        want = [
            values[16 * (20 * r + 2 * (lane // 16)) + lane % 16]
            for r in range(3)
            for lane in range(128)
            if bits[16 * r + lane // 16] >> lane % 16 & 1
        ]
        assert_same_bits(peek(u["d"])[:kept], np.array(want))

    run_block(body)


@BOTH
def test_gather_with_masks(soc):
    values, order = interesting(bfloat16, 500, 2), np.random.default_rng(0).integers(0, 490, 384)

    def body():
        u = Ub(s=(bfloat16, 512), d=(bfloat16, 512), o=(uint32, 384))
        put(u["s"], values)
        put(u["o"], (2 * order).astype(np.uint32))
        put(u["d"], np.zeros(512, bfloat16.numpy))
        Gather(u["d"], u["s"], u["o"], 20, [0x8000000000000001, 0b100], 3, 9)
        want = np.zeros(512, bfloat16.numpy)
        for r in range(3):
            for lane in (0, 63, 66):
                want[9 * 16 * r + lane] = values[10 + order[128 * r + lane]]
        assert_same_bits(peek(u["d"]), want)

    run_block(body, soc=soc)


def chain(first, difference, count, base, lanes, kind):
    """Return a progression by single additions in `kind`, as the library does them."""
    out = []
    for i in range(count):
        if i < base:
            value = kind(np.float32(first) + np.float32(difference) * np.float32(i))
        elif i < lanes:
            value = kind(np.float32(out[i - base]) + np.float32(kind(difference * base)))
        else:
            value = kind(np.float32(out[i - lanes]) + np.float32(kind(difference * lanes)))
        out.append(value)
    return np.array(out, kind)


@BOTH
@pytest.mark.parametrize("T", [float32, half, int16, int32])
def test_progressions(T, soc):
    kind, lanes = T.numpy.type, 256 // T.nbytes
    base = lanes if soc == "ascend950" else 32 // T.nbytes
    first, difference = (2040.3, 0.7) if T.kind == "float" else (32760, 3)

    def body():
        u = Ub(d=(T, 1024))
        put(u["d"], np.zeros(1024, T.numpy))
        for count in (1, 3 * lanes + 3):
            ArithProgression(u["d"], first, difference, count)
            CreateVecIndex(u["d"][512:], first, count)
            start = T.from_bits(T.to_bits(first))
            if T.kind == "float":
                step = T.from_bits(T.to_bits(difference))
                want = chain(start, step, count, base, lanes, kind)
                one = chain(start, np.float32(1), count, base, lanes, kind)
            else:
                want, one = (
                    (first + d * np.arange(count)).astype(T.numpy) for d in (difference, 1)
                )
            assert_same_bits(peek(u["d"])[:count], want)
            assert_same_bits(peek(u["d"])[512 : 512 + count], one)
        behind = peek(u["d"])[3 * lanes + 3]
        assert (behind == 0) == (soc == "ascend950")  # 910B rounds the count up to 32 bytes

    run_block(body, soc=soc)


@BOTH
def test_index_under_a_mask(soc):
    want = VECTORS["createvecindex_128"]["output"]["dst"]

    def body():
        u = Ub(d=(int16, 512))
        put(u["d"], np.full(512, -1, np.int16))
        CreateVecIndex(u["d"], 0, 128)
        assert list(peek(u["d"])[:128]) == want
        put(u["d"], np.full(512, -1, np.int16))
        CreateVecIndex(u["d"], 5, [0b1001, 1], 2, 2, 16)
        found = {int(i): int(v) for i, v in enumerate(peek(u["d"])) if v != -1}
        assert found == {0: 5, 3: 8, 128: 69, 256: 133, 259: 136, 384: 197}

    run_block(body, soc=soc)


def test_transpose():
    def body():
        u = Ub(s=(uint16, 256))
        put(u["s"], np.arange(256, dtype=np.uint16))
        Transpose(u["s"], u["s"])
        assert list(peek(u["s"]).reshape(16, 16)[3]) == [3 + 16 * k for k in range(16)]

    run_block(body)


def test_format_lists():
    """By tensors and by addresses, with strides, in 16 and 32 bits."""

    def body():
        u = Ub(s=(half, 16 * 48), d=(half, 16 * 48), f=(float32, 128), g=(float32, 128))
        put(u["s"], np.arange(768, dtype=np.float16))
        put(u["d"], np.zeros(768, np.float16))
        rows = [u["s"][48 * k :] for k in range(16)]
        columns = [u["d"][48 * k + 16 :].GetPhyAddr() for k in range(16)]
        sources = [row.GetPhyAddr() for row in rows]
        TransDataTo5HD(half, columns, sources, TransDataTo5HDParams(False, False, 2, 1, 2))
        got = peek(u["d"]).reshape(16, 3, 16)
        given = peek(u["s"]).reshape(16, 3, 16)
        assert_same_bits(got[:, 1], np.ascontiguousarray(given[:, 0].T))
        assert_same_bits(got[:, 2], np.ascontiguousarray(given[:, 2].T))
        assert not got[:, 0].any()
        put(u["f"], np.arange(128, dtype=np.float32))
        lists = [[u[name][8 * k :] for k in range(16)] for name in "gf"]
        TransDataTo5HD(*lists, TransDataTo5HDParams())
        wide = peek(u["g"]).reshape(16, 8)
        assert list(wide[0]) == [8 * k for k in range(8)]
        assert list(wide[3]) == [8 * k + 1 for k in range(8, 16)]

    block = run_block(body)
    record = next(r for r in block.records if r.call.name == "TransDataTo5HD")
    dst, src = (
        [record.call.ranges(a) for a in record.call.accesses if a.writes == writes]
        for writes in (True, False)
    )
    assert [len(dst), len(src)] == [16, 16]
    assert dst[1] == [(1536 + 96 + 32, 1536 + 96 + 96)]
    assert src[1] == [(96, 96 + 32), (96 + 64, 96 + 96)]


def test_records():
    def body():
        u = Ub(d=(uint32, 64), s=(uint32, 64), o=(uint32, 64))
        put(u["o"], np.zeros(64, np.uint32))
        Gather(u["d"], u["s"], u["o"], 0, 10)
        GatherMask(u["d"], u["s"], 3, False, 0, GatherMaskParams(1, 1, 8, 0))
        Brcb(u["d"], u["s"], 1, BrcbRepeatParams(1, 8))
        CreateVecIndex(u["d"].ReinterpretCast(int32), 7, [3, 0], 1)

    names = ("Gather", "GatherMask", "Brcb", "CreateVecIndex")
    block = run_block(body)
    found = {r.call.name: r for r in block.records if r.call.name in names}
    spans = {n: {a.role: r.call.ranges(a) for a in r.call.accesses} for n, r in found.items()}
    assert spans == {
        "Gather": {"dst": [(0, 40)], "src0": [(256, 512)], "src1": [(512, 552)]},
        "GatherMask": {"dst": [(0, 64)], "src0": [(256 + 32 * b, 288 + 32 * b) for b in range(8)]},
        "Brcb": {"dst": [(0, 256)], "src0": [(256, 288)]},
        "CreateVecIndex": {"dst": [(0, 8)]},
    }
    assert all(r.where.file == __file__ for r in found.values())
    logged = next(c for c in block.calls if c["op"] == "CreateVecIndex")
    assert (logged["firstValue"], logged["mask"]) == (7, 3)


def test_without_data():
    """A fixed pattern keeps a known number; a mask tensor's is data."""

    def fixed():
        u = Ub(d=(uint32, 64), s=(uint32, 64))
        assert GatherMask(u["d"], u["s"], 3, False, 0, GatherMaskParams(1, 1, 8, 0)) == 16

    run_block(fixed, executing=False)

    def tensor():
        u = Ub(d=(uint32, 64), s=(uint32, 64))
        GatherMask(u["d"], u["s"], u["s"], False, 0, GatherMaskParams(1, 1, 8, 0))

    with pytest.raises(ContractError, match="makes records only"):
        run_block(tensor, executing=False)
