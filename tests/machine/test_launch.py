"""Blocks and their order, coverage of outputs, readers, and errors at the kernel's own line."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.errors import (
    AscendError,
    RequestError,
)
from tests.helpers import assert_same_bits
from tests.kit import Ub, gm, run_block

OUT = {"out": ((64,), "float32")}


def store(out, start, count, value=1.0):
    u = Ub(a=(float32, 64))
    Duplicate(u["a"], value, 64)
    if count:
        DataCopyPad(gm(out)[start:], u["a"], DataCopyParams(1, 4 * count, 0, 0))


def test_every_block_knows_its_number():
    seen = []

    def body(out):
        seen.append((GetBlockIdx(), GetBlockNum()))
        store(out, 8 * GetBlockIdx(), 8, GetBlockIdx())

    block = run_block(body, {}, OUT, block_dim=8)
    assert seen == [(k, 8) for k in range(8)]
    assert_same_bits(block.outputs["out"], np.repeat(np.arange(8, dtype=np.float32), 8))
    assert not block.warnings
    assert [call["core"] for call in block.calls if call["op"] == "Duplicate"] == list(range(8))
    assert sorted(block.ub) == list(range(8))


def test_later_blocks_overwrite_earlier_ones():
    block = run_block(lambda out: store(out, 0, 64, GetBlockIdx()), {}, OUT, block_dim=3)
    assert set(block.outputs["out"]) == {2}


def test_blocks_without_work():
    def body(out):
        if GetBlockIdx() < 2:
            store(out, 32 * GetBlockIdx(), 32)

    block = run_block(body, {}, OUT, block_dim=5)
    assert set(block.outputs["out"]) == {1}
    assert not block.warnings
    assert {call["core"] for call in block.calls} == {0, 1}


def test_more_blocks_than_cores():
    def body(out):
        if GetBlockIdx() == 99:
            store(out, 0, 64)

    assert run_block(body, {}, OUT, block_dim=100).warnings == [
        "blocks: 100 blocks on 48 cores of ascend910b1: in rounds"
    ]
    assert not run_block(lambda out: store(out, 0, 64), {}, OUT, block_dim=1).warnings


@pytest.mark.parametrize(
    ("pieces", "missing", "twice"),
    [
        ([(0, 64)], 0, 0),
        ([(0, 32), (32, 32)], 0, 0),
        ([(32, 32), (0, 32)], 0, 0),
        ([(0, 30), (32, 32)], 8, 0),
        ([(1, 63)], 4, 0),
        ([(0, 63)], 4, 0),
        ([(0, 40), (32, 32)], 0, 32),
        ([(0, 64), (10, 4), (60, 4)], 0, 32),
        ([(0, 10), (5, 10), (20, 44)], 20, 20),
    ],
)
def test_coverage(pieces, missing, twice):
    block = run_block(
        lambda out: store(out, *pieces[GetBlockIdx()]), {}, OUT, block_dim=len(pieces)
    )
    if not missing and not twice:
        assert not block.warnings
        return
    text = block.warning("coverage")
    assert f"out: {missing} of 256 bytes never written, {twice} written more than once" in text


def test_an_output_that_nobody_writes():
    block = run_block(lambda out: TPipe(), {}, OUT)
    assert block.warnings == ["coverage: out is never written"]
    assert not run_block(lambda out: TPipe(), {}, {"out": ((0,), "float32")}).warnings


def test_slack_is_no_gap_and_no_double_write():
    def body(out):
        u = Ub(a=(float32, 8))
        Duplicate(u["a"], 1.0, 8)
        DataCopy(gm(out), u["a"], 8)

    block = run_block(body, {}, {"out": ((5,), "float32")})
    assert [w.split(":")[0] for w in block.warnings] == ["gm-slack"]
    assert "out (0 bytes read, 12 written)" in block.warnings[0]
    assert block.rules["gm-slack"] == "assumed"


def test_a_flag_that_stays_set():
    block = run_block(lambda out: (store(out, 0, 64), SetFlag(HardEvent.V_S, 3)), {}, OUT)
    assert "V_S(3) is still set when block 0 ends" in block.warning("flag-left-set")
    again = run_block(lambda out: (store(out, 0, 64), SetFlag(HardEvent.V_S, 3)), {}, OUT)
    assert again.warnings == block.warnings


def test_the_name_launch_is_the_function_whatever_was_imported_before():
    import ascendsim.api
    import ascendsim.launch

    assert asim.launch is ascendsim.api.launch


def test_a_larger_ub_than_the_chip_has():
    block = run_block(lambda out: store(out, 0, 64), {}, OUT, ub=1 << 20)
    assert block.warning("ub") == "ub: a UB of 1048576 bytes; ascend910b1 has 196608"


def test_observed_or_not_the_bytes_are_the_same():
    def body(x, out):
        u = Ub(a=(float32, 64), m=(uint8, 32))
        DataCopyPad(u["a"], gm(x), DataCopyParams(1, 252, 0, 0), DataCopyPadParams())
        Exp(u["a"], u["a"], 64)
        CompareScalar(u["m"], u["a"], 1.0, CMPMODE.GT, 64)
        Select(u["a"], u["m"], u["a"], 0.5, SELMODE.VSEL_TENSOR_SCALAR_MODE, 63)
        u["a"].SetValue(3, u["a"].GetValue(4))
        DataCopy(gm(out), u["a"], 64)

    x = {"x": np.random.default_rng(1).standard_normal(63).astype(np.float32)}
    for soc in ("ascend910b1", "ascend950"):
        loud, quiet = (run_block(body, x, OUT, soc=soc, observe=o) for o in (True, False))
        assert_same_bits(loud.outputs["out"], quiet.outputs["out"])
        assert_same_bits(loud.ub[0], quiet.ub[0])
        assert (loud.warnings, loud.evidence) == (quiet.warnings, quiet.evidence)
        assert len(loud.calls) == len(loud.records) > 8
        assert not quiet.calls


def test_records_without_execution():
    def body(x, out):
        u = Ub(a=(float32, 64))
        DataCopy(u["a"], gm(x), 64)
        Muls(u["a"], u["a"], 2.0, 64)
        DataCopy(gm(out), u["a"], 64)

    x = {"x": np.ones(64, np.float32)}
    real = run_block(body, x, OUT)
    dry = run_block(body, x, OUT, executing=False, options={"gm_slack_fill": "0x33"})
    assert [c["op"] for c in dry.calls] == [c["op"] for c in real.calls]
    assert "dst_crc" in real.calls[-1]
    assert "dst_crc" not in dry.calls[-1]
    assert not dry.outputs
    assert not dry.warnings

    def reads(x, out):
        gm(x).GetValue(0)

    with pytest.raises(AscendError, match="GetValue: this run makes records only"):
        run_block(reads, x, OUT, executing=False)


def test_chosen_blocks_are_recorded():
    def body(out):
        store(out, 16 * GetBlockIdx(), 16)

    block = run_block(body, {}, OUT, block_dim=4, blocks=[1, 3])
    assert {call["core"] for call in block.calls} == {1, 3}
    assert set(block.outputs["out"]) == {1}
    assert all(call["seq"] == k % (len(block.calls) // 2) for k, call in enumerate(block.calls))


def test_the_last_calls_only():
    op = asim.load("hard_swish_grad")
    x = np.ones(1000, np.float32)
    til = op.tiling((1000,), "float32", cores=2)
    whole = asim.launch(op, {"grad": x, "x": x}, til, record="calls").calls
    some = asim.launch(op, {"grad": x, "x": x}, til, record="calls", last=7).calls
    assert some == whole[-7:]
    chosen = asim.launch(op, {"grad": x, "x": x}, til, record="calls", blocks=[1])
    assert chosen.calls == [call for call in whole if call["core"] == 1]
    with pytest.raises(RequestError, match="no UB image of core 9"):
        chosen.ub(9)


def test_the_log_of_a_run_is_what_a_sink_gets():
    """It is put together late, when arrays have changed and the core has run other data."""
    op = asim.load("hard_swish_grad")
    x = np.linspace(-4, 4, 3000, dtype=np.float32)
    til = op.tiling((3000,), "float32", cores=2)
    streamed, images = [], {}
    asim.launch(
        op,
        {"grad": x, "x": x},
        til,
        call_sink=streamed.append,
        ub_sink=lambda core, ub: images.__setitem__(core, ub.copy()),
    )
    run = asim.launch(op, {"grad": x, "x": x}, til, record="calls")
    asim.launch(op, {"grad": -x, "x": x[::-1]}, til, record="calls")
    x[:] = 0
    run.out[:] = 0
    assert run.calls == streamed
    assert run.calls is run.calls
    assert len({call["dst_crc"] for call in run.calls if "dst_crc" in call}) > 20
    for core, image in images.items():
        assert (run.ub(core) == image).all()


def test_inputs_of_a_recorded_run_outlive_it():
    op = asim.load("hard_swish_grad")
    x = np.full(100, 1.5, np.float32)
    til = op.tiling((100,), "float32")
    run = asim.launch(op, {"grad": x, "x": x}, til, record="bytes")
    before = str(run.explain_lane(7))
    asim.launch(op, {"grad": x, "x": np.zeros_like(x)}, til)
    assert str(run.explain_lane(7)) == before
    calls = [entry.instr.call for entry in run.stepper().entries]
    for call in (c for c in calls if c.name == "DataCopyPad" and c.pipe is PIPE_MTE2):
        assert (call.accesses[1].holder.array == 1.5).all()
