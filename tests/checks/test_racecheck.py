"""racecheck: each hazard between pipes, in a pipe and between blocks; exact bytes only."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
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
from tests.kit import gm

TABLE, fault = faults()


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


@fault("racecheck:raw-inter-pipe", BOTH)
def vector_reads_what_is_copied_in(k, x, out):
    a, b = buffers()
    DataCopy(a, gm(x), N)
    flags(HardEvent.MTE2_V, not k.broken)
    if k.form == "count":
        Muls(b, a, 2.0, N)  # fault
    else:
        Muls(b, a, 2.0, 64, 2, FULL)  # fault
    Adds(b, a, 1.0, N)


@fault("racecheck:raw-inter-pipe", BOTH)
def copy_out_reads_what_is_computed(k, x, out):
    a, _ = buffers()
    if k.form == "count":
        Duplicate(a, 2.0, N)
    else:
        Duplicate(a, 2.0, 64, 2, 1, 8)
    flags(HardEvent.V_MTE3, not k.broken)
    DataCopy(gm(out), a, N)  # fault


@fault("racecheck:raw-inter-pipe")
def copy_in_reads_what_is_copied_out(k, x, out):
    a, b = buffers()
    Duplicate(a, 2.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)
    flags(HardEvent.MTE3_MTE2, not k.broken)
    DataCopy(b, gm(out), N)  # fault


@fault("racecheck:war-inter-pipe", BOTH)
def copy_in_overwrites_what_is_read(k, x, out):
    a, b = buffers()
    for _ in range(3):
        DataCopy(a, gm(x), N)  # fault
        flags(HardEvent.MTE2_V)
        if k.form == "count":
            Muls(b, a, 2.0, N)
        else:
            Muls(b, a, 2.0, 64, 2, FULL)
        flags(HardEvent.V_MTE2, not k.broken)


@fault("racecheck:war-inter-pipe")
def vector_overwrites_what_is_copied_out(k, x, out):
    a, _ = buffers()
    Duplicate(a, 2.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)
    flags(HardEvent.MTE3_V, not k.broken)
    Duplicate(a, 3.0, N)  # fault


@fault("racecheck:waw-inter-pipe", BOTH)
def two_pipes_write(k, x, out):
    a, _ = buffers()
    DataCopy(a, gm(x), N)
    flags(HardEvent.MTE2_V, not k.broken)
    if k.form == "count":
        Duplicate(a, 0.0, 64)  # fault
    else:
        Duplicate(a, 0.0, 64, 1, 1, 8)  # fault


@fault("racecheck:raw-intra-pipe", BOTH, request=OFF)
def vector_reads_what_it_wrote(k, x, out):
    a, b = buffers()
    if k.form == "count":
        Duplicate(a, 1.0, N)
        if not k.broken:
            PipeBarrier(PIPE_V)
        Muls(b, a, 2.0, N)  # fault
    else:
        Duplicate(a, 1.0, 64, 2, 1, 8)
        if not k.broken:
            PipeBarrier(PIPE_V)
        Muls(b, a, 2.0, 64, 2, FULL)  # fault


@fault("racecheck:war-intra-pipe", BOTH, request=OFF)
def vector_overwrites_what_it_read(k, x, out):
    a, b = buffers()
    Duplicate(a, 1.0, N)
    PipeBarrier(PIPE_V)
    Muls(b, a, 2.0, N)
    if not k.broken:
        PipeBarrier(PIPE_V)
    if k.form == "count":
        Duplicate(a, 2.0, N)  # fault
    else:
        Duplicate(a, 2.0, 64, 2, 1, 8)  # fault


@fault("racecheck:waw-intra-pipe", BOTH, request=OFF)
def vector_writes_twice(k, x, out):
    a, _ = buffers()
    Duplicate(a, 1.0, N)
    if not k.broken:
        PipeBarrier(PIPE_V)
    if k.form == "count":
        Duplicate(a, 2.0, N)  # fault
    else:
        Duplicate(a, 2.0, 64, 2, 1, 8)  # fault


@fault("racecheck:waw-intra-pipe")
def two_copies_in_to_one_place(k, x, out):
    a, _ = buffers()
    DataCopy(a, gm(x), N)
    if not k.broken:
        PipeBarrier(PIPE_MTE2)
    DataCopy(a, gm(x), 64)  # fault


@fault("racecheck:waw-intra-pipe")
def two_copies_out_to_one_place(k, x, out):
    a, _ = buffers()
    Duplicate(a, 1.0, N)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out), a, N)
    if not k.broken:
        PipeBarrier(PIPE_MTE3)
    DataCopy(gm(out), a, 64)  # fault


@fault("racecheck:raw-inter-pipe", request=OFF)
def scalar_reads_without_a_flag(k, x, out):
    a, _ = buffers()
    Duplicate(a, 1.0, N)
    flags(HardEvent.V_S, not k.broken)
    a.GetValue(3)  # fault


BLOCKS = {"block_dim": 4}


def stored(b, target):
    flags(HardEvent.V_MTE3)
    DataCopy(target, b, 32)


@fault("racecheck:raw-inter-core", request=BLOCKS)
def block_reads_what_another_wrote(k, x, out):
    a, b = buffers()
    Duplicate(a, 1.0, 32)
    flags(HardEvent.V_MTE3)
    DataCopy(gm(out)[32 * GetBlockIdx() :], a, 32)
    SyncAll()
    if GetBlockIdx() == 0:
        InitOutput(gm(out)[64:], 32)
    if not k.broken:
        SyncAll()
    if GetBlockIdx() == 3:
        DataCopy(b, gm(out)[64:], 32)  # fault
    SyncAll()


@fault("racecheck:war-inter-core", request=BLOCKS)
def block_overwrites_what_another_reads(k, x, out):
    a, b = buffers()
    Duplicate(a, 1.0, 32)
    if GetBlockIdx() == 0:
        flags(HardEvent.V_MTE3)
        DataCopy(gm(out), a, 32)
    SyncAll()
    if GetBlockIdx() == 1:
        DataCopy(b, gm(out), 32)
    if not k.broken:
        SyncAll()
    if GetBlockIdx() == 2:
        stored(a, gm(out)[64:])
        DataCopy(gm(out), a, 32)  # fault


def test_waw_between_blocks_is_racechecks_without_memcheck():
    def body(x, out):
        a, _ = buffers()
        Duplicate(a, 1.0, 32)
        stored(a, gm(out))

    (found,) = findings_of(body, DATA, OUT, tools=("racecheck",), block_dim=2)
    assert (found.code, found.bytes, found.core) == ("racecheck:waw-inter-core", (0, 128), 1)


def test_flags_between_blocks_order_them():
    """Block 0 writes, then sets a flag for block 1, which reads and hands on to block 2."""

    def body(x, work, out):
        p = pipe_with(a=128, w=32)
        a, w = p.a.Get(float32), p.w.Get(int32_t)
        block, flag = GetBlockIdx(), gm(work)
        if block:
            IBWait(flag, w, block - 1, 0)
        DataCopy(a, gm(out), 32)
        flags(HardEvent.MTE2_MTE3)
        DataCopy(gm(out), a, 32)
        if block < 2:
            IBSet(flag, w, block, 0)

    inputs = DATA | {"work": np.zeros(64, np.int32)}
    found = findings_of(body, inputs, OUT, block_dim=3, tools=("memcheck", "racecheck"))
    assert found == []


@pytest.mark.parametrize(("shift", "races"), [(8, []), (0, ["racecheck:waw-inter-pipe"])])
def test_interleaved_strides_do_not_meet(shift, races):
    """MTE2 fills every other datablock, V the ones between."""

    def body(x, out):
        p = pipe_with(a=8 * N)
        a = p.a.Get(float32)
        DataCopyPad(a, gm(x), DataCopyExtParams(16, 32, 0, 1, 0))
        Muls(a[shift:], a[shift:], 2.0, 64, 2, HALF)

    found = findings_of(body, DATA, OUT, tools=("racecheck",))
    assert [each.code.replace("raw", "waw") for each in found] == races


@pytest.mark.parametrize(("mask", "races"), [([0x55 << 8, 0], 0), ([0x55, 0], 1)])
def test_masked_lanes_do_not_meet(mask, races):
    """The first eight lanes are copied in; the instruction touches them or not."""

    def body(x, out):
        a, b = buffers()
        Duplicate(b, 1.0, N)
        DataCopy(a, gm(x), 8)
        Muls(b, a, 2.0, mask, 1, FULL)

    assert len(findings_of(body, DATA, OUT, tools=("racecheck",))) == races


def test_one_missing_flag_is_one_finding_with_a_count():
    def body(x, out):
        a, b = buffers()
        for _ in range(5):
            DataCopy(a, gm(x), N)
            Muls(b, a, 2.0, N)
            flags(HardEvent.V_MTE2)

    (found,) = findings_of(body, DATA, OUT)
    assert (found.code, found.count, found.bytes) == ("racecheck:raw-inter-pipe", 5, (0, 512))
    assert found.partner.startswith("DataCopy on MTE2 at ")
    assert found.other_seq < found.seq


@pytest.mark.parametrize(("soc", "races"), [("ascend910b1", 1), ("ascend950", 0)])
def test_950_orders_its_vector_pipe_itself(soc, races):
    def body(x, out):
        a, b = buffers()
        Duplicate(a, 1.0, N)
        Muls(b, a, 2.0, N)

    assert len(findings_of(body, DATA, OUT, soc=soc, options={"auto_sync": "off"})) == races
