"""Blocks that wait for one another: SyncAll, IBSet, IBWait; what hangs is an error."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    BoundsError,
    ContractError,
    DtypeError,
    QueueError,
    RepeatError,
    UnsupportedError,
)
from ascendsim.launch import Readers, launch
from ascendsim.observe.recorder import Recorder
from tests.kit import Ub, fails, gm, make_job, run_block

BLOCKS, EACH = 8, 32


def waiting_threads():
    """Return how many threads of blocks are left; others are kept for replay."""
    return sum("_run_apart" in thread.name for thread in threading.enumerate())


ONES = {"x": np.ones(BLOCKS * EACH, np.float32)}
SUMS = {"z": ((EACH,), "float32"), "work": ((BLOCKS * EACH,), "float32")}


def sums(sync):
    """Return a kernel: every block doubles its part, all meet, the last adds all parts."""

    def body(x, *rest):
        *words, z, work = rest
        u = Ub(a=(float32, EACH), total=(float32, EACH), w=(int32, BLOCKS * 8))
        block = GetBlockIdx()
        DataCopy(u["a"], gm(x)[block * EACH :], EACH)
        Muls(u["a"], u["a"], 2.0, EACH)
        DataCopy(gm(work)[block * EACH :], u["a"], EACH)
        sync(u["w"], *map(gm, words))
        if block == 0:  # the first to run: without SyncAll it would see poison
            Duplicate(u["total"], 0.0, EACH)
            for other in range(GetBlockNum()):
                DataCopy(u["a"], gm(work)[other * EACH :], EACH)
                Add(u["total"], u["total"], u["a"], EACH)
            DataCopy(gm(z), u["total"], EACH)

    return body


def hard(w):
    SyncAll()


def soft(w, words):
    SyncAll(words, w)


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
def test_hard_sync(soc):
    for observe in (True, False, True):
        block = run_block(sums(hard), ONES, SUMS, block_dim=BLOCKS, soc=soc, observe=observe)
        assert list(block.outputs["z"]) == [16.0] * EACH
    assert block.rules["block-turns"] == "assumed"
    assert not [w for w in block.warnings if w.startswith("coverage")]


def test_published_soft_sync():
    words = np.zeros(BLOCKS * 8, np.int32)
    block = run_block(sums(soft), ONES | {"sync": words}, SUMS, block_dim=BLOCKS, soc="ascend310p")
    assert list(block.outputs["z"]) == [16.0] * EACH
    order = [(c["core"], c["phase"]) for c in block.calls if c["op"] == "SyncAll"]
    assert order == [(b, "arrive") for b in range(8)] + [(b, "leave") for b in range(8)]
    first = next(c for c in block.calls if c["op"] == "SyncAll" and c["core"] == 3)
    assert (first["phase"], first["dst"]) == ("arrive", {"gm": "sync", "off": 96})


def test_the_order_of_turns():
    seen = []

    def body(out):
        for phase in range(3):
            seen.append((phase, GetBlockIdx()))
            SyncAll()

    run_block(body, {}, {"out": ((1,), "float32")}, block_dim=5, observe=False)
    assert seen == [(phase, block) for phase in range(3) for block in range(5)]
    assert waiting_threads() == 0


def test_published_ib_set_and_wait():
    x = np.ones(512, np.float16)

    def body(x, y, words, z):
        u = Ub(a=(half, 256), b=(half, 256), w=(int32, 8))
        block = GetBlockIdx()
        if block == 1:
            IBWait(gm(words), u["w"], 0, 0)
            DataCopy(u["a"], gm(z), 256)
        else:
            DataCopy(u["a"], gm(x), 256)
        DataCopy(u["b"], gm(y)[block * 256 :], 256)
        Add(u["a"], u["a"], u["b"], 256)
        DataCopy(gm(z)[block * 256 :], u["a"], 256)
        if block == 0:
            IBSet(gm(words), u["w"], 0, 0)

    def late(*arguments):  # the block that waits comes first
        body(*arguments) if GetBlockIdx() else None
        if not GetBlockIdx():
            body(*arguments)

    inputs = {"x": x, "y": x, "words": np.zeros(256, np.int32)}
    for kernel in (body, late):
        found = run_block(kernel, inputs, {"z": ((512,), "float16")}, block_dim=2).outputs["z"]
        assert list(found) == [2.0] * 256 + [3.0] * 256


def test_a_chain_against_the_order_of_blocks():
    """Block 3 goes first, then 2, 1, 0: each waits for the one above."""
    seen = []

    def body(words):
        u = Ub(w=(int32, 8))
        block = GetBlockIdx()
        if block < 3:
            IBWait(gm(words), u["w"], block + 1, 0)
        seen.append(block)
        if block:
            IBSet(gm(words), u["w"], block, 0)

    run_block(body, {"words": np.zeros(64, np.int32)}, block_dim=4)
    assert seen == [3, 2, 1, 0]


def hangs(match, body, inputs=None, **request):
    text = fails(QueueError, match, body, inputs or {}, {"out": ((8,), "float32")}, **request)
    assert "test_turns.py" in text
    assert waiting_threads() == 0
    return text


def test_what_hangs():
    def some(out):
        if GetBlockIdx() != 2:
            SyncAll()

    text = hangs("SyncAll waits for ever: not all 4 blocks call it 1 times", some, block_dim=4)
    assert "hangs on hardware" in text

    def first_is_gone(out):
        if GetBlockIdx():
            SyncAll()

    hangs("not all 3 blocks call it", first_is_gone, block_dim=3)

    def nobody_sets(words, out):
        u = Ub(w=(int32, 8))
        IBWait(gm(words), u["w"], 1, 2)

    words = {"words": np.zeros(64, np.int32)}
    hangs("no block calls IBSet with blockIdx 1 and eventID 2", nobody_sets, words, block_dim=2)
    dirty = {"words": np.full(64, 7, np.int32)}
    hangs("its word is 7: zero the workspace", nobody_sets, dirty, block_dim=2)

    def alone(out):
        SyncAll()

    run_block(alone, {}, {"out": ((8,), "float32")})  # one block meets itself


def test_an_error_in_a_waiting_launch_names_its_block():
    def body(out):
        u = Ub(a=(float32, 8))
        SyncAll()
        if GetBlockIdx() == 2:
            Muls(u["a"], u["a"], 2.0, 9)
        SyncAll()

    for _ in range(2):  # the core is not kept
        text = fails(
            BoundsError, "Muls: dst needs", body, {}, {"out": ((8,), "float32")}, block_dim=4
        )
        assert "[block 2]" in text
        assert waiting_threads() == 0

    def first(out):
        if GetBlockIdx() == 0:
            SyncAll()
            raise ValueError("mine")
        SyncAll()

    with pytest.raises(Exception, match="mine"):
        run_block(first, {}, {"out": ((8,), "float32")}, block_dim=4)
    assert waiting_threads() == 0


def test_contract():
    out = {"out": ((8,), "float32")}

    def call(*arguments, **more):
        def body(words, out):
            u = Ub(w=(int32, 8), f=(float32, 64), big=(int32, 512))
            SyncAll(*(pick(u, words) for pick in arguments), **more)

        return body

    words, ub = (lambda u, w: gm(w)), (lambda u, w: u["big"])
    small, floats = (lambda u, w: u["w"]), (lambda u, w: u["f"])

    def broken(error, match, body, dtype=np.int32, size=64, **request):
        inputs = {"words": np.zeros(size, dtype)}
        fails(error, match, body, inputs, out, **({"block_dim": 4} | request))

    broken(UnsupportedError, "ascend310p has no hardware sync", call(), soc="ascend310p")
    broken(ContractError, "50 blocks on 48 cores .* at most 48 blocks", call(), block_dim=50)
    broken(ContractError, "gmWorkspace is .* ubWorkspace is None", call(words))
    broken(BoundsError, "ubWorkspace is .* of 32 bytes: 128 are needed", call(words, small))
    broken(DtypeError, "ubWorkspace is float32: it must be int32", call(words, floats))
    broken(DtypeError, "gmWorkspace is float32", call(words, ub), np.float32)
    broken(BoundsError, "gmWorkspace reaches words", call(words, ub), size=16)
    broken(RepeatError, "usedCores is 5: it must be 0..4", call(words, ub, usedCores=5))

    def dirty(words, out):
        u = Ub(w=(int32, 32))
        SyncAll(gm(words), u["w"])

    fails(ContractError, "the word of block 0 .* is 3: the workspace must be zeroed", dirty,
          {"words": np.full(32, 3, np.int32)}, out, block_dim=4)  # fmt: skip


def test_recording_bytes_across_turns():
    """The recorder sees each block's own stores, also where other blocks run in between."""
    recorder = Recorder()
    job = make_job(sums(soft), ONES | {"sync": np.zeros(64, np.int32)}, SUMS, block_dim=BLOCKS)
    result = launch(job, Readers(observers=(recorder,)))
    assert list(result.outputs["z"]) == [16.0] * EACH
    for number, recording in recorder.blocks.items():
        syncs = [e for e in recording.entries if e.instr.call.name == "SyncAll"]
        (arrive,), (leave,) = syncs[0].deltas, syncs[1].deltas
        assert (arrive.space, arrive.start) == ("sync", 32 * number)
        assert (arrive.before, arrive.after) == (bytes(4), (1).to_bytes(4, "little"))
        assert np.frombuffer(leave.after, np.int32)[::8].tolist() == [1] * 8


def test_without_data_nobody_waits():
    def body(words, out):
        u = Ub(w=(int32, 32))
        SyncAll()
        SyncAll(gm(words), u["w"])
        IBWait(gm(words), u["w"], 1, 0)

    block = run_block(
        body, {"words": np.zeros(64, np.int32)}, {"out": ((8,), "float32")}, block_dim=4,
        executing=False,
    )  # fmt: skip
    names = [r.call.name for r in block.records if r.call.name in ("SyncAll", "IBWait")]
    assert names == (["SyncAll"] * 4 + ["IBWait"]) * 4
