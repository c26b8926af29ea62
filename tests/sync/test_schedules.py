"""Other orders of a block: what they may exchange, what they show, and when they are refused."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.dtypes import float32 as f32
from ascendsim.engine.conflicts import conflicts
from ascendsim.engine.order import positions
from ascendsim.errors import RequestError, UnsupportedError
from ascendsim.explore.inputs import random_inputs
from ascendsim.explore.minimize import minimized
from ascendsim.explore.schedules import schedules_of, try_schedules
from ascendsim.launch.staging import staged
from tests.kit import Ub, gm, make_job

X = np.arange(1, 129, dtype=np.float32)
OUT = {"out": ((128,), "float32")}


def job_of(body, **request):
    return make_job(body, {"x": X}, OUT, **request)


def conflicting(body, **request):
    """Return the pairs of calls that share bytes, by name."""
    with staged(job_of(body, **request), 0) as stage:
        names = [record.call.name for record in stage.records]
        found = conflicts(stage.records)
        return [(names[a], names[b]) for b in range(len(names)) for a in positions(found[b])]


def no_wait(x, out):
    """Copy the result out without waiting for the vector unit."""
    u = Ub(a=(float32, 128), b=(float32, 128))
    DataCopy(u["a"], gm(x), 128)
    SetFlag(HardEvent.MTE2_V, 0)
    WaitFlag(HardEvent.MTE2_V, 0)
    Abs(u["b"], u["a"], 128)
    DataCopy(gm(out), u["b"], 128)


def test_a_missing_flag_is_shown_as_two_instructions_and_an_element():
    found = schedules_of(job_of(no_wait), 9)
    assert (found.n, found.blocks, found.races) == (9, (0,), 1)
    assert 0 < found.differing < 9
    assert (found.hazard.first.name, found.hazard.last.name) == ("Abs", "DataCopy")
    assert found.hazard.shared.kind == "RAW"
    assert found.hazard.last.text == 'DataCopy(gm(out), u["b"], 128)'
    document = found.to_json()
    assert document["witness"]["first"] == {
        "tensor": "out",
        "element": 0,
        "dtype": "float32",
        "want": 0x3F800000,
        "got": 0xDEADBEEF,
    }
    assert "Abs line" in str(found)
    assert "0xdeadbeef instead of 0x3f800000" in str(found)


def test_the_three_kernels_agree_in_every_order():
    for name in ("hard_swish_grad", "hard_sigmoid_grad", "swish_grad"):
        op = asim.load(name)
        til = op.tiling((30_000,), "float32", cores=3)
        arrays = random_inputs(dict.fromkeys(op.definition.inputs, f32), (30_000,), 0)
        found = try_schedules(op, arrays, til, 20)
        assert (found.differing, found.races, found.blocks) == (0, 0, (0, 2))
        assert found.to_json()["witness"] is None


def test_vector_order_is_the_compilers_work_on_910b():
    def body(x, out):
        u = Ub(a=(float32, 128))
        Duplicate(u["a"], 1.0, 128)
        Adds(u["a"], u["a"], 1.0, 128)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(out), u["a"], 128)

    off = {"auto_sync": "off"}
    assert schedules_of(job_of(body, options=off), 20).differing > 0
    assert schedules_of(job_of(body), 20).races == 0
    assert schedules_of(job_of(body, options=off, soc="ascend950"), 20).races == 0


def test_interleaved_spans_do_not_conflict():
    def body(x, out):
        u = Ub(a=(float32, 128))
        even = UnaryRepeatParams(2, 2, 16, 16)
        Muls(u["a"], u["a"], 2.0, 32, 1, even)  # datablocks 0, 2, 4, 6
        Muls(u["a"][8:], u["a"][8:], 2.0, 32, 1, even)  # datablocks 1, 3, 5, 7
        Adds(u["a"], u["a"], 1.0, 8)  # datablock 0

    assert conflicting(body) == [("Muls", "Adds")]


def test_atomic_additions_commute_but_not_with_stores():
    def body(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(gm(out), u["a"], 128)
        SetAtomicAdd(float32)
        DataCopy(gm(out), u["a"], 128)
        DataCopy(gm(out), u["a"], 128)
        SetAtomicNone()

    assert conflicting(body) == [("DataCopy", "DataCopy")] * 2  # the store with either addition


def test_fills_of_gm_without_an_atomic_mode_conflict():
    def body(x, out):
        InitOutput(gm(out), 64, 1.0)
        InitOutput(gm(out), 64, 2.0)

    assert conflicting(body) == [("InitOutput", "InitOutput")]
    assert schedules_of(job_of(body), 10).witness.difference.want == 0x40000000


def test_of_several_exchanges_the_decisive_pair_is_told():
    """Both copies must read too late: an exchange of one pair alone shows nothing."""

    def body(x, out):
        u = Ub(a=(float32, 64), b=(float32, 64), c=(float32, 64), d=(float32, 64))
        PipeBarrier(PIPE_ALL)
        Adds(u["c"], u["a"], 0.0, 64)
        Duplicate(u["a"], 9.0, 64)
        Adds(u["d"], u["b"], 0.0, 64)
        Duplicate(u["b"], 9.0, 64)
        PipeBarrier(PIPE_V)
        Min(u["c"], u["c"], u["d"], 64)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(out), u["c"], 64)

    off = {"auto_sync": "off", "ub_fill": "0x00"}
    found = schedules_of(job_of(body, options=off), 50)
    assert (found.hazard.first.name, found.hazard.last.name) == ("Adds", "Duplicate")
    assert found.hazard.shared.kind == "WAR"
    assert found.hazard.last.line - found.hazard.first.line == 1
    assert found.witness.difference == ("out", 0, "float32", 0, 0x41100000)


def test_copies_of_one_pipe_to_the_same_bytes_need_a_barrier():
    def body(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 64)
        DataCopy(u["a"], gm(x)[64:], 64)
        PipeBarrier(PIPE_ALL)
        DataCopy(gm(out), u["a"], 64)

    found = schedules_of(job_of(body), 10)
    assert found.hazard.shared.kind == "WAW"
    assert found.witness.difference.want == 0x42820000  # 65, which comes second in the program


def test_a_value_that_the_kernel_reads_counts():
    """GetValue before V is done: what the kernel does next would be another program."""

    def body(x, out):
        u = Ub(a=(float32, 64))
        Duplicate(u["a"], 3.0, 64)
        value = u["a"].GetValue(5)
        Duplicate(u["a"], value, 64)

    off = {"auto_sync": "off"}
    found = schedules_of(job_of(body, options=off), 10)
    assert found.witness.difference == ("a", 5, "float32", 0x40400000, 0xDEADBEEF)
    assert schedules_of(job_of(body), 10).differing == 0


def test_inputs_that_steer_the_kernel_are_left_out():
    """A stream that depends on data is judged on inputs that leave it as it is."""

    def body(x, out):
        u = Ub(a=(float32, 128))
        count = 128 if gm(x).GetValue(0) == 1 else 64
        DataCopy(u["a"], gm(x), count)
        SetFlag(HardEvent.MTE2_MTE3, 0)
        WaitFlag(HardEvent.MTE2_MTE3, 0)
        DataCopy(gm(out), u["a"], count)

    (flag,) = minimized(job_of(body)).sync
    assert flag.off.witness.input == 0


def test_requests_that_make_no_sense_are_refused():
    job = job_of(no_wait)
    with pytest.raises(RequestError, match="number from 1 on"):
        try_schedules("hard_swish_grad", {}, None, 0)
    with pytest.raises(RequestError, match=r"blocks 0\.\.0"):
        schedules_of(job, 1, blocks=(1,))

    def long(x, out):
        for _ in range(20_001):
            PipeBarrier(PIPE_V)

    with pytest.raises(UnsupportedError, match="more than 20000 records"):
        schedules_of(job_of(long), 1)

    def meets(x, out):
        SyncAll()

    with pytest.raises(UnsupportedError, match="wait for one another"):
        schedules_of(job_of(meets, block_dim=2), 1)
