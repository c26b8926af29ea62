"""Random elementwise kernels with an exact definition, and one planted fault each."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

import numpy as np

import ascendsim as asim
from ascendsim.numerics.rounding import BFLOAT16, FLOAT32, round_to
from ascendsim.options import Options

N = 128
KINDS = ("literal", "rounding", "branch", "flush")
CLASSES = {"literal": "literal", "rounding": "rounding", "branch": "branch", "flush": "flush"}

OP_DEF = """\
from ascendsim.host import OpDef

OP = OpDef(
    "planted",
    inputs=("x", "y"),
    outputs=("out",),
    dtypes={{"x": ("float32",), "y": ("float32",), "out": ("{out}",)}},
)
"""
OP_HOST = """\
from ascendsim.host import Tiling


def tiling(ctx, fixed):
    return Tiling(1, 0, {"n": ctx.n} | fixed)
"""
KERNEL = """\
from ascendsim.ascendc import *


def planted(x, y, out, workspace, tiling):
    n, pipe = tiling.n, TPipe()
    inX, inY = TQue(TPosition.VECIN, 1), TQue(TPosition.VECIN, 1)
    outQueue = TQue(TPosition.VECOUT, 1)
    vBuf, wBuf, maskBuf = (TBuf(TPosition.VECCALC) for _ in range(3))
    for each in (inX, inY, outQueue):
        pipe.InitBuffer(each, 1, n * 4)
    for each in (vBuf, wBuf, maskBuf):
        pipe.InitBuffer(each, n * 4)
    for queue, address in ((inX, x), (inY, y)):
        gm, local = GlobalTensor(float32), queue.AllocTensor(float32)
        gm.SetGlobalBuffer(address, n)
        DataCopy(local, gm, n)
        queue.EnQue(local)
    x, y = inX.DeQue(float32), inY.DeQue(float32)
    v, w, mask = vBuf.Get(float32), wBuf.Get(float32), maskBuf.Get(uint8_t)
    chosen = SELMODE.VSEL_TENSOR_SCALAR_MODE
    result = outQueue.AllocTensor(out.dtype)
    Adds(v, x, 0.0, n)
{lines}
    outQueue.EnQue(result)
    inX.FreeTensor(x)
    inY.FreeTensor(y)
    result = outQueue.DeQue(out.dtype)
    gm = GlobalTensor(out.dtype)
    gm.SetGlobalBuffer(out, n)
    DataCopy(gm, result, n)
    outQueue.FreeTensor(result)
"""
OP_REF = """\
from fractions import Fraction
from math import floor

STEPS = {steps!r}


def definition(x, y):
    v = x
    for name, *rest in STEPS:
        c = Fraction(rest[0]) if rest and isinstance(rest[0], float) else None
        if name in ("Muls", "Fill"):
            v *= c
        elif name == "Adds":
            v += c
        elif name == "Mul":
            v *= y
        elif name == "Add":
            v += y
        elif name == "Div":
            v /= y
        elif name == "Max":
            v = max(v, y)
        elif name == "Abs":
            v = abs(v)
        elif name == "Whole":
            v = (1 if v >= 0 else -1) * Fraction(floor(abs(v) + Fraction(1, 2)))
        elif name == "Clip":
            keep = v > c if rest[2] == "GT" else v >= c
            v = v if keep else Fraction(rest[1])
    return v
"""

Step = tuple


class Planted(NamedTuple):
    """A kernel with and without its fault: both runs, a lane that differs, the faulty line."""

    kind: str
    faulty: asim.Run
    sound: asim.Run
    lane: int
    line: int | None  # None: the first call whose bits differ
    steps: list[Step]


def single(value: float) -> float:
    return float(np.float32(value))


def lines_of(steps: list[Step], last: str) -> list[str]:
    lines = []
    for name, *rest in steps:
        if name in ("Muls", "Adds"):
            lines.append(f"{name}(v, v, {rest[0]!r}, n)")
        elif name == "Fill":
            lines += [f"Duplicate(w, {rest[0]!r}, n)", "Mul(v, v, w, n)"]
        elif name == "Abs":
            lines.append("Abs(v, v, n)")
        elif name == "Whole":
            lines.append(f"Cast(v, v, RoundMode.{rest[0]}, n)")
        elif name == "Clip":
            lines.append(f"CompareScalar(mask, v, {rest[0]!r}, CMPMODE.{rest[2]}, n)")
            lines.append(f"Select(v, mask, v, {rest[1]!r}, chosen, n)")
        else:
            lines.append(f"{name}(v, v, y, n)")
    return [*lines, last]


def chain(rng: random.Random, kind: str) -> tuple[list[Step], int]:
    """Return the steps and the number of the one that will be faulty (the last for flush)."""
    nice = kind in ("rounding", "branch")

    def constant() -> float:
        if nice:
            return rng.choice((0.25, 0.5, 0.75, 1.5, 2.0, 3.0, -1.5, -2.5))
        return single(rng.choice((-1, 1)) * rng.uniform(0.2, 3.0))

    def step() -> Step:
        name = rng.choice(("Muls", "Adds", "Mul", "Add", "Max", "Abs", "Fill", "Div", "Clip"))
        if nice and name == "Div":
            name = "Add"
        if name == "Clip":
            return (name, constant(), constant(), rng.choice(("GT", "GE")))
        return (name, constant()) if name in ("Muls", "Adds", "Fill") else (name,)

    steps = [step() for _ in range(rng.randint(2, 6))]
    at = rng.randint(0, len(steps))
    if kind == "literal":
        steps.insert(at, (rng.choice(("Muls", "Adds", "Fill")), constant()))
    elif kind == "rounding":
        steps.insert(at, ("Whole", "CAST_ROUND"))
    elif kind == "branch":
        steps.insert(at, ("Clip", constant(), constant(), rng.choice(("GT", "GE"))))
    else:
        steps.insert(at, ("Muls", single(2.0 ** -rng.randint(124, 135))))
    return steps, at


def with_fault(rng: random.Random, kind: str, steps: list[Step], at: int) -> list[Step]:
    name, *rest = steps[at]
    if kind == "literal":
        up = rng.choice((-np.inf, np.inf))
        rest[0] = float(np.nextafter(np.float32(rest[0]), np.float32(up)))
    elif kind == "rounding":
        rest[0] = "CAST_RINT"
    elif kind == "branch":
        rest[2] = "GE" if rest[2] == "GT" else "GT"
    return [*steps[:at], (name, *rest), *steps[at + 1 :]]


def built(folder, steps, wanted, out, last):
    folder.mkdir()
    (folder / "op_def.py").write_text(OP_DEF.format(out=out))
    (folder / "op_host.py").write_text(OP_HOST)
    lines = "\n".join(f"    {line}" for line in lines_of(steps, last))
    (folder / "op_kernel.py").write_text(KERNEL.format(lines=lines))
    (folder / "op_ref.py").write_text(OP_REF.format(steps=wanted))
    return asim.load(folder)


def launched(op, arrays, subnormals):
    tiling = op.tiling((N,), {"x": "float32"})
    options = Options(subnormals=subnormals)
    return asim.launch(op, arrays, tiling, record="bytes", options=options)


def data(rng: random.Random, kind: str) -> dict[str, np.ndarray]:
    made = np.random.default_rng(rng.getrandbits(32))
    grid = made.integers(-24, 25, (2, N)) / 8
    free = made.uniform(-4, 4, (2, N))
    share = 1.0 if kind in ("rounding", "branch") else 0.3
    x, y = np.where(made.random((2, N)) < share, grid, free).astype(np.float32)
    return {"x": x, "y": np.where(y == 0, np.float32(1), y)}


def planted(tmp_path, seed: int, kind: str) -> Planted:
    """Return the first random kernel from `seed` on whose fault shows in some lane."""
    for attempt in range(200):
        rng = random.Random(f"{seed} {attempt}")
        steps, at = chain(rng, kind)
        final = kind == "rounding" and rng.random() < 0.4  # the fault is in the last Cast
        faulty = steps if final else with_fault(rng, kind, steps, at)
        narrow = final or (kind == "branch" and rng.random() < 0.3)
        out = "bfloat16" if narrow else "float32"
        cast = "Cast(result, v, RoundMode.{}, n)"
        last = cast.format("CAST_RINT") if narrow else "Adds(result, v, 0.0, n)"
        wrong = cast.format("CAST_ROUND") if final else last
        arrays, folder = data(rng, kind), tmp_path / f"{kind}_{seed}_{attempt}"
        folder.mkdir()
        sound = launched(built(folder / "sound", steps, steps, out, last), arrays, "keep")
        mode = "flush" if kind == "flush" else "keep"
        other = launched(built(folder / "faulty", faulty, steps, out, wrong), arrays, mode)
        lane = lane_of(rng, sound, other, steps, arrays)
        if lane is not None:
            first = KERNEL.split("{lines}")[0].count("\n") + 1
            number = len(lines_of(steps, "")) - 1 if final else len(lines_of(steps[:at], "")) - 1
            line = None if kind == "flush" else first + number
            return Planted(kind, other, sound, lane, line, steps)
    raise AssertionError(f"no visible fault for seed {seed}")


def lane_of(rng, sound, other, steps, arrays):
    """Return a lane whose sound result is the definition's, rounded once, and the faulty not."""
    space: dict = {}
    exec(OP_REF.format(steps=steps), space)
    fmt = FLOAT32 if sound.out.dtype == np.float32 else BFLOAT16
    kind = f"u{sound.out.dtype.itemsize}"
    good, bad = sound.out.view(kind), other.out.view(kind)
    lanes = [int(k) for k in np.flatnonzero(good != bad)]
    rng.shuffle(lanes)
    for lane in lanes:
        inputs = (Fraction(float(arrays[name][lane])) for name in ("x", "y"))
        if round_to(space["definition"](*inputs), fmt) == good[lane]:
            return lane
    return None
