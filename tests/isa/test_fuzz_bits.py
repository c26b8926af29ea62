"""Random comparisons and selections against `plain.py`: mask bits, tails, reuse, strides."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from ascendsim import ascendc
from ascendsim import soc as socs
from ascendsim.ascendc import *
from ascendsim.dtypes import BY_NAME
from ascendsim.errors import BoundsError
from tests.helpers import assert_same_bits
from tests.isa import plain
from tests.isa.fuzzing import SIZE, Dice, compare, environment, left_by
from tests.kit import Ub, peek, put, run_block

SOURCE, BITS = 32768, 8192  # bytes
OPTIONS = ({}, {"ne_nan": "1"}, {"compare_tail": "ceil"}, {"compare_tail": "floor"})
SCALAR, SPR = SELMODE.VSEL_TENSOR_SCALAR_MODE, SELMODE.VSEL_CMPMASK_SPR


def chosen(mask, width):
    """Return the lanes of a mask argument as booleans."""
    if isinstance(mask, list):
        bits = mask[0] | mask[1] << 64
        return np.array([bits >> lane & 1 for lane in range(width)], bool)
    return np.arange(width) < mask


def compared_bytes(before, read, shape, tail, honours_mask):
    """Return the mask bytes after a comparison; `read(repeat)` gives the bits of its lanes."""
    want, width = before.copy(), shape["width"]
    repeats = shape["repeats"]
    if shape["mask"] is None:
        whole = shape["count"] // width
        repeats = whole if tail == "floor" else -(-shape["count"] // width)
    for repeat in range(repeats):
        bits = read(repeat)
        if shape["mask"] is None:
            bits = bits & (repeat * width + np.arange(width) < shape["count"])
        elif honours_mask:
            bits = bits & chosen(shape["mask"], width)
        packed = np.packbits(bits, bitorder="little")
        want[repeat * width // 8 : (repeat + 1) * width // 8] = packed
    return want


def comparing(dice, name):
    soc, options = dice.soc(name), dice.of(*OPTIONS)
    chip = socs.load(soc)
    row = chip.ops[name]
    T = BY_NAME[dice.of(*row.dtypes)]
    width, two = 256 // T.nbytes, name == "Compare"
    mode = CMPMODE(dice.of(*(row.only.get(T.name, row.modes) or tuple(map(int, CMPMODE)))))
    counted = dice.of(True, False)
    shape = {
        "width": width,
        "count": dice.count(width),
        "repeats": dice.of(0, 1, 2, 3, 7, 100),
        "mask": None if counted else dice.mask(width),
    }
    starts = [32 * dice.choices.randrange(60) for _ in range(2)]
    strides = [(dice.of(1, 1, 0, 2, 3), dice.of(8, 8, 0, 1, 4, 9)) for _ in range(2)]
    source = dice.words(T, SOURCE // T.nbytes)
    if dice.of(True, False):  # many equal operands
        source = dice.numbers.choice(source[:8], source.size)
    raw, before = source.view(np.uint8), dice.numbers.integers(0, 256, BITS, np.uint8)
    scalar = dice.words(T, 1)
    found = []

    def body():
        u = Ub(s=(T, source.size), d=(uint8, BITS))
        put(u["s"], source)
        put(u["d"], before)
        operands = [u["s"][start // T.nbytes :] for start in starts]
        if not two:
            operands[1] = scalar.view(T.numpy)[0]
        (b0, r0), (b1, r1) = strides
        params = (
            BinaryRepeatParams(1, b0, b1, 8, r0, r1) if two else UnaryRepeatParams(1, b0, 8, r0)
        )
        rest = (shape["count"],) if counted else (shape["mask"], shape["repeats"], params)
        try:
            getattr(ascendc, name)(u["d"], *operands, mode, *rest)
            found.append(peek(u["d"]))
        except BoundsError:
            pass

    run_block(body, soc=soc, options=options, observe=False)
    if not found:
        return
    if T.kind == "float":
        floats = plain.Floats(T.name, environment(soc, options))
        holds = lambda a, b: floats.compare(mode.name, a, b)  # noqa: E731
    else:
        order = getattr(operator, mode.name.lower())
        holds = lambda a, b: order(a.view(T.numpy), b.view(T.numpy))  # noqa: E731

    def lanes(operand, repeat):
        offset = np.arange(width) * T.nbytes
        block, step = (1, 8) if counted else strides[operand]
        at = starts[operand] + repeat * step * 32 + offset // 32 * block * 32 + offset % 32
        inside = raw[np.minimum(at, SOURCE - T.nbytes)[:, None] + np.arange(T.nbytes)]
        return np.ascontiguousarray(inside).view(T.bits).reshape(-1)

    def read(repeat):
        second = lanes(1, repeat) if two else np.full(width, scalar[0], T.bits)
        return holds(lanes(0, repeat), second)

    tail = options.get("compare_tail", chip.compare_tail)
    want = compared_bytes(before, read, shape, tail, chip.arch == "3510")
    compare(dice, found[0], want, soc, name, T, mode, options, shape, strides, starts)


@pytest.mark.parametrize("name", ["Compare", "Compares", "CompareScalar"])
def test_random_comparisons(name):
    dice = Dice(len(name))
    for _ in range(60):
        comparing(dice, name)
    assert dice.compared > 30


def selecting(dice):
    soc = dice.soc("Select")
    row = socs.load(soc).ops["Select"]
    T, mode = BY_NAME[dice.of(*row.dtypes)], SELMODE(dice.of(*row.modes))
    width = 256 // T.nbytes
    shape = dice.shape(width, 3, ("count", "repeat"))
    starts, image = dice.starts(3), dice.words(T, SIZE // T.nbytes).view(np.uint8)
    bits = dice.numbers.integers(0, 256, 8192, np.uint8)
    scalar, mask_type = dice.words(T, 1), dice.of(uint8, uint16, uint32, uint64)

    def call(memory):
        pipe_buffer = TBuf(TPosition.VECCALC)
        GetTPipePtr().InitBuffer(pipe_buffer, bits.size)
        mask = pipe_buffer.Get(mask_type)
        put(mask, bits)
        dst, src0, src1 = (memory.ReinterpretCast(T)[start // T.nbytes :] for start in starts)
        src1 = scalar.view(T.numpy)[0] if mode is SCALAR else src1
        flat = [s[0] for s in shape.strides] + [s[1] for s in shape.strides]
        params = BinaryRepeatParams(*flat)  # for a scalar src1 too
        rest = (shape.count,) if shape.mask is None else (shape.mask, shape.repeats, params)
        Select(dst, mask, src0, src1, mode, *rest)

    got = left_by(image, shape, call, soc, {})
    if got is None:
        return
    want = image.copy()
    for repeat, lanes in enumerate(shape.lanes(width)):
        places = [s + shape.at(k, T.nbytes, width, repeat, lanes) for k, s in enumerate(starts)]
        inside = [np.minimum(p, SIZE - T.nbytes) for p in places]  # that of a scalar is not used
        read = [want[p[:, None] + np.arange(T.nbytes)] for p in inside]
        if mode is SCALAR:
            read[2] = np.broadcast_to(scalar.view(np.uint8), read[0].shape)
        number = np.array(lanes, np.int64) + (0 if mode is SPR else repeat * width)
        taken = bits[number // 8] >> (number % 8) & 1 == 1
        want[places[0][:, None] + np.arange(T.nbytes)] = np.where(taken[:, None], read[1], read[2])
    compare(dice, got, want, soc, T, mode, shape, starts)


def test_random_selections():
    dice = Dice(3)
    for _ in range(150):
        selecting(dice)
    assert dice.compared > 80


@pytest.mark.parametrize("T", [float32, half, bfloat16])
def test_payloads_of_nan_scalars_are_kept(T):
    """A scalar that has the type keeps its bits, signalling NaN too."""
    low, high = plain.ONES[T.name] ^ (1 << {"float32": 22, "float16": 9, "bfloat16": 6}[T.name]), 0
    words = np.array([low, high | plain.ONES[T.name], 1 << 8 * T.nbytes - 1], T.bits)

    def body():
        u = Ub(d=(T, 64), s=(T, 64), m=(uint8, 32))
        put(u["m"], np.zeros(32, np.uint8))
        for word in words:
            value = np.array([word], T.bits).view(T.numpy)[0]
            Duplicate(u["d"], value, 33)
            assert_same_bits(peek(u["d"]).view(T.bits)[:33], np.full(33, word, T.bits))
            Select(u["d"], u["m"], u["s"], value, SCALAR, 40)
            assert_same_bits(peek(u["d"]).view(T.bits)[:40], np.full(40, word, T.bits))
            u["d"].SetValue(50, value)
            assert peek(u["d"]).view(T.bits)[50] == word

    run_block(body, soc="ascend950", observe=False)
