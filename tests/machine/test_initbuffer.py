"""InitBuffer again and again: names of buffers, and what the second call still checks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import ContractError
from tests.kit import fails, run_block


def test_names_are_those_of_the_attributes():
    """However a kernel comes to its queues; the name is in the records of each block."""

    class Kernel:
        def __init__(self):
            self.pipe = TPipe()
            self.plainQueue = TQue(TPosition.VECIN, 1)
            self._underscored = TBuf()
            self.first = self.second = TBuf()
            self.listed = [TBuf(), TBuf()]
            later = TBuf()
            self.moved = later
            self.made = self.make()
            self.both = TQueBind(TPosition.VECIN, TPosition.VECOUT, 1)

        def make(self):
            return TBuf()

    def body():
        k = Kernel()
        k.pipe.InitBuffer(k.plainQueue, 1, 32)
        for tbuf in (k._underscored, k.first, *k.listed, k.moved, k.made):
            k.pipe.InitBuffer(tbuf, 32)
        k.pipe.InitBuffer(k.both, 1, 32)

    names = ["plainQueue", "underscored", "first", "listed", "listed", "moved", "made", "both"]
    calls = run_block(body, block_dim=2).calls
    assert [c["buf"] for c in calls] == 2 * names


def test_one_place_under_two_names():
    """Records of a block keep their names when a later block uses the bytes for something else."""

    def body():
        k = SimpleNamespace(pipe=TPipe(), even=TBuf(), odd=TBuf())
        mine = k.even if GetBlockIdx() % 2 == 0 else k.odd
        k.pipe.InitBuffer(mine, 256)
        Duplicate(mine.Get(float32), 1.0, 64)

    records = run_block(body, block_dim=3).records
    named = [r.call.accesses[0].holder.name for r in records if r.call.name == "Duplicate"]
    assert named == ["even", "odd", "even"]


@pytest.mark.parametrize("again", [64.0, True])
def test_equal_sizes_of_another_type_are_refused_after_the_first_time(again):
    def body():
        k = SimpleNamespace(pipe=TPipe(), a=TBuf())
        k.pipe.InitBuffer(k.a, 64 if GetBlockIdx() == 0 else again)

    fails(ContractError, "length of a is", body, block_dim=2)


def test_warnings_of_initbuffer_are_repeated_in_every_launch():
    def body():
        k = SimpleNamespace(pipe=TPipe(), a=TQue(TPosition.VECIN, 1))
        k.pipe.InitBuffer(k.a, 9, 32)

    for _ in range(2):
        found = run_block(body, soc="ascend950", block_dim=2).warnings
        assert [w.partition(":")[0] for w in found] == ["queue-buffers"]
