"""Undefined bits against what the instructions themselves do with NaN.

UB is filled with NaN, lanes are defined with SetValue, and a random call runs on them, with
strides, masks and operands over one another. NaN goes through additions and moves exactly as
undefined bits should, so afterwards the lanes that are NaN are those that the shadow calls
undefined. Compare and Select are held against loops over lanes.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from ascendsim import Options
from ascendsim.ascendc import *
from ascendsim.explore.speed.random_kernels import random_kernel
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import Checks
from ascendsim.observe.checks.initcheck import Undefined
from ascendsim.observe.checks.touched import TouchedBytes
from tests.kit import Ub, make_job

LANES, REPEATS, ROOM = 64, 4, 2048
SEEDS = [*range(16), *(pytest.param(s, marks=pytest.mark.slow) for s in range(16, 80))]
FEW_SEEDS = [*range(8), *(pytest.param(s, marks=pytest.mark.slow) for s in range(8, 80))]


class Watched:
    """What the body of a test sees of the checks: the shadow of its UB, as words."""

    def __init__(self, body, soc="ascend910b1"):
        options = Options.of(settings={"ub_fill": "0xff", "select_scratch": "off"})
        job = make_job(
            lambda x: body(self), {"x": np.ones(64, np.float32)}, {}, soc=soc, options=options
        )
        self.checks = Checks(("initcheck",), options)
        launch(job, Readers(checks=self.checks))

    @property
    def undefined(self) -> Undefined:
        (block,) = self.checks._blocks.values()
        return next(m.__self__ for m in block.accesses if isinstance(m.__self__, Undefined))

    def shadow(self, tensor, T=None):
        T = T or tensor.dtype
        part = self.undefined.ub[tensor.start : tensor.start + tensor.nbytes]
        return part.view(T.bits)

    def agrees(self, tensor):
        """Check that exactly the NaN lanes of a tensor are undefined, in all bits."""
        words, ub = self.shadow(tensor), tensor.core.ub.array
        values = ub[tensor.start : tensor.start + tensor.nbytes].view(tensor.dtype.numpy)
        nan = np.isnan(values.astype(np.float32))
        assert np.array_equal(words, np.where(nan, np.iinfo(words.dtype).max, 0))
        return nan


def define(tensor, rng, share=0.7):
    """Store 1.0 in a random share of the lanes."""
    for lane in range(tensor.GetSize()):
        if rng.random() < share:
            tensor.SetValue(lane, 1.0)


def mask_of(rng, lanes=LANES):
    kind = rng.random()
    if kind < 0.3:
        return lanes
    words = [rng.getrandbits(64), rng.getrandbits(64) if lanes > 64 else 0]
    return words if any(words) else lanes


def offset(rng, most):
    """Return a tensor offset that is a multiple of 32 bytes (of fp32)."""
    return 8 * rng.randrange(most // 8)


def draw_lanes(u, rng):
    """Make one call of an instruction whose lanes map one to one."""
    a = u["a"]
    # all operands lie in one buffer, so they are equal, apart or over one another
    dst, one, two = (a[offset(rng, 512) :] for _ in range(3))
    if rng.random() < 0.4:
        one = dst
    if rng.random() < 0.4:
        count = rng.randrange(1, LANES * REPEATS)
        rng.choice((lambda: Add(dst, one, two, count), lambda: Muls(dst, one, 2.0, count)))()
        return
    strides = [rng.choice((1, 1, 2)), *(rng.choice((0, 1, 1, 2)) for _ in range(2))]
    steps = [rng.choice((8, 8, 4, 16, 1, 0)) for _ in range(3)]
    mask, repeats = mask_of(rng), rng.randrange(1, REPEATS + 1)
    rng.choice(
        (
            lambda: Add(dst, one, two, mask, repeats, BinaryRepeatParams(*strides, *steps)),
            lambda: Muls(dst, one, 2.0, mask, repeats, UnaryRepeatParams(*strides[:2], *steps[:2])),
        )
    )()


@pytest.mark.parametrize("seed", SEEDS)
def test_lanes(seed):
    rng = random.Random(seed)

    def body(w):
        u = Ub(a=(float32, ROOM))
        define(u["a"], rng, rng.choice((0.5, 0.95, 1.0)))
        draw_lanes(u, rng)
        w.agrees(u["a"])

    Watched(body, rng.choice(("ascend910b1", "ascend950")))


def draw_move(u, rng):
    a, b = u["a"], u["b"]
    repeats = rng.randrange(1, 4)
    kinds = {
        "copy": lambda: Copy(b, a, mask_of(rng), repeats, CopyRepeatParams(1, 1, 8, 8)),
        "ub": lambda: DataCopy(b, a, DataCopyParams(3, 2, 1, 2)),
        "brcb": lambda: Brcb(b, a, repeats, BrcbRepeatParams(1, 8)),
        "gather": lambda: (
            Duplicate(u["o"], 4 * rng.randrange(64), 64),
            Gather(b, a, u["o"], 4 * rng.randrange(64), 64),
        ),
        "mask": lambda: GatherMask(
            b, a, rng.randrange(1, 8), True, rng.randrange(1, 65), GatherMaskParams(1, 2, 8, 0)
        ),
        "cast": lambda: (
            Cast(u["h"], a, RoundMode.CAST_RINT, mask_of(rng), 2, UnaryRepeatParams(1, 1, 4, 8)),
            Cast(b, u["h"], RoundMode.CAST_NONE, 100),
        ),
    }
    kinds[rng.choice(sorted(kinds))]()


@pytest.mark.parametrize("seed", SEEDS)
def test_moves(seed):
    rng = random.Random(seed)

    def body(w):
        u = Ub(a=(float32, 512), b=(float32, 1024), h=(half, 512), o=(uint32_t, 64))
        define(u["a"], rng)
        draw_move(u, rng)
        w.agrees(u["b"])
        w.agrees(u["h"])

    Watched(body)


def draw_reduction(u, rng):
    a, b = u["a"], u["b"]
    mask, repeats = mask_of(rng), rng.randrange(1, 5)
    kinds = (
        lambda: WholeReduceSum(b, a, mask, repeats, rng.choice((1, 2)), 1, rng.choice((8, 4))),
        lambda: BlockReduceSum(b, a, repeats, mask, 1, rng.choice((1, 2)), 8),
        lambda: PairReduceSum(b, a, repeats, mask, 1, 1, 8),
        lambda: ReduceSum(b, a, u["t"], rng.randrange(1, 300)),
        lambda: ReduceSum(b, a, u["t"], mask, repeats, 8),
    )
    rng.choice(kinds)()


@pytest.mark.parametrize("seed", SEEDS)
def test_reductions(seed):
    rng = random.Random(seed)

    def body(w):
        u = Ub(a=(float32, 512), b=(float32, 512), t=(float32, 64))
        define(u["a"], rng, rng.choice((0.97, 0.8)))
        define(u["b"], rng, 0.5)
        draw_reduction(u, rng)
        w.agrees(u["b"])

    Watched(body, rng.choice(("ascend910b1", "ascend950")))


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
@pytest.mark.parametrize("seed", range(6))
def test_compare_lane_by_lane(seed, soc):
    """Bit i is undefined when lane i is; on 950 bits of masked-off lanes are 0."""
    rng = random.Random(seed)
    mask, count = mask_of(rng), rng.choice((None, 64, 192))

    def body(w):
        u = Ub(a=(float32, 512), m=(uint8_t, 32))
        define(u["a"], rng)
        nan = w.agrees(u["a"])
        bits = np.unpackbits(w.shadow(u["m"]).copy(), bitorder="little")
        if count is None:
            CompareScalar(u["m"], u["a"], 0.0, CMPMODE.GT, mask, 3, UnaryRepeatParams(1, 2, 8, 16))
            active = [mask[0] >> i & 1 if type(mask) is list else 1 for i in range(LANES)]
            for lane in range(3 * LANES):
                repeat, i = divmod(lane, LANES)
                place = repeat * 128 + i // 8 * 16 + i % 8
                bits[lane] = nan[place] and (active[i] or soc == "ascend910b1")
        else:
            CompareScalar(u["m"], u["a"], 0.0, CMPMODE.GT, count)
            bits[:count] = nan[:count]
        got = np.unpackbits(w.shadow(u["m"]), bitorder="little")
        assert np.array_equal(got, bits)

    Watched(body, soc)


@pytest.mark.parametrize("repeats", [None, 2])
@pytest.mark.parametrize("seed", range(6))
def test_select_lane_by_lane(seed, repeats):
    """A lane is undefined when the one that it takes is, of an undefined mask bit either one."""
    rng = random.Random(seed)
    mode = SELMODE.VSEL_TENSOR_TENSOR_MODE

    def body(w):
        u = Ub(
            a=(float32, 128), b=(float32, 128), d=(float32, 128), m=(uint8_t, 32), c=(float32, 128)
        )
        for name in ("a", "b", "c"):
            define(u[name], rng)
        CompareScalar(u["m"], u["c"], 2.0 if seed % 2 else 0.0, CMPMODE.LT, 128)
        unknown, chosen = w.agrees(u["c"]), bool(seed % 2)
        if repeats is None:
            Select(u["d"], u["m"], u["a"], u["b"], mode, 128)
        else:
            Select(
                u["d"],
                u["m"],
                u["a"],
                u["b"],
                mode,
                64,
                repeats,
                BinaryRepeatParams(1, 1, 1, 8, 8, 8),
            )
        one, other = w.agrees(u["a"]), w.agrees(u["b"])
        either = one | other  # those that are defined are all 1.0, so both arms agree
        undefined = np.where(unknown, either, one if chosen else other)
        want = np.where(undefined, 0xFFFFFFFF, 0).astype(np.uint32)
        assert np.array_equal(w.shadow(u["d"]), want)

    Watched(body)


@pytest.mark.parametrize("seed", SEEDS)
def test_touched_bytes_are_the_ranges_of_the_call(seed):
    """The quick form of what a call touches is the slow one, byte by byte."""
    rng = random.Random(seed)
    seen = []

    class Look:
        def before(self, instr):
            call = instr.call
            if call.name not in ("Add", "Muls", "DataCopy"):
                return
            for access, touched in zip(call.accesses, TouchedBytes().of(call), strict=True):
                slow = {b for start, stop in call.ranges(access) for b in range(start, stop)}
                assert slow == {b for start, stop in touched.spans() for b in range(start, stop)}
                seen.append(len(slow))

        def after(self, instr):
            pass

    def body(x):
        u = Ub(a=(float32, ROOM), b=(float32, 512))
        for _ in range(4):
            draw_lanes(u, rng)
        DataCopy(u["b"], u["a"], DataCopyParams(rng.randrange(1, 5), 2, 1, rng.randrange(3)))

    launch(make_job(body, {"x": np.ones(64, np.float32)}, {}), Readers((Look(),)))
    assert sum(seen) > 100


@pytest.mark.parametrize("seed", FEW_SEEDS)  # of kernels that run three times, with all checks
@pytest.mark.parametrize("fault", ["", "shifted", "strided"])
def test_without_a_finding_the_output_does_not_depend_on_the_fill(seed, fault):
    """What UB holds at the start reaches no output of a random kernel, or is reported."""
    soc = "ascend950" if seed % 2 and fault != "strided" else "ascend910b1"
    job = random_kernel(seed, fault, soc)  # not all types have repeats on 950
    found, outputs = [], []
    for fill in ("poison", "0x00", "0x3c"):
        options = Options.of(settings={"ub_fill": fill, "select_scratch": "off"})
        checks = Checks(("initcheck",), options, defined=tuple(job.inputs))
        run = launch(replace(job, options=options), Readers(checks=checks))
        found.append(checks.all())
        outputs.append(run.outputs["out"].tobytes())
    codes = [[each.code for each in each_run] for each_run in found]
    assert codes[0] == codes[1] == codes[2]
    assert codes[0] or len(set(outputs)) == 1
    assert set(codes[0]) <= {"initcheck:uninitialized-to-gm"}
