"""out_of_bounds=report: calls past their tensors go on as on hardware, and are findings."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.errors import BoundsError
from tests.checks.kit import BOTH, DATA, OUT, N, faults, findings_of, pipe_with, verify
from tests.kit import gm, run_block

TABLE, fault = faults()
REPORT = {"options": {"out_of_bounds": "report"}}
PAST, PAST_GM = "memcheck:out-of-bounds", "memcheck:gm-out-of-bounds"


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


def stored(out, b, n=N):
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(out), b, n)


@fault(PAST, BOTH, request=REPORT)
def fill_past_a_buffer(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    a, b = p.a.Get(float32), p.b.Get(float32)
    Duplicate(b, 3.0, N)
    for _ in range(3):
        if k.form == "count":
            Duplicate(a, 1.0, N + 8 * k.broken)  # fault
        else:
            Duplicate(a, 1.0, 64, 2 + k.broken, 1, 8)  # fault
    stored(out, b)


@fault(PAST, request=REPORT)
def read_past_a_buffer(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N, c=8 * N)
    a, b, c = p.a.Get(float32), p.b.Get(float32), p.c.Get(float32)
    Duplicate(a, 1.0, N)
    Duplicate(b, 3.0, N)
    Muls(c, a, 2.0, N + 64 * k.broken)  # fault
    stored(out, c)


@fault(PAST, request=REPORT)
def reduction_past_a_buffer(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N, r=32)
    a, b, r = p.a.Get(float32), p.b.Get(float32), p.r.Get(float32)
    Duplicate(a, 1.0, N)
    Duplicate(b, 1.0, N)
    WholeReduceSum(r, a, 64, 2 + k.broken, 1, 1, 8)  # fault


@fault(PAST, request=REPORT)
def copy_past_a_buffer(k, x, out):
    p = pipe_with(a=4 * 64, b=4 * N)
    DataCopy(p.a.Get(float32), gm(x), 64 + 8 * k.broken)  # fault


@fault(PAST, request=REPORT)
def padding_past_a_buffer(k, x, out):
    p = pipe_with(a=4 * 64, b=4 * N)
    length = DataCopyParams(1, 4 * (61 + 6 * k.broken), 0, 0)
    DataCopyPad(p.a.Get(float32), gm(x), length)  # fault


@fault(PAST, request=REPORT)
def element_past_a_buffer(k, x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    p.a.Get(float32).SetValue(N - 1 + k.broken, 1.0)  # fault


@fault(PAST_GM, request=REPORT)
def copy_past_gm(k, x, out):
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    Duplicate(a, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(out)[64 * k.broken :], a, N)  # fault


@fault(PAST_GM, request=REPORT)
def copy_before_gm(k, x, out):
    p = pipe_with(a=4 * N)
    tensor = GlobalTensor(float32)
    tensor.SetGlobalBuffer(x + (-16 if k.broken else 0))
    DataCopy(p.a.Get(float32), tensor, N)  # fault


@fault(PAST_GM, request=REPORT)
def block_past_gm(k, x, out):
    p = pipe_with(a=4 * N)
    shape = DataCopyParams(6 if k.broken else 4, 2, 2, 0)
    DataCopy(p.a.Get(float32), gm(x), shape)  # fault


def fills_past(x, out):
    p = pipe_with(a=4 * N, b=4 * N)
    a, b = p.a.Get(float32), p.b.Get(float32)
    Duplicate(b, 3.0, N)
    Duplicate(a, 1.0, N + 8)
    stored(out, b)


@pytest.mark.parametrize("observe", [True, False])
def test_what_lies_behind_is_overwritten_in_every_block(observe):
    block = run_block(fills_past, DATA, OUT, block_dim=2, observe=observe, **REPORT)
    want = np.where(np.arange(N) < 8, 1, 3).astype(np.float32)
    assert np.array_equal(block.outputs["out"], want)
    assert "Duplicate: dst needs UB[0x0, 0x220)" in block.warning("out-of-bounds")
    with pytest.raises(BoundsError):
        run_block(fills_past, DATA, OUT, observe=observe)


def test_the_bytes_behind_are_fresh_again_in_the_next_block():
    def body(x, out):
        p = pipe_with(a=4 * N, b=4 * N)
        if GetBlockIdx() == 0:
            Duplicate(p.a.Get(float32), 1.0, N + 8)
        else:
            DataCopy(gm(out), p.b.Get(float32), N)

    block = run_block(body, DATA, OUT, block_dim=2, **REPORT)
    assert set(block.outputs["out"].view(np.uint32)) == {0xDEADBEEF}


@pytest.mark.parametrize("observe", [True, False])
def test_a_copy_that_leaves_gm_moves_what_lies_inside(observe):
    def body(x, out):
        p = pipe_with(a=4 * N)
        a = p.a.Get(float32)
        Duplicate(a, 7.0, N)
        DataCopy(a, gm(x)[64:], N)
        DataCopy(gm(out)[32:], a, DataCopyParams(3, 4, 0, 4))

    block = run_block(body, DATA, OUT, observe=observe, **REPORT)
    want = np.full(N, 0xDEADBEEF, np.uint32)
    moved = np.r_[np.arange(64, 128), np.full(64, 7)].astype(np.float32).view(np.uint32)
    want[32:64], want[96:128] = moved[:32], moved[32:64]
    assert np.array_equal(block.outputs["out"].view(np.uint32), want)


def test_past_the_end_of_ub_it_raises_all_the_same():
    def body(x, out):
        p = pipe_with(a=196608 - 64, b=64)
        Duplicate(p.b.Get(float32), 1.0, 64)

    with pytest.raises(BoundsError, match="b float32"):
        run_block(body, DATA, OUT, **REPORT)
    (found,) = findings_of(body, DATA, OUT, **REPORT)
    assert (found.code, found.bytes, found.buffer) == (PAST, (196608, 196800), "b")


def test_counts_bytes_and_way_out():
    found = next(each for each in TABLE if each.name == "fill_past_a_buffer-count").run(True)[0]
    assert (found.count, found.bytes, found.buffer) == (3, (512, 544), "a")
    assert (found.instruction, found.way_out) == (
        "Duplicate",
        "use a smaller count or a larger buffer",
    )
    found = next(each for each in TABLE if each.name == "copy_past_gm").run(True)[0]
    assert (found.memory, found.bytes, found.buffer) == ("out", (512, 768), "")


def test_plans_are_not_made_and_the_run_says_so():
    op = asim.load("add")
    ones, options = np.ones(64, np.float32), asim.Options(out_of_bounds="report")
    til = op.tiling((64,), "float32")
    run = asim.launch(op, {"x": ones, "y": ones}, til, mode="replay", options=options)
    assert run.mode == "step"
    assert "out_of_bounds=report" in run.fallback
    assert np.array_equal(run.out, ones + ones)
