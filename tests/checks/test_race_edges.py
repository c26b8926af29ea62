"""racecheck: the scalar unit, hazards through GM, flags that are there and do not help, atomics."""

from __future__ import annotations

import pytest

from ascendsim import Options
from ascendsim.ascendc import *
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import Checks
from tests.checks.kit import (
    BOTH,
    DATA,
    FULL,
    HALF,
    OFF,
    OUT,
    N,
    buffers,
    faults,
    findings_of,
    flags,
    pipe_with,
    verify,
)
from tests.kit import gm, make_job

TABLE, fault = faults()


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


@fault("racecheck:raw-inter-pipe", request=OFF)
def scalar_reads_what_is_copied_in(k, x, out):
    a, _ = buffers()
    DataCopy(a, gm(x), N)
    flags(HardEvent.MTE2_S, not k.broken)
    a.GetValue(3)  # fault


@fault("racecheck:war-inter-pipe", BOTH, request=OFF)
def scalar_overwrites_what_is_read(k, x, out):
    a, b = buffers()
    Duplicate(a, 1.0, N)
    PipeBarrier(PIPE_V)
    if k.form == "count":
        Muls(b, a, 2.0, N)
    else:
        Muls(b, a, 2.0, 64, 2, FULL)
    flags(HardEvent.V_S, not k.broken)
    a.SetValue(3, 2.0)  # fault


@fault("racecheck:waw-inter-pipe", request=OFF)
def scalar_overwrites_what_is_copied_in(k, x, out):
    a, _ = buffers()
    DataCopy(a, gm(x), N)
    flags(HardEvent.MTE2_S, not k.broken)
    a.SetValue(3, 2.0)  # fault


@fault("racecheck:war-inter-pipe", request=OFF)
def scalar_overwrites_what_is_copied_out(k, x, out):
    a, _ = buffers()
    Duplicate(a, 1.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)
    flags(HardEvent.V_S)
    flags(HardEvent.MTE3_S, not k.broken)
    a.SetValue(3, 2.0)  # fault


@fault("racecheck:war-inter-pipe")
def copy_out_overwrites_what_is_copied_in(k, x, out):
    """Both touch GM only."""
    a, b = buffers()
    Duplicate(b, 1.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(a, gm(x), N)
    flags(HardEvent.MTE2_MTE3, not k.broken)
    DataCopy(gm(x), b, N)  # fault
    a.SetValue(0, 1.0)


@fault("racecheck:raw-inter-pipe")
def bound_queue_is_copied_on_without_its_edge(k, x, out):
    """TQueBind hands a tensor from MTE2 to MTE3; a tensor of a TBuf has no such edge."""
    p = pipe_with(buf=4 * N)
    queue = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)
    p.pipe.InitBuffer(queue, 1, 4 * N)
    tensor = p.buf.Get(float32) if k.broken else queue.AllocTensor(float32)
    DataCopy(tensor, gm(x), N)
    if not k.broken:
        queue.EnQue(tensor)
        tensor = queue.DeQue(float32)
    DataCopy(gm(out), tensor, N)  # fault
    if not k.broken:
        queue.FreeTensor(tensor)


@fault("racecheck:raw-intra-pipe", ("count", "blocks"), request=OFF)
def copy_within_ub_reads_what_v_wrote(k, x, out):
    """Copy from UB to UB, an instruction of V: no flag, but a barrier orders it."""
    a, b = buffers()
    Duplicate(a, 1.0, N)
    if not k.broken:
        PipeBarrier(PIPE_V)
    if k.form == "count":
        DataCopy(b, a, N)  # fault
    else:
        DataCopy(b, a, DataCopyParams(4, 2, 2, 2))  # fault


@fault("racecheck:raw-inter-pipe")
def flag_of_the_other_direction(k, x, out):
    a, b = buffers()
    DataCopy(a, gm(x), N)
    flags(HardEvent.V_MTE2 if k.broken else HardEvent.MTE2_V)
    Muls(b, a, 2.0, N)  # fault


@fault("racecheck:raw-inter-pipe")
def flag_that_is_set_before_the_copy(k, x, out):
    a, b = buffers()
    if k.broken:
        SetFlag(HardEvent.MTE2_V, 0)
    DataCopy(a, gm(x), N)
    if not k.broken:
        SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Muls(b, a, 2.0, N)  # fault


@fault("racecheck:raw-inter-pipe")
def barrier_of_one_pipe_orders_no_other(k, x, out):
    a, b = buffers()
    DataCopy(a, gm(x), N)
    PipeBarrier(PIPE_MTE2 if k.broken else PIPE_ALL)
    Muls(b, a, 2.0, N)  # fault


@fault("racecheck:raw-inter-pipe")
def wait_of_another_pipe_does_not_hold_this_one(k, x, out):
    """MTE3 waits for the copy in; V, which reads it, does not."""
    a, b = buffers()
    DataCopy(a, gm(x), N)
    flags(HardEvent.MTE2_MTE3)
    if not k.broken:
        flags(HardEvent.MTE3_V)
    Muls(b, a, 2.0, N)  # fault


@fault("racecheck:waw-intra-pipe")
def addition_after_a_plain_copy(k, x, out):
    """Atomic copies may come in any order, but not before the store that they add to."""
    a, _ = buffers()
    Duplicate(a, 1.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)
    if not k.broken:
        PipeBarrier(PIPE_MTE3)
    SetAtomicAdd(float32)
    DataCopy(gm(out), a, N)  # fault
    DataCopy(gm(out), a, N)
    SetAtomicNone()


@fault("racecheck:waw-intra-pipe")
def additions_of_two_types(k, x, out):
    """Add float and int32 to the same bytes: these do not commute."""
    a, _ = buffers()
    Duplicate(a, 1.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)
    PipeBarrier(PIPE_MTE3)
    SetAtomicAdd(float32)
    DataCopy(gm(out), a, N)
    SetAtomicNone()
    if not k.broken:
        PipeBarrier(PIPE_MTE3)
    SetAtomicAdd(int32_t)
    whole = GlobalTensor(int32_t)
    whole.SetGlobalBuffer(out, N)
    DataCopy(whole, a.ReinterpretCast(int32_t), N)  # fault
    SetAtomicNone()


def test_counter_mode_touches_no_lane_behind_its_count():
    """Of 100 strided elements the last repeat has 36: what lies behind them may be copied in."""

    def body(x, out):
        p = pipe_with(a=16 * N, b=16 * N)
        a, b = p.a.Get(float32), p.b.Get(float32)
        Duplicate(b, 1.0, 4 * N)
        SetMaskCount()
        SetVectorMask(float32, MaskMode.COUNTER, 100)
        Muls(a, b, 2.0, MASK_PLACEHOLDER, 1, HALF, isSetMask=False)
        SetMaskNorm()
        ResetMask()
        DataCopy(a[128 + 5 * 16 :], gm(x), 8)  # the datablock of elements 104..111

    assert findings_of(body, DATA, OUT, tools=("racecheck",)) == []


def test_a_finding_names_the_edge_that_is_missing():
    def body(x, out):
        a, b = buffers()
        DataCopy(a, gm(x), N)
        Muls(b, a, 2.0, N)
        Duplicate(b, 1.0, N)
        b.GetValue(0)

    found = findings_of(body, DATA, OUT, tools=("racecheck",), **OFF)
    copied, again, read = found
    assert copied.message.endswith("writes: no flag or queue edge MTE2_V orders the pipes")
    assert copied.way_out.startswith("EnQue and DeQue of a queue; or SetFlag(HardEvent.MTE2_V, id)")
    assert read.message.endswith("no flag V_S orders the pipes")
    assert read.way_out == "SetFlag(HardEvent.V_S, id) after the first, WaitFlag before the second"
    assert again.message.endswith("no PipeBarrier(PIPE_V) orders them")
    assert again.way_out == "put PipeBarrier(PIPE_V) between the two"


@pytest.mark.parametrize("ordered", [False, True])
def test_what_is_not_looked_for_is_said(ordered):
    """A pipe that nothing orders is looked back at so far, and no further."""

    def body(x, out):
        a, b = buffers()
        for _ in range(2100):
            DataCopy(a, gm(x), 8)
            PipeBarrier(PIPE_MTE2)
            if ordered:
                flags(HardEvent.MTE2_V)
        Duplicate(b, 1.0, 8)

    checks = Checks(("racecheck",), Options())
    result = launch(make_job(body, DATA, OUT), Readers(checks=checks))
    told = [text for text in result.warnings if text.startswith("checks-limit-races: MTE2 runs")]
    assert len(told) == (not ordered)
    assert checks.all() == []
