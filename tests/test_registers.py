"""The calls that set registers leave a record, and every moment of a recording knows them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.enums import PIPE
from ascendsim.launch import Readers, launch
from ascendsim.record.registers import COUNTER, Registers
from ascendsim.view.registers import set_words_of, words_of
from tests.engine.kit import assert_same, job_of, ran
from tests.kit import Ub, gm, make_job, run_block

SCALED = str(Path(__file__).parent / "ports" / "scaled")
ALL_LANES = (1 << 128) - 1
LANES = 0xFFFFFFF << 100  # 100 to 127


class Core:
    """A reader that takes the registers of the core itself after each call, and the records."""

    def __init__(self) -> None:
        self.held: list[Registers] = []
        self.calls: list = []

    def before(self, instr) -> None:
        pass

    def after(self, instr) -> None:
        core, self.calls = instr.call.core, [*self.calls, instr.call]
        counter = core.masks is not None and core.masks.counter
        self.held.append(
            Registers(
                mask_mode="counter" if counter else "normal",
                mask=None if core.masks is None else core.masks.register,
                deq_scale=core.deq_scale,
                atomic="{}({})".format(*core.atomic) if core.atomic else "",
                pad_value=core.pad_value if core.pad_set else None,
            )
        )


def steps(u, x, out):
    """Return what a kernel may do to registers, or with them, by name."""
    ones, own = UnaryRepeatParams(1, 1, 8, 8), MASK_PLACEHOLDER
    a, b, r = u["a"], u["b"], u["r"]
    return {
        "count": SetMaskCount,
        "norm": SetMaskNorm,
        "reset": ResetMask,
        "len": lambda: SetVectorMask(half, 9),
        "scale": lambda: SetDeqScale(0.3),
        "other scale": lambda: SetDeqScale(2),
        "cast": lambda: Cast(b, u["i"], RoundMode.CAST_NONE, 64),
        "own mask": lambda: Adds(b, a, 1.0, 7, 1, ones),
        "register": lambda: Adds(b, a, 1.0, own, 1, ones, isSetMask=False),
        "count form": lambda: Adds(b, a, 1.0, 33),
        "reduction": lambda: WholeReduceSum(r, a, 64, 1, 1, 1, 8),
        "library": lambda: Sign(b, a, u["t"], 16),
        "add": lambda: SetAtomicAdd(half),
        "max": lambda: SetAtomicMax(half),
        "none": SetAtomicNone,
        "store": lambda: DataCopy(gm(out), b, 64),
        "pad": lambda: DataCopyPad(
            a, gm(x), DataCopyParams(1, 20, 0, 0), DataCopyPadParams(True, 0, 1, 2.0)
        ),
        "no pad": lambda: DataCopyPad(
            a, gm(x), DataCopyParams(1, 20, 0, 0), DataCopyPadParams(False, 0, 1, 3.0)
        ),
        "pipe": lambda: (u.pipe.Destroy(), TPipe(), u.pipe.Init()),
    }


def possible(name, core):
    """Tell whether a step breaks no rule now."""
    counter = core.masks is not None and core.masks.counter
    if name == "cast":
        return core.deq_scale is not None
    if name == "register":
        register = None if core.masks is None else core.masks.register
        return register is not None and not (counter and register > 256)
    if name == "pad":
        return core.atomic is None or core.atomic[1] is half
    return not (counter and name in ("reduction", "library"))


NAMES = list(steps({"a": 0, "b": 0, "i": 0, "r": 0, "t": 0}, 0, 0))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(NAMES), max_size=25), st.sampled_from([910, 950]))
def test_the_records_say_what_the_core_holds(names, chip):
    """Whatever a kernel does, folding the records gives the registers of the core."""

    def body(x, out):
        u = Ub(a=(half, 256), b=(half, 256), i=(int32, 64), r=(half, 64), t=(uint8, 1024))
        known = steps(u, x, out)
        for name in names:
            if possible(name, u.pipe.core):
                known[name]()

    reader = Core()
    soc = {910: "ascend910b1", 950: "ascend950"}[chip]
    inputs, outputs = {"x": np.zeros(64, np.float16)}, {"out": ((64,), "float16")}
    launch(make_job(body, inputs, outputs, soc=soc, block_dim=2), Readers((reader,)))
    at = Registers()
    for call, held in zip(reader.calls, reader.held, strict=True):
        at = Registers() if call.name == "InitBuffer" else at  # the start of a block
        at = at.after([call])
        assert at == held, call.name


@pytest.mark.parametrize(
    ("call", "name", "fields"),
    [
        (SetMaskCount, "SetMaskCount", {"mode": "COUNTER"}),
        (SetMaskNorm, "SetMaskNorm", {"mode": "NORMAL"}),
        (ResetMask, "ResetMask", {"mode": "NORMAL"}),
        (lambda: SetVectorMask(half, 3), "SetVectorMask", {"mode": "NORMAL", "mask": 7}),
        (lambda: SetDeqScale(0.1), "SetDeqScale", {"dtype": float16}),
        (lambda: SetAtomicMin(half), "SetAtomicMin", {"dtype": float16}),
        (SetAtomicNone, "SetAtomicNone", {}),
    ],
)
def test_each_call_that_sets_a_register_leaves_one_record(call, name, fields):
    (record,) = run_block(lambda: call()).records
    assert (record.call.name, record.call.pipe) == (name, PIPE.PIPE_S)
    assert (record.call.fields, record.call.accesses, record.call.execute) == (fields, (), None)
    assert record.where.file == __file__
    assert record.call.sets


def test_the_log_shows_the_bits_of_the_scale():
    (call,) = run_block(lambda: SetDeqScale(0.1)).calls
    assert call["scalar"] == f"{np.float16(0.1).view(np.uint16):#06x}"


@pytest.fixture(scope="module")
def run():
    return scaled("bytes")


def scaled(record, **how):
    op = asim.load(SCALED)
    x = np.arange(-64, 64, dtype=np.int32)
    return asim.launch(op, {"x": x}, op.tiling({"x": x.shape}, "int32"), record=record, **how)


def test_reading_along_changes_nothing(run):
    want = np.arange(-64, 64) * 0.75 + 1
    for mode in ("step", "replay"):
        quiet = scaled("none", mode=mode)
        assert quiet.mode == mode, quiet.fallback
        assert quiet.out.tobytes() == run.out.tobytes() == want.astype(np.float16).tobytes()


@pytest.mark.parametrize("mode", ["replay", "fused"])
def test_plans_take_them_as_what_they_are(mode):
    def body(x, out):
        u, start = Ub(a=(int32, 64), b=(half, 64)), 64 * GetBlockIdx()
        DataCopy(u["a"], gm(x)[start:], 64)
        for scale in (0.5, 2.0, 0.5):
            SetDeqScale(scale)
            Cast(u["b"], u["a"], RoundMode.CAST_NONE, 64)
            ResetMask()
            Adds(u["b"], u["b"], 1.0, 64)
        DataCopy(gm(out)[start:], u["b"], 64)

    x = np.arange(128, dtype=np.int32)
    job = job_of(body, {"x": x}, {"out": ((128,), "float16")}, block_dim=2)
    got = ran(job, mode)
    assert got.mode == mode, got.fallback
    assert_same(got, ran(job, "step"))
    assert got.result.outputs["out"].tolist() == (x * 0.5 + 1).tolist()


def test_a_stepper_shows_and_takes_back_what_calls_set(run):
    at = run.stepper(0)
    seen = [at.registers()]
    while at.instr is not None:
        seen.append(at.next().registers())
    names = [entry.instr.call.name for entry in at.entries]
    after = {name: seen[position + 1] for position, name in enumerate(names)}
    assert seen[0] == Registers()
    assert after["SetDeqScale"] == Registers(deq_scale=0.75, pad_value=7)
    assert after["SetMaskCount"].mask_mode == COUNTER
    assert after["ResetMask"] == Registers("normal", ALL_LANES, 0.75, "", 7)
    first, second = (k for k, name in enumerate(names) if name == "SetVectorMask")
    assert (seen[first + 1].mask_mode, seen[first + 1].mask) == (COUNTER, 100)
    assert (seen[second].mask, seen[second + 1].mask) == (100, LANES)
    for position in range(len(at), -1, -1):
        assert at.registers() == seen[position]
        at.back()
    for position in (second + 1, 0, first, len(at), second):
        assert at.goto(position).registers() == seen[position]


def test_the_newest_calls_know_what_was_set_before(run):
    whole, newest = run.stepper(0), scaled("bytes", last=6).stepper(0)
    assert newest.dropped == len(whole) - 6
    for position in range(7):
        want = whole.goto(newest.dropped + position).registers()
        assert newest.goto(position).registers() == want
    assert want.deq_scale == 0.75


@pytest.mark.parametrize("last", [None, 6])
def test_a_saved_run_knows_them(tmp_path, last):
    run = scaled("bytes", last=last)
    run.save(tmp_path / "run")
    one, two = run.stepper(0), asim.open(tmp_path / "run").stepper(0)
    for position in range(len(one) + 1):
        assert one.goto(position).registers() == two.goto(position).registers()


def test_in_words():
    assert set_words_of(Registers()) == {}
    assert words_of(Registers())["mask"] == "not set: each call brings its own"
    told = words_of(Registers("counter", 70, 0.5, "SetAtomicAdd(float16)", 0x3C00))
    assert list(told.values()) == [
        *("counter", "70 elements", "0.5", "SetAtomicAdd(float16)", "0x3c00"),
    ]
    lanes = [words_of(Registers(mask=mask))["mask"] for mask in (0, 0b111, 0b101, ALL_LANES)]
    assert lanes == [
        "no lane",
        "the first 3 lanes of a repeat",
        "lanes 0x5 of a repeat",
        "the first 128 lanes of a repeat",
    ]


def test_the_face_of_a_stepper_shows_them(run):
    at = run.stepper(0)
    assert "mask mode" not in at._repr_html_()
    at.until(name="Adds")
    shown = at._repr_html_()
    for word in ("mask mode", "counter", "100 elements", "deq scale", "0.75", "pad value", "0x7"):
        assert word in shown
    assert "atomic" not in shown
