"""Blocks that lay out UB differently keep their own names, though they share a core's memory."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import DataCopy, GetBlockIdx, TBuf, TPipe, TPosition, TQue
from ascendsim.dtypes import float32
from ascendsim.launch import Readers, launch
from ascendsim.observe.recorder import Recorder
from ascendsim.view.stepper import Stepper
from tests.kit import gm, make_job

N = 64


class Two:
    """Copies x through a queue and back; the queue is the first buffer in even blocks only."""

    def __init__(self):
        self.pipe = TPipe()
        self.queue, self.spare = TQue(TPosition.VECIN, 1), TQue(TPosition.VECIN, 1)
        self.scratch = TBuf(TPosition.VECCALC)
        both = [self.queue, self.spare]
        for queue in both if GetBlockIdx() % 2 == 0 else both[::-1]:
            self.pipe.InitBuffer(queue, 1, N * 4)
        self.pipe.InitBuffer(self.scratch, N * 4)

    def CopyIn(self, x):
        tensor = self.queue.AllocTensor(float32)
        DataCopy(tensor, gm(x), N)
        self.queue.EnQue(tensor)
        self.queue.DeQue(float32)


def body(x, out):
    two = Two()
    two.CopyIn(x)


@pytest.fixture(scope="module")
def steppers():
    recorder = Recorder()
    job = make_job(
        body, {"x": np.arange(N, dtype=np.float32)}, {"out": ((N,), "float32")}, block_dim=2
    )
    launch(job, Readers(observers=(recorder,)))
    return [Stepper(recording) for recording in recorder.blocks.values()]


@pytest.mark.parametrize("block", [0, 1])
def test_states_are_those_of_the_blocks_own_queues(steppers, block):
    at = steppers[block].goto(len(steppers[block]))
    assert at.queues() == {"queue": ["DEQUE"], "spare": ["FREE"]}
    start = at.buffers()["queue"].start
    assert start == block * N * 4
    assert at.view("queue")[1] == 1
    writer = at.who_wrote(start)
    assert at.entries[writer].instr.call.name == "DataCopy"


@pytest.mark.parametrize("block", [0, 1])
def test_until_a_write_and_why_use_the_blocks_own_names(steppers, block):
    at = steppers[block].goto(0)
    assert at.until(writes="queue")
    assert not at.until(writes="spare")
    assert (
        str(at.why("queue", 3))
        .splitlines()[0]
        .startswith(f"[{at.who_wrote(block * N * 4)}] DataCopy queue[")
    )


def test_a_later_launch_does_not_rename_an_earlier_recording():
    op = asim.load("hard_sigmoid_grad")
    x = np.linspace(-4, 4, 300, dtype=np.float32)
    small = op.tiling(x.shape, "float32", ub=4096)
    large = op.tiling(x.shape, "float32", ub=16384)
    first = asim.launch(op, {"grad": x, "x": x}, small, record="bytes").stepper(0)
    before = first.goto(len(first)).queues()
    asim.launch(op, {"grad": x, "x": x}, large, record="bytes")
    assert first.queues() == before
