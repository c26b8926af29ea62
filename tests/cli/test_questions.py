"""Questions about a run: at its end by name, and those that a reader of the README can answer."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError
from tests.house.tree import ROOT

FENCED = re.findall(r"^```\w+\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
LINES = {line.removeprefix("$ ") for block in FENCED for line in block.splitlines()}
THREE = (
    "three = np.full(32, -3, np.float32)",
    'np.savez("three.npz", grad=np.ones_like(three), x=three)',
)
STEP = "ascendsim step hard_sigmoid_grad --input three.npz"
BEFORE_THE_COMPARE = (
    f'{STEP} --do "u name=CompareScalar; v tmpBuf 0"',
    f'{STEP} --attr alpha=0x3e2aaaaa --do "u name=CompareScalar; v tmpBuf 0"',
)
LAUNCH = (
    'op = asim.load("hard_sigmoid_grad")',
    "x = np.full(32, -3, np.float32)",
    'til = op.tiling(x.shape, "float32", alpha=0.16666666)',
    'run = asim.launch(op, {"grad": np.ones_like(x), "x": x}, til, record="bytes")',
)
WRITERS = (
    'print(run.who_wrote("gradInputQueue", 0x40))',
    'print(run.who_wrote("out", 0x40))  # of the end of the run: outputs, or buffers of a '
    "block's UB",
)
BOUND = ("ascendsim time swish_grad --n 10000000 --dtype float16",)


def taken(*lines: str) -> None:
    """Fail unless a reader finds these lines in the README and needs at most six of them."""
    assert not [line for line in lines if line not in LINES]
    verbs = sum(
        len(re.search(r'--do "(.*)"', line)[1].split(";")) for line in lines if "--do" in line
    )
    assert len(lines) + verbs <= 6


def asked(ask, line):
    answer = ask(*shlex.split(line)[1:])
    assert (answer.code, answer.err) == (0, "")
    return answer.out.splitlines()


def test_what_stands_in_tmpbuf_before_the_first_compare(tmp_path, monkeypatch, ask):
    taken(*BEFORE_THE_COMPARE)
    assert set(THREE) <= LINES  # makes the data, at x = -3
    monkeypatch.chdir(tmp_path)
    exec("\n".join(THREE), {"np": np})
    shown = [asked(ask, line)[-1] for line in BEFORE_THE_COMPARE]
    assert shown == [
        "tmpBuf[0] = 0.0  bits 0x00000000",
        "tmpBuf[0] = 2.9802322e-08  bits 0x33000000",
    ]


def test_which_instruction_wrote_byte_0x40_of_the_output(capsys):
    taken(*LAUNCH, *WRITERS)
    exec("\n".join([*LAUNCH, *WRITERS]), {"np": np, "asim": asim})
    buffer, tensor = capsys.readouterr().out.splitlines()
    assert "[26] Select on V, line 118: Select(result, mask, result" in buffer
    assert "[31] DataCopyPad on MTE3, line 123: DataCopyPad(self.gradInputGm" in tensor


def test_which_pipe_bounds_ten_million_elements_on_48_cores(ask):
    taken(*BOUND)
    lines = asked(ask, BOUND[0])
    assert "  blocks     48 on 48 cores" in lines
    assert "bound by V" in lines


@pytest.fixture(scope="module")
def run():
    op = asim.load("hard_swish_grad")
    x = np.linspace(-4, 4, 3000, dtype=np.float32)
    tiling = op.tiling((3000,), "float32", cores=3, ub=16384)
    return asim.launch(op, {"grad": np.ones_like(x), "x": x}, tiling, record="bytes")


def test_an_output_is_asked_over_all_blocks(run):
    size = 1000  # elements of a block
    for element in (0, 999, 1000, 2999):
        writer = run.who_wrote("out", 4 * element + 3)
        assert (writer.name, writer.pipe, writer.block) == ("DataCopyPad", "MTE3", element // size)
        entry = run.recordings[writer.block].entries[writer.position]
        (delta,) = entry.deltas
        assert delta.start <= 4 * element + 3 < delta.stop
        assert writer.text.startswith("DataCopyPad(")
        (change,) = run.watch("out", element)
        assert (change.block, change.position) == (writer.block, writer.position)
        assert change.after == int(run.out.view(np.uint32)[element])
        cause = run.why("out", element)
        assert (cause.position, cause.bits) == (writer.position, change.after)
        assert f"GM x[{element}] = {x_bits(element):#x}" in str(cause)
    assert run.who_wrote("x", 0) is None
    assert run.who_wrote("out", 0, block=1) is None


def x_bits(element):
    return int(np.linspace(-4, 4, 3000, dtype=np.float32).view(np.uint32)[element])


def test_a_buffer_is_asked_at_the_end_of_its_block(run):
    for block in range(3):
        at = run.stepper(block)
        at.goto(len(at))
        writer = run.who_wrote("slopeBuf", 0x40, block=block)
        assert writer.position == at.who_wrote(at.address("slopeBuf", 0x40))
        assert run.who_wrote("UB", at.address("slopeBuf", 0x40), block=block) == writer
        assert run.why("slopeBuf", 3, block=block) == at.why("slopeBuf", 3)
        changes = run.watch("slopeBuf", 3, block=block)
        assert changes == at.watch("slopeBuf", 3)
        assert {change.block for change in changes} == {block}
        assert all(a.after == b.before for a, b in pairwise(changes))
        assert changes[-1].after == at.bits("slopeBuf", "float32")[3]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (lambda r: r.who_wrote("slopeBuf", 0), "say block=, one of 0 to 2"),
        (lambda r: r.who_wrote("slopeBuf", 1 << 20, block=0), "slopeBuf has bytes 0.."),
        (lambda r: r.who_wrote("nope", 0, block=1), "no buffer 'nope'"),
        (lambda r: r.who_wrote("UB", 16384, block=1), "UB has bytes 0..0x3fff, not 0x4000"),
        (lambda r: r.who_wrote("out", 12000), "out has bytes 0..0x2edf, not 0x2ee0"),
        (lambda r: r.watch("out", 3000), "out has elements 0..2999, not 3000"),
        (lambda r: r.why("x", 0), "x is no output and never stored to; there are out"),
        (lambda r: r.why("out", 0, "float16"), "out holds float32; leave dtype= away"),
        (lambda r: r.why("out", 0, block=3), "block 3 was not recorded; blocks 0 to 2 were"),
        (lambda r: r.why("out", 0, block=1), "no recorded call stored element 0 of out"),
    ],
)
def test_wrong_questions(run, question, reason):
    with pytest.raises(RequestError, match=re.escape(reason)):
        question(run)


def test_a_quiet_run_has_no_answers():
    op = asim.load("hard_swish_grad")
    x = np.ones(9, np.float32)
    quiet = asim.launch(op, {"grad": x, "x": x}, op.tiling((9,), "float32"))
    with pytest.raises(RequestError, match='launch with record="bytes"'):
        quiet.who_wrote("out", 0)
