"""Every declared instruction, on every SoC and type that it claims, against the lane model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ascendsim import dtypes
from ascendsim import soc as socs
from ascendsim.ascendc import *
from ascendsim.ascendc import REGISTRY
from tests.helpers import assert_same_bits
from tests.isa.model import COMPARES, Case, Lanes, expected, width_of
from tests.kit import EVERY_SOC, Ub, fields, interesting, peek, put, run_block

NBYTES = 8192
LETTERS = dict(zip("NRFCAZO", RoundMode, strict=True))
VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "memory_vectors.json").read_text())[
        "vectors"
    ]
}


def kinds(name, soc):
    """Yield (destination type, source type, mode) of all that `soc` claims for `name`."""
    row = socs.load(soc).ops[name]
    if name == "Cast":
        for pair, letters in row.pairs.items():
            source, target = (dtypes.dtype(n) for n in pair.split("->"))
            for letter in letters:
                yield target, source, LETTERS[letter]
        return
    for T in map(dtypes.dtype, row.dtypes):
        modes = [None]
        if name in COMPARES:
            modes = [CMPMODE(m) for m in row.only.get(T.name, CMPMODE)]
        if name == "Select":
            modes = [SELMODE(m) for m in row.modes]
        for mode in modes:
            yield (uint8 if name in COMPARES else T), T, mode
    for pair in row.pairs:
        source, target = (dtypes.dtype(n) for n in pair.split("->"))
        yield target, source, None


def make(decl, kind, lanes, rng):
    """Return the case on fresh buffers full of random values; the rest of UB is random too."""
    target, source, mode = kind
    SetDeqScale(0.75)
    types = {"dst": target}
    for name, _ in decl.operands[1:]:
        types[name] = uint8 if name == "selMask" else source
    scalar = None
    if decl.scalar or mode is SELMODE.VSEL_TENSOR_SCALAR_MODE:
        scalar = interesting(source, 64, int(rng.integers(99)))[0]
        if decl.shift:
            scalar = int(rng.integers(8 * source.nbytes + 1))
    if mode is SELMODE.VSEL_TENSOR_SCALAR_MODE:
        types.pop("src1")
    u = Ub(**{n: (T, NBYTES // T.nbytes) for n, T in types.items()})
    for name, T in types.items():
        put(u[name], interesting(T, NBYTES // T.nbytes, int(rng.integers(1 << 30))))
    return u, Case(decl, {n: u[n] for n in types}, lanes, scalar, mode)


def check(case):
    core = case.tensors["dst"].core
    before = core.ub.array.copy()
    want = expected(case, before, floor=core.soc.arch != "3510")
    case.run()
    got = core.ub.array
    bad = np.flatnonzero(got != want)
    assert not bad.size, (
        f"{case.decl.name} {case.mode} {case.lanes}: {bad.size} bytes, first UB[{bad[0]:#x}] "
        f"was {before[bad[0]]:#x} got {got[bad[0]]:#x} want {want[bad[0]]:#x}"
    )


def counts(width):
    return [1, width - 1, width, width + 1, 3 * width + 7, 4 * width, 0]


def random_lanes(case, rng, width):
    """Return a repeat form: any mask, strides and repeat times that fit the buffers."""
    words = rng.integers(1, 1 << 64, 2, np.uint64).tolist()
    high = words[1] & (1 << width - 64) - 1 if width > 64 else 0
    low = words[0] & (1 << min(width, 64)) - 1 or 1
    mask = [
        [low, high],
        [1 << int(rng.integers(min(width, 64))), 0],
        int(rng.integers(1, width + 1)),
        999,
    ]
    strides = {n: (int(rng.integers(0, 4)), int(rng.integers(0, 20))) for n in case.tensors}
    strides["dst"] = (int(rng.integers(1, 4)), strides["dst"][1])
    return Lanes(mask=mask[rng.integers(4)], repeats=int(rng.integers(0, 6)), strides=strides)


def sweep(name, soc, form):
    decl = REGISTRY[name]
    rng = np.random.default_rng(sum(map(ord, name + soc)))

    def body():
        for number, kind in enumerate(kinds(name, soc)):
            u, case = make(decl, kind, Lanes(1), rng)
            for lanes in form(case, rng, width_of(case), number):
                case.lanes = lanes
                check(case)
            u.pipe.Destroy()

    run_block(body, soc=soc, ub=32768 + 8192, options={"ub_fill": "random"}, observe=False)


def instructions(but=()):
    """Return each instruction on each chip; what a chip of that architecture did before is slow."""
    found, seen = [], set()
    for soc in map(socs.load, EVERY_SOC):
        for name in (name for name in REGISTRY if name in soc.ops and name not in but):
            key = (name, soc.arch, str([*kinds(name, soc.name)]), str(soc.ops[name].count_only))
            marks = [pytest.mark.slow] if key in seen else []
            found.append(pytest.param(name, soc.name, marks=marks))
            seen.add(key)
    return found


def count_forms(case, rng, width, number):
    yield from (Lanes(n) for n in (counts(width) if number < 6 else [width + 1]))


def repeat_forms(case, rng, width, number):
    row = case.tensors["dst"].core.soc.ops[case.decl.name]
    if case.tensors["dst"].dtype.name in row.count_only:
        return
    yield from (random_lanes(case, rng, width) for _ in range(8 if number < 6 else 2))
    yield Lanes(mask=999, repeats=3, strides={"dst": (1, 8)})


@pytest.mark.parametrize(("name", "soc"), instructions(but=["Copy"]))
def test_count_form(name, soc):
    sweep(name, soc, count_forms)


@pytest.mark.parametrize(("name", "soc"), instructions())
def test_repeat_form(name, soc):
    sweep(name, soc, repeat_forms)


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
@pytest.mark.parametrize("name", ["Add", "Sub", "Max", "Muls", "Abs", "Exp", "Select"])
def test_in_place(name, soc):
    """Source and destination are the same elements, in both forms."""
    decl = REGISTRY[name]
    rng = np.random.default_rng(5)
    mode = SELMODE.VSEL_TENSOR_TENSOR_MODE if name == "Select" else None

    def body():
        _, case = make(decl, (half, half, mode), Lanes(300), rng)
        source = next(n for n in case.tensors if n.startswith("src"))
        case.tensors[source] = case.tensors["dst"]
        check(case)
        for _ in range(6):
            case.lanes = random_lanes(case, rng, 128)
            case.lanes.strides[source] = case.lanes.strides["dst"] = (2, 16)
            check(case)

    warnings = run_block(body, soc=soc, ub=65536).warnings
    assert {w.partition(":")[0] for w in warnings} <= {"empty-call", "mask-lanes"}


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
@pytest.mark.parametrize("shift", [-32, -8, 8, 16, 32, 64])
def test_partial_overlap_runs_in_order(soc, shift):
    def body():
        u = Ub(a=(float32, 1024), b=(float32, 1024))
        t = u["a"]
        put(t, interesting(float32, 1024, 1))
        low, high = t[max(-shift, 0) :], t[max(shift, 0) :]
        for decl, tensors in (
            (REGISTRY["Adds"], {"dst": high, "src": low}),
            (REGISTRY["Add"], {"dst": high, "src0": low, "src1": u["b"]}),
        ):
            case = Case(decl, tensors, Lanes(300), 1.0)
            check(case)
            case.lanes = Lanes(mask=[0xF0F0F0F0F0F0F0F1, 0], repeats=4)
            check(case)

    block = run_block(body, soc=soc, ub=8192 + 4096)
    text = block.warning("overlap")
    assert "Adds: a source overlaps dst (a float32 UB[" in text
    assert "undefined on hardware; repeats ran in order here" in text
    assert block.rules["repeat-order"] == "assumed"


def test_accumulation_into_a_source_that_stays_in_place():
    """The documented exception: dst is src1 and its repeat stride is 0."""
    total = {}

    def body():
        u = Ub(a=(float32, 512), b=(float32, 64))
        put(u["a"], np.arange(512, dtype=np.float32))
        put(u["b"], np.zeros(64, np.float32))
        Add(u["b"], u["a"], u["b"], 64, 8, BinaryRepeatParams(1, 1, 1, 0, 8, 0))
        total["b"] = peek(u["b"])

    block = run_block(body)
    assert_same_bits(total["b"], np.arange(512, dtype=np.float32).reshape(8, 64).sum(0))
    assert not block.warnings


@pytest.mark.parametrize(("narrow", "wide"), [(half, float32), (bfloat16_t, float32)])
def test_a_narrowing_cast_in_place_runs_in_order(narrow, wide):
    def body():
        u = Ub(a=(wide, 512))
        put(u["a"], interesting(wide, 512, 2))
        tensors = {"dst": u["a"].ReinterpretCast(narrow), "src": u["a"]}
        check(Case(REGISTRY["Cast"], tensors, Lanes(333), mode=RoundMode.CAST_RINT))

    assert not run_block(body, ub=4096).warnings


def test_default_strides_of_a_cast_follow_each_operand():
    def body():
        u = Ub(a=(half, 256), b=(float32, 256))
        put(u["a"], np.arange(256, dtype=np.float16))
        Cast(u["b"], u["a"], RoundMode.CAST_NONE, 64, 4)
        assert_same_bits(peek(u["b"]), np.arange(256, dtype=np.float32))
        Cast(u["a"], u["b"], RoundMode.CAST_NONE, 64, 4)
        assert_same_bits(peek(u["a"]), np.arange(256, dtype=np.float16))

    run_block(body)


def test_published_forms():
    add, duplicate = VECTORS["add_512"], VECTORS["duplicate_18"]

    def body():
        u = Ub(a=(half, 512), b=(half, 512), c=(half, 512))
        put(u["a"], np.array(add["input"]["src0"], np.float16))
        put(u["b"], np.array(add["input"]["src1"], np.float16))
        want = np.array(add["output"]["dst"], np.float16)
        (form,) = add["params"]["also"]
        for lanes in ((512,), (form["mask"], form["repeat"], BinaryRepeatParams(*form["params"]))):
            put(u["c"], np.zeros(512, np.float16))
            Add(u["c"], u["a"], u["b"], *lanes)
            assert_same_bits(peek(u["c"]), want)
        want = np.array(duplicate["output"]["dst"], np.float16)
        for lanes in ((128, 2, 1, 8), ([(1 << 64) - 1] * 2, 2, 1, 8), (256,)):
            put(u["c"], np.zeros(512, np.float16))
            Duplicate(u["c"], duplicate["params"]["scalar"], *lanes)
            assert_same_bits(peek(u["c"])[:256], want)
            assert not peek(u["c"])[256:].any()
        put(u["c"], np.zeros(512, np.float16))
        Duplicate(u["c"], 1.0, VECTORS["mask_bits_8_2"]["params"]["mask"], 1, 1, 8)
        active = VECTORS["mask_bits_8_2"]["output"]["active_elements_zero_based"]
        assert np.flatnonzero(peek(u["c"])).tolist() == active

    run_block(body)


def test_a_mask_of_lanes_and_of_bits_are_different_calls():
    def body():
        u = Ub(a=(float32, 64))
        put(u["a"], np.zeros(64, np.float32))
        Duplicate(u["a"], 1.0, 3, 1, 1, 8)
        assert peek(u["a"]).sum() == 3
        Duplicate(u["a"], 0.0, 64)
        Duplicate(u["a"], 1.0, [3, 0], 1, 1, 8)
        assert peek(u["a"]).sum() == 2

    calls = run_block(body).calls
    repeated = [c for c in calls if "repeatTimes" in c]
    assert fields(repeated, "mask", "repeatTimes") == [(7, 1), (3, 1)]
