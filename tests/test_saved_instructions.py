"""A record of every instruction is written so that the strict reader takes it, and is the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ascendsim import ascendc
from ascendsim.explore import selftest
from ascendsim.explore.bench import Bench
from ascendsim.observe.calls import describe
from ascendsim.observe.recorder import Recorder
from ascendsim.observe.saved import Archive, packed, read_recordings, recorded_members
from ascendsim.observe.saved.archive import document
from ascendsim.soc import load


class Saving(Bench):
    """A bench that saves and opens what each of its blocks recorded."""

    def __init__(self, soc: str) -> None:
        super().__init__(load(soc))
        self.names: set[str] = set()

    @contextmanager
    def block(self) -> Iterator[Bench]:
        recorder = Recorder()
        with super().block():
            self.core.observers, self.core.readers = (recorder,), True
            yield self
        self.compare(recorder)

    def compare(self, recorder: Recorder) -> None:
        tables: dict = {}
        members = list(recorded_members(recorder.blocks, tables))
        archive = Archive(packed([*members, document("tables.json", tables)]))
        again = read_recordings(archive, archive.json("tables.json"))
        assert again.keys() == recorder.blocks.keys()
        for block, recording in recorder.blocks.items():
            for one, two in zip(recording.entries, again[block].entries, strict=True):
                assert described(two.instr) == described(one.instr)
                assert two.deltas == one.deltas
                self.names.add(one.instr.call.name)


def described(instr):
    spans = [instr.call.ranges(access) for access in instr.call.accesses]
    return describe(instr, None), spans, instr.call.hidden, instr.waits, instr.signals


EVERY = pytest.mark.slow


@pytest.mark.parametrize(
    ("soc", "most"),
    [
        ("ascend910b1", 1),
        pytest.param("ascend910b1", 99, marks=EVERY),
        pytest.param("ascend950", 99, marks=EVERY),
    ],
)
def test_every_instruction_is_saved_and_opened(soc, most):
    """Of each name the first `most` element types."""
    bench, seen, types = Saving(soc), set(), Counter()
    for case in selftest._cases():
        run = getattr(case.run, "func", case.run)  # names share their exercises
        key = run, getattr(case.run, "args", ()), case.dtype
        if case.soc == soc and key not in seen and types[case.name] < most:
            seen.add(key)
            types[case.name] += 1
            with bench.block():
                case.run(bench)
    listed = {name for name in ascendc.APIS if name in load(soc).ops}
    vector = {name for name in listed if load(soc).ops[name].dtypes or load(soc).ops[name].pairs}
    vector -= {"GetAccVal", "GetReduceRepeatSumSpr"}  # they read a register and move nothing
    assert vector - bench.names == set()
    assert {"SyncAll", "IBSet", "IBWait", "InitGlobalMemory", "SetAtomicAdd"} <= bench.names
