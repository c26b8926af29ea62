"""Undefined bits through logic, shifts and Select, against the instructions themselves.

An instruction runs on every way to fill the undefined bits of its operands: all 0 or all 1, for
each operand apart. A bit of the result hangs on at most one bit of each operand, so the bits that
differ between these runs are exactly the undefined ones.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import AscendError
from tests.checks.test_taint import SEEDS, Watched
from tests.kit import Ub

ROOM = 1024  # bytes of each operand
TYPES = (int16_t, uint16_t)
SHIFTED = (int16_t, uint16_t, int32_t, uint32_t)


class Operands:
    """Values of some buffers and which of their bits are undefined."""

    def __init__(self, w, u, names, rng):
        self.w, self.u, self.names = w, u, names
        random_bytes = np.random.default_rng(rng.getrandbits(32)).integers
        self.values = {name: random_bytes(0, 256, ROOM, np.uint8) for name in u.types}
        share = rng.choice((0x00, 0x11, 0x81, 0xFF))
        self.undefined = {
            name: random_bytes(0, 256, ROOM, np.uint8) & share if name in names else 0
            for name in u.types
        }

    def fill(self, ones):
        """Store the values; undefined bits of operand k are all 1 when ones[k]."""
        for name in self.u.types:
            tensor, value = self.u[name], self.values[name].copy()
            if name in self.names:
                value &= ~self.undefined[name]
                value |= self.undefined[name] * ones[self.names.index(name)]
            tensor.core.ub.array[tensor.start : tensor.start + ROOM] = value
            self.w.undefined.ub[tensor.start : tensor.start + ROOM] = self.undefined[name]

    def varying(self, run, result):
        """Return the bits of `result` that differ between the ways to fill, uint8."""
        seen = []
        for ones in product((0, 1), repeat=len(self.names)):
            self.fill(ones)
            run()
            seen.append(result.core.ub.array[result.start : result.start + ROOM].copy())
        return np.bitwise_or.reduce([each ^ seen[0] for each in seen])

    def shadow(self, result):
        return self.w.undefined.ub[result.start : result.start + ROOM]


def lanes_of(rng, operands):
    """Return arguments behind the operands: a count, or mask, repeats and strides."""
    if rng.random() < 0.5:
        return (rng.randrange(1, ROOM // 4),)
    mask = [rng.getrandbits(64), 0]
    strides = [1, *(rng.choice((0, 1)) for _ in range(operands))]
    steps = [8, *(rng.choice((8, 4, 0)) for _ in range(operands))]
    params = UnaryRepeatParams if operands == 1 else BinaryRepeatParams
    return mask if any(mask) else 8, rng.randrange(1, 4), params(*strides, *steps)


def logic_call(u, rng):
    """Return one call of a logic instruction and the operands that may be undefined."""
    name = rng.choice(("And", "Or", "Not", "Ands", "Ors", "ShiftLeft", "ShiftRight"))
    T = rng.choice(SHIFTED if name.startswith("Shift") else TYPES)
    d, a, b = (u[each].ReinterpretCast(T) for each in "dab")
    if name in ("And", "Or"):
        lanes = lanes_of(rng, 2)
        return lambda: globals()[name](d, a, b, *lanes), ("a", "b")
    lanes = lanes_of(rng, 1)
    if name == "Not":
        return lambda: Not(d, a, *lanes), ("a",)
    bits = 8 * T.nbytes
    scalar = rng.choice((0, 1, bits // 2, bits - 1, bits)) if name.startswith("Shift") else 0x5A
    return lambda: globals()[name](d, a, scalar, *lanes), ("a",)


@pytest.mark.parametrize("seed", SEEDS)
def test_logic(seed):
    rng = random.Random(seed)

    def body(w):
        w.compared = 0
        u = Ub(a=(uint8_t, ROOM), b=(uint8_t, ROOM), d=(uint8_t, ROOM))
        Duplicate(u["a"].ReinterpretCast(half), 0.0, 8)  # the first record makes the shadow
        for _ in range(8):
            try:
                call, names = logic_call(u, rng)
                operands = Operands(w, u, names, rng)
                operands.fill((0,) * len(names))
                call()
            except AscendError:
                continue  # not on this chip, or not in this form
            want = operands.varying(call, u["d"])
            assert np.array_equal(operands.shadow(u["d"]), want)
            w.compared += 1

    watched = Watched(body, rng.choice(("ascend910b1", "ascend950")))
    assert watched.compared >= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_select(seed):
    rng = random.Random(seed)
    scalar = rng.random() < 0.4
    mode = SELMODE.VSEL_TENSOR_SCALAR_MODE if scalar else SELMODE.VSEL_TENSOR_TENSOR_MODE

    def body(w):
        u = Ub(m=(uint8_t, ROOM), a=(uint8_t, ROOM), b=(uint8_t, ROOM), d=(uint8_t, ROOM))
        Duplicate(u["a"].ReinterpretCast(half), 0.0, 8)
        T = rng.choice((float32, half))
        d, a, b = (u[each].ReinterpretCast(T) for each in "dab")
        lanes = lanes_of(rng, 1 if scalar else 2)
        operands = Operands(w, u, ("m", "a") if scalar else ("m", "a", "b"), rng)

        def call():
            Select(d, u["m"], a, 2.5 if scalar else b, mode, *lanes)

        want = operands.varying(call, u["d"])
        assert np.array_equal(operands.shadow(u["d"]), want)

    Watched(body)


def test_a_chain_of_repeats_takes_what_the_repeat_before_stored():
    """And over one another, a repeat on: the low byte is 0 from the first repeat on, so defined."""

    def body(w):
        u = Ub(a=(uint8_t, ROOM), b=(uint8_t, ROOM))
        a, b = (u[each].ReinterpretCast(uint16_t) for each in "ab")
        Duplicate(b, 0xFF00, 128)  # what the later repeats read of it is undefined
        And(a[128:], a, b, 128, 3, BinaryRepeatParams(1, 1, 1, 8, 8, 8))
        words = w.shadow(u["a"], uint16_t)
        assert set(words[:128]) == {0xFFFF}
        assert set(words[128:]) == {0xFF00}

    Watched(body)
