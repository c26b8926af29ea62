"""Replay of every call that the self-test makes leaves the bytes that step mode leaves.

The self-test uses every name of `ascendsim isa` on every element type. Here an observer takes each
call alone, makes a plan of it and replays that from the bytes before the call.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from ascendsim import ascendc
from ascendsim.ascendc import *
from ascendsim.engine import replay
from ascendsim.engine.plan import make_plan
from ascendsim.engine.replay import run_replay
from ascendsim.engine.stream import NoPlanError, Stream
from ascendsim.errors import BoundsError
from ascendsim.explore import selftest
from ascendsim.explore.bench import Bench
from ascendsim.isa import LIBRARY
from ascendsim.launch.plans import forget_plans
from ascendsim.record import GM
from ascendsim.soc import NAMES, load
from tests.engine.kit import assert_same, job_of, ran, random_bits
from tests.helpers import assert_same_bits
from tests.kit import Ub, gm

#: calls that only step mode makes: they add to what other blocks stored, or wait for them, or are
#: functions without compiled body
BY_STEP = {"InitGlobalMemory", "InitOutput", "SyncAll", "IBSet", "IBWait", *LIBRARY}

#: of chips with the same table of instructions the first one
CHIPS = [*{repr(load(name).ops): name for name in reversed(NAMES)}.values()]


class Checker:
    """An observer that replays each call alone, the first `most` of a name and type."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.checked: Counter[tuple[str, str]] = Counter()
        self.refused: set[str] = set()

    def before(self, instr):
        core = instr.call.core
        if self.full(instr.call):
            return
        self.ub = core.ub.array.copy()
        self.gm = {n: a.memory.copy() for n, a in core.gm.allocations.items()}

    def full(self, call):
        return self.checked[call.name, str(call.fields.get("dtype"))] >= self.most

    def after(self, instr):
        call = instr.call
        # how many elements a mask tensor keeps, and where a suspended merge ends, is data: a kernel
        # that asks has no plan
        data = call.fields.get("src1Pattern") == 0 or call.fields.get("suspension")
        if self.full(call) or data:
            return
        stream = Stream()
        stream.after(instr)
        if not stream.calls:
            return
        one = SimpleNamespace(blocks=(0,), stream=stream, last=None)
        sizes = {name: memory.size for name, memory in self.gm.items()}
        try:
            plan = make_plan([one], sizes, self.ub.size)
        except NoPlanError:
            self.refused.add("atomic" if "atomic" in call.fields else call.name)
            return
        for _ in range(2):  # as it was made, and with what the first time left in its memory
            memory = {name: old.copy() for name, old in self.gm.items()}
            where = {name: each.ctypes.data for name, each in memory.items()}
            assert run_replay(plan, where, self.ub)
            self.compare(call, plan.spare[-1].ub, memory)
        self.checked[call.name, str(call.fields.get("dtype"))] += 1

    def compare(self, call, ub, memory):
        for space, holder, start, stop in call.stores:
            got = memory[holder.name] if space is GM else ub
            want = holder.memory if space is GM else call.core.ub.array
            assert_same_bits(got[start:stop], want[start:stop])


class Watched(Bench):
    """A bench whose calls a Checker sees."""

    def __init__(self, soc: str, most: int) -> None:
        super().__init__(load(soc))
        self.checker = Checker(most)

    @contextmanager
    def block(self) -> Iterator[Bench]:
        with super().block():
            assert (self.core.ub.array == 0x5A).all()  # whatever the block before wrote
            self.core.observers, self.core.readers = (self.checker,), True
            yield self


def check(soc: str, most: int, beyond: str = "") -> None:
    """Check what a chip claims, or only what chip `beyond` does not have in that type."""
    bench = Watched(soc, most)
    cases = [*selftest._cases()]
    seen = set()
    had = {(case.name, case.dtype) for case in cases if case.soc == beyond}
    for case in cases:
        key = (getattr(case.run, "func", case.run), case.dtype)  # names share their exercises
        if case.soc == soc and key not in seen and (case.name, case.dtype) not in had:
            seen.add(key)
            with bench.block():
                case.run(bench)
    listed = {name for name in ascendc.APIS if name in load(soc).ops}
    vector = {name for name in listed if load(soc).ops[name].dtypes or load(soc).ops[name].pairs}
    checked = {name for name, _ in bench.checker.checked}
    vector -= {name for name, _ in had}
    vector -= {"GetAccVal", "GetReduceRepeatSumSpr"}  # they read a register and move nothing
    assert vector - checked <= BY_STEP | {"SetAtomicAdd", "SetAtomicMax", "SetAtomicMin"}
    assert bench.checker.refused <= BY_STEP | {"atomic"}


@pytest.mark.parametrize(("soc", "beyond"), [("ascend910b1", ""), ("ascend950", "ascend910b1")])
def test_every_instruction_replays(soc, beyond):
    check(soc, 1, beyond)


@pytest.mark.slow
@pytest.mark.parametrize("soc", CHIPS)
def test_every_call_of_the_selftest_replays(soc):
    check(soc, 100)


def reducing(x, out):
    """Sum, find, spread and collect what each block got."""
    u = Ub(a=(float32, 128), b=(float32, 256), o=(uint32, 64), t=(float32, 64))
    start = 128 * GetBlockIdx()
    DataCopy(u["a"], gm(x)[start:], 128)
    ReduceSum(u["b"], u["a"], u["t"], 128)
    WholeReduceMax(u["b"][8:], u["a"], 64, 2, 1, 1, 8)
    ArithProgression(u["o"].ReinterpretCast(int32), 0, 8, 64)
    Gather(u["b"][64:], u["a"], u["o"], 4, 32)
    Brcb(u["b"][128:], u["a"], 2, BrcbRepeatParams(1, 8))
    Duplicate(u["b"][16:], 0.0, 48)
    Duplicate(u["b"][96:], 0.0, 32)
    u["b"].SetValue(7, 1.5)
    DataCopy(gm(out)[256 * GetBlockIdx() :], u["b"], 256)


def test_a_kernel_that_mixes_lanes_on_threads(monkeypatch):
    forget_plans()
    monkeypatch.setattr(replay, "threads_for", lambda traffic: 3)
    outputs = {"out": ((256 * 6,), "float32")}
    for seed in range(4):
        job = job_of(reducing, {"x": random_bits(float32, 128 * 6, seed)}, outputs, block_dim=6)
        got = ran(job, "replay")
        assert (got.mode, got.fallback) == ("replay", "")
        assert_same(got, ran(job, "step"))
    got = ran(job, "fused")
    assert got.mode == "replay"
    assert "Gather" in got.fallback
    assert_same(got, ran(job, "step"))


def test_offsets_that_leave_the_source_are_the_error_of_step_mode():
    def body(offsets, out):
        u = Ub(a=(uint32, 64), b=(uint32, 64), o=(uint32, 64))
        Duplicate(u["a"], 7, 64)
        DataCopy(u["o"], gm(offsets), 64)
        Gather(u["b"], u["a"], u["o"], 0, 64)
        DataCopy(gm(out), u["b"], 64)

    forget_plans()
    outputs = {"out": ((64,), "uint32")}
    good = np.arange(0, 256, 4, dtype=np.uint32)
    bad = np.where(np.arange(64) == 40, 256, good).astype(np.uint32)
    for offsets in (good, bad, good):
        job = job_of(body, {"offsets": offsets}, outputs)
        if offsets is bad:
            with pytest.raises(BoundsError, match=r"srcOffset\[40\] is 256"):
                ran(job, "replay")
            continue
        got = ran(job, "replay")
        assert (got.mode, got.fallback) == ("replay", "")
        assert_same(got, ran(job, "step"))


def adding(x, out):
    u = Ub(a=(float32, 64))
    DataCopy(u["a"], gm(x), 64)
    SetAtomicAdd(float32)
    DataCopy(gm(out), u["a"], 64)
    SetAtomicNone()


def meeting(x, out):
    """Store a part, wait for all blocks, and copy the part of another one."""
    u, last = Ub(a=(float32, 64)), GetBlockNum() - 1
    mine, other = 64 * GetBlockIdx(), 64 * (last - GetBlockIdx())
    DataCopy(u["a"], gm(x)[mine:], 64)
    Adds(u["a"], u["a"], 1.0, 64)
    DataCopy(gm(out)[mine:], u["a"], 64)
    SyncAll()
    DataCopy(u["a"], gm(out)[other:], 64)
    Adds(u["a"], u["a"], 2.0, 64)
    DataCopy(gm(out)[64 * (1 + last) + mine :], u["a"], 64)


@pytest.mark.parametrize("mode", ["replay", "fused", "auto"])
@pytest.mark.parametrize(
    ("body", "why"),
    [(adding, "stores atomically"), (meeting, "SyncAll: blocks wait for one another")],
)
def test_what_blocks_do_together_runs_by_step_and_says_why(body, why, mode):
    forget_plans()
    job = job_of(
        body, {"x": random_bits(float32, 192, 0)}, {"out": ((384,), "float32")}, block_dim=3
    )
    for _ in range(2):
        got = ran(job, mode)
    assert got.mode == "step"
    assert why in got.fallback
    assert_same(got, ran(job, "step"))


WARM = """
import sys
import numpy as np, ascendsim as asim
op = asim.load("hard_swish_grad")
x = np.linspace(-4, 4, 3000, dtype=np.float32)
til = op.tiling(x.shape, "float32")
runs = [asim.launch(op, {"grad": x, "x": x}, til, mode=m) for m in ("step", "replay", "fused")]
print([r.mode for r in runs], "numba" in sys.modules)
"""


def test_a_warm_process_runs_every_mode_without_the_compiler():
    outputs = [
        subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert outputs[1].stdout == "['step', 'replay', 'fused'] False\n"
