"""Random calls of every arithmetic, logic and moving instruction against `plain.py`, byte by byte.

Odd counts, 0 and 255 repeats, masks, strides, counter mode, operands over each other, every chip.
"""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim import ascendc
from ascendsim import soc as socs
from ascendsim.ascendc import *
from ascendsim.dtypes import BY_NAME
from ascendsim.errors import UnsupportedError
from tests.isa import plain, shapes
from tests.isa.fuzzing import (
    OPTIONS,
    SIZE,
    Dice,
    arguments,
    compare,
    environment,
    forms_on,
    left_by,
)

BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "SubRelu", "And", "Or")
SCALAR = ("Adds", "Muls", "Subs", "Divs", "Maxs", "Mins", "LeakyRelu", "Ands", "Ors")
SHIFTS = ("ShiftLeft", "ShiftRight")
UNARY = ("Abs", "Relu", "Sqrt", "Reciprocal", "Not")
READS_DST = ("Axpy", "MulAddDst", "FusedMulAdd")
NAMES = (*BINARY, *SCALAR, *SHIFTS, *UNARY, *READS_DST)
FLOATS = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}
WHOLE = {
    "Add": lambda x, y: x + y,
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, y: x * y,
    "Max": max,
    "Min": min,
    "And": lambda x, y: x & y,
    "Or": lambda x, y: x | y,
    "ShiftLeft": lambda x, y: x << y,
    "ShiftRight": lambda x, y: x >> y,
}


def on_floats(name, f, scalar):
    """Return what an instruction computes of float patterns; dst comes last where it is read."""
    flush = not f.env["keep"]
    filled = lambda a: np.full(a.shape, scalar, a.dtype)  # noqa: E731
    table = {
        "Div": lambda a, b: f.operate(np.divide, a, b, flush=flush),
        "Max": lambda a, b: f.choose(a, b, True),
        "Min": lambda a, b: f.choose(a, b, False),
        "SubRelu": lambda a, b: f.relu(f.operate(np.subtract, a, b)),
        "LeakyRelu": lambda a, b: f.leaky(a, b),
        "Abs": lambda a: f.out(np.abs(f.read(a))),
        "Relu": f.relu,
        "Sqrt": lambda a: f.operate(np.sqrt, a, flush=flush),
        "Reciprocal": lambda a: f.operate(
            np.divide, plain.to_float(np.ones(a.shape), f.name), a, flush=flush
        ),
        "Axpy": lambda a, d: f.multiply_add(a, filled(a), d),
        "MulAddDst": lambda a, b, d: f.multiply_add(a, b, d),
        "FusedMulAdd": lambda a, b, d: f.multiply_add(a, d, b),
    }
    if name in FLOATS:
        return lambda a, b: f.operate(FLOATS[name], a, b)
    if name in SCALAR and name != "LeakyRelu":
        two = on_floats(name.removesuffix("s"), f, scalar)
        return lambda a: two(a, filled(a))
    if name == "LeakyRelu":
        return lambda a: table[name](a, filled(a))
    return table[name]


def on_integers(name, g, scalar):
    """Return what an instruction computes of integer patterns."""
    if name == "Not":
        return lambda a: ~a
    if name == "Relu":
        return lambda a: g.operate(lambda x: max(x, 0), a)
    if name == "SubRelu":
        return lambda a, b: g.operate(lambda x: max(x, 0), g.operate(WHOLE["Sub"], a, b))
    if name in WHOLE and name not in SHIFTS:
        return lambda a, b: g.operate(WHOLE[name], a, b)
    function = WHOLE[name if name in SHIFTS else name.removesuffix("s")]
    return lambda a: g.operate(lambda x: function(x, scalar), a)


def one(dice, name):
    soc, options = dice.soc(name), dice.of(*OPTIONS)
    row = socs.load(soc).ops[name]
    T = BY_NAME[dice.of(*row.dtypes)]
    sources = 2 if name in BINARY or name in READS_DST[1:] else 1
    shape = dice.shape(256 // T.nbytes, 1 + sources, forms_on(soc, row, T))
    starts, image = dice.starts(1 + sources), dice.words(T, SIZE // T.nbytes).view(np.uint8)
    given, scalar = (), None
    if name in SHIFTS:
        given = (scalar,) = (dice.choices.randrange(8 * T.nbytes + 1),)
    elif name in SCALAR or name == "Axpy":
        pattern = dice.words(T, 1)
        given = (pattern.view(T.numpy)[0],)
        scalar = pattern[0] if T.kind == "float" else int(given[0])

    def call(memory):
        tensors = [memory.ReinterpretCast(T)[start // T.nbytes :] for start in starts]
        params = BinaryRepeatParams if sources == 2 else UnaryRepeatParams
        getattr(ascendc, name)(*tensors, *given, *arguments(shape, params))

    got = left_by(image, shape, call, soc, options)
    operands = list(starts)
    if name in READS_DST:
        operands.append(starts[0])
        shape.strides = (*shape.strides, shape.strides[0])
    if T.kind == "float":
        compute = on_floats(name, plain.Floats(T.name, environment(soc, options)), scalar)
    else:
        compute = on_integers(name, plain.Integers(T.numpy), scalar)
    if got is not None:
        want = shapes.run(image, operands, [T.nbytes] * len(operands), shape, compute)
        compare(dice, got, want, soc, name, T, options, shape, starts, scalar)


@pytest.mark.parametrize("name", NAMES)
def test_random_calls(name):
    dice = Dice(len(name))
    for _ in range(12):
        one(dice, name)
    assert dice.compared > 4


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_random_calls(name):
    dice = Dice(100 + len(name))
    for _ in range(60):
        one(dice, name)
    assert dice.compared > 40


def moved(dice, name):
    """Copy, Duplicate: bits as they are, payloads of NaN too."""
    soc = dice.soc(name)
    row = socs.load(soc).ops[name]
    T = BY_NAME[dice.of(*row.dtypes)]
    forms = forms_on(soc, row, T)
    if name == "Copy":  # the count form came with 950; counter mode has a test of its own
        forms = tuple(f for f in forms if f == "repeat" or (f == "count" and soc == "ascend950"))
    shape = dice.shape(256 // T.nbytes, 2 if name == "Copy" else 1, forms)
    starts, image = dice.starts(2), dice.words(T, SIZE // T.nbytes).view(np.uint8)
    pattern = dice.words(T, 1)

    def call(memory):
        dst, src = (memory.ReinterpretCast(T)[start // T.nbytes :] for start in starts)
        if name == "Copy":
            Copy(dst, src, *arguments(shape, CopyRepeatParams))
        else:
            rest = arguments(shape, lambda *strides: strides)
            strides = rest[2] if len(rest) == 3 else ()
            Duplicate(dst, pattern.view(T.numpy)[0], *rest[:2], *strides)

    got = left_by(image, shape, call, soc, {})
    if got is not None:
        operands = starts if name == "Copy" else [starts[0]] * 2
        shape.strides = shape.strides if name == "Copy" else shape.strides * 2
        compute = (
            (lambda a: a) if name == "Copy" else lambda a: np.full(a.shape, pattern[0], a.dtype)
        )
        want = shapes.run(image, operands, [T.nbytes] * 2, shape, compute)
        compare(dice, got, want, soc, name, T, shape, starts, hex(int(pattern[0])))


@pytest.mark.parametrize("name", ["Copy", "Duplicate"])
def test_moved_bits(name):
    dice = Dice(7)
    for _ in range(40):
        moved(dice, name)
    assert dice.compared > 25


@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
def test_counter_mode_of_copy_counts_each_repeat(soc):
    """The manual's recipe: 144 elements, 18 datablocks at a stride of 8, in one repeat."""
    from tests.kit import Ub, fails, peek, put, run_block

    rows = np.arange(18 * 64, dtype=np.int32).reshape(18, 64)

    def body(count=144, repeats=1):
        u = Ub(a=(int32, 18 * 64), b=(int32, 18 * 64))
        put(u["a"], rows)
        put(u["b"], np.zeros(18 * 64, np.int32))
        SetMaskCount()
        Copy(u["b"], u["a"], count, repeats, CopyRepeatParams(1, 8, 8, 8))
        SetMaskNorm()
        return peek(u["b"])

    def recipe():
        assert body()[:144].tolist() == rows[:, :8].reshape(-1).tolist()

    def short_repeats():
        found = body(5, 3).reshape(-1, 64)
        assert found[:3, :5].tolist() == [list(range(64 * r, 64 * r + 5)) for r in range(3)]
        assert not found[3:].any()
        assert not found[:3, 5:].any()

    run_block(recipe, soc=soc)
    run_block(short_repeats, soc=soc)
    fails(
        UnsupportedError, "2 repeats of 144 elements in counter mode", lambda: body(144, 2), soc=soc
    )
