"""Stepping: to the end equals running, undo is exact, and the questions have answers."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.errors import RequestError

KERNELS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")


def recorded(name, dtype="float32", n=3000, **how):
    op = asim.load(name)
    rng = np.random.default_rng(3)
    kind = {"float32": np.float32, "float16": np.float16}[dtype]
    arrays = {k: rng.standard_normal(n).astype(kind) for k in ("grad", "x")}
    tiling = op.tiling((n,), dtype, cores=2, ub=16384)
    return asim.launch(op, arrays, tiling, record="bytes", **how)


@pytest.fixture(scope="module")
def runs():
    return {name: recorded(name) for name in KERNELS}


@pytest.mark.parametrize("name", KERNELS)
def test_the_end_is_the_run_and_undo_is_exact(runs, name):
    run = runs[name]
    for block in range(run.block_dim):
        at = run.stepper(block)
        start = at.ub.copy()
        at.goto(len(at))
        assert at.ub.tobytes() == run.ub(block).tobytes()
        at.goto(0)
        assert at.ub.tobytes() == start.tobytes()
        at.goto(len(at))
        assert at.ub.tobytes() == run.ub(block).tobytes()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_walks_show_the_bytes_of_that_moment(runs, data):
    run = runs[data.draw(st.sampled_from(KERNELS))]
    walker, fresh = run.stepper(0), run.stepper(0)
    for _ in range(8):
        move = data.draw(st.sampled_from(["next", "back", "goto"]))
        amount = data.draw(st.integers(0, 30))
        if move == "goto":
            walker.goto(amount * len(walker) // 30)
        else:
            getattr(walker, move)(amount)
    assert walker.ub.tobytes() == fresh.goto(walker.position).ub.tobytes()


def test_what_stands_in_a_buffer_before_a_call(runs):
    at = runs["hard_sigmoid_grad"].stepper(0)
    assert at.until(name="CompareScalar")
    assert at.instr.call.fields["mode"] == "GT"
    x = at.view("selfQueue", "float32")
    want = np.float32(x[0] * np.float32(1 / 6)) + np.float32(0.5)
    assert at.view("tmpBuf")[0] == want
    assert at.bits("tmpBuf")[0] == want.view(np.uint32)
    assert at.instr.where.phase == "Compute"
    file, line, text = at.source()
    assert file.endswith("op_kernel.py")
    assert line > 0
    assert text.startswith("CompareScalar(")


def test_who_wrote_and_watch(runs):
    at = runs["hard_sigmoid_grad"].stepper(0)
    at.goto(len(at))
    place = at.buffers()["gradInputQueue"]
    position = at.who_wrote(place.start + 0x40)
    assert at.entries[position].instr.call.name == "Select"
    changes = at.watch("tmpBuf", 0)
    assert [c.name for c in changes[:3]] == ["Duplicate", "Muls", "Adds"]
    assert changes[0].after == 0xBF800000
    assert all(a.after == b.before for a, b in pairwise(changes))
    assert at.position == len(at)


def test_why_goes_back_to_the_inputs(runs):
    run = runs["hard_sigmoid_grad"]
    at = run.stepper(0)
    at.until(name="Select", tile=0)
    at.until(name="EnQue")
    answer = at.why("gradInputQueue", 5, "float32")
    text = str(answer)
    names = [re.sub(r"^ *(\[\d+\] )?", "", line).split()[0] for line in text.splitlines()]
    assert names[0] == "Select"
    assert {"CompareScalar", "Muls", "Adds", "DataCopyPad"} <= set(names)
    assert "GM x[5] = " in text
    assert answer.bits == int(at.bits("gradInputQueue", "float32")[5])
    assert at.instr.call.name == "EnQue"


def test_why_follows_masks_and_strides():
    op = asim.load("tests/ports/blend")
    rng = np.random.default_rng(1)
    shapes = {"x": (300,), "y": (300,), "weight": (1,)}
    arrays = {k: rng.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
    run = asim.launch(op, arrays, op.tiling(shapes, cores=1), record="bytes")
    at = run.stepper(0)
    at.goto(len(at))
    written = [e.instr.call for e in at.entries if e.instr.call.geometry is not None]
    repeated = next(c for c in written if getattr(c.geometry, "counted", True) is False)
    buffer = repeated.accesses[0].holder
    answer = at.why(buffer.name, 3, slot=buffer.slot)
    assert answer.position is not None
    assert "GM " in str(answer)


def test_until_goes_both_ways_and_says_when_nothing_fits(runs):
    at = runs["swish_grad"].stepper(0)
    assert at.until(phase="CopyOut")
    first = at.position
    assert at.until(phase="Compute", backwards=True)
    assert at.position < first
    assert at.until(tile=1)
    assert at.instr.where.phase == "CopyIn"
    assert not at.until(name="Ln")
    assert at.position == len(at)
    assert at.until(writes="outQueueGrad", backwards=True)
    with pytest.raises(RequestError, match="'line' is unknown; use name, pipe"):
        at.until(line=3)


def test_queue_states(runs):
    at = runs["hard_sigmoid_grad"].stepper(0)
    at.until(name="DeQue")
    assert at.queues()["gradOutputQueue"][0] == "ENQUE"
    at.next()
    assert at.queues()["gradOutputQueue"][0] == "DEQUE"
    at.goto(len(at))
    assert all(state == "FREE" for slots in at.queues().values() for state in slots)


def test_the_newest_entries_alone(runs):
    whole, last = runs["swish_grad"], recorded("swish_grad", last=40)
    at = last.stepper(1)
    assert (len(at), at.dropped) == (40, len(whole.stepper(1)) - 40)
    at.goto(len(at))
    assert at.ub.tobytes() == whole.ub(1).tobytes()
    assert at.goto(0).ub.tobytes() == whole.stepper(1).goto(at.dropped).ub.tobytes()


def test_chosen_blocks_only():
    run = recorded("hard_swish_grad", blocks=[1])
    assert len(run.stepper(1)) > 10
    with pytest.raises(RequestError, match="block 0 was not recorded; blocks 1 were"):
        run.stepper(0)


def test_the_hidden_scratch_of_select_is_undone_too():
    op = asim.load("hard_swish_grad")
    x = np.linspace(-4, 4, 300, dtype=np.float32)
    run = asim.launch(op, {"grad": x, "x": x}, op.tiling((300,), cores=1), record="bytes")
    at = run.stepper(0)
    start = at.ub.copy()
    at.goto(len(at))
    assert at.ub.tobytes() == run.ub(0).tobytes()
    assert at.goto(0).ub.tobytes() == start.tobytes()


def test_wrong_questions(runs):
    at = runs["swish_grad"].stepper(0)
    with pytest.raises(RequestError, match=r"no buffer 'tmpBuf' at position 0; there are none"):
        at.view("tmpBuf")
    at.goto(len(at))
    with pytest.raises(RequestError, match=r"inQueueX has slots 0\.\.1, not 2"):
        at.view("inQueueX", slot=2)
    with pytest.raises(RequestError, match=r"position -1 is outside 0"):
        at.goto(-1)


SET_VALUE = """\
from ascendsim.ascendc import *


def set_value(x, y, workspace, tiling):
    pipe, queue = TPipe(), TQue(TPosition.VECIN, 1)
    pipe.InitBuffer(queue, 1, 32)
    xGm, yGm = GlobalTensor(float32), GlobalTensor(float32)
    xGm.SetGlobalBuffer(x, 8)
    yGm.SetGlobalBuffer(y, 8)
    t = queue.AllocTensor(float32)
    DataCopy(t, xGm, 8)
    queue.EnQue(t)
    t = queue.DeQue(float32)
    t.SetValue(2, 5.0)
    Adds(t, t, 1.0, 8)
    DataCopy(yGm, t, 8)
    queue.FreeTensor(t)
"""


def test_why_ends_at_a_value_of_the_kernels_own(tmp_path):
    folder = tmp_path / "set_value"
    folder.mkdir()
    definition = 'OpDef("set_value", inputs=("x",), outputs=("y",), dtypes=("float32",), socs=(S,))'
    (folder / "op_def.py").write_text(
        f'from ascendsim.host import OpDef\n\nS = "ascend910b1"\nOP = {definition}\n'
    )
    host = "from ascendsim.host import Tiling\n\n\ndef tiling(ctx, fixed={}):\n"
    (folder / "op_host.py").write_text(f"{host}    return Tiling(1, 0, {{}})\n")
    (folder / "op_kernel.py").write_text(SET_VALUE)
    op = asim.load(str(folder))
    run = asim.launch(op, {"x": np.zeros(8, np.float32)}, op.tiling((8,)), record="bytes")
    assert run.out[2] == 6.0
    *_, stored = str(run.why("y", 2)).splitlines()
    assert "SetValue" in stored
    assert stored.endswith("= 0x40a00000 scalar 5.0")
    assert "GM x[3] = 0x0" in str(run.why("y", 3))
