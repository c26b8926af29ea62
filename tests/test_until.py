"""Stops: on a value that a lane newly holds, held against a walk call by call; `goto` by words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.dtypes import bfloat16, float16, float32, int8, uint8
from ascendsim.errors import RequestError
from ascendsim.view.until import pattern

SPECIAL = [-3, np.nan, -0.0, 0, 1, np.inf, -np.inf, 3, 2.5, 1e-40]


@pytest.fixture(scope="module")
def runs():
    found = {}
    for name, dtype in (("hard_sigmoid_grad", np.float32), ("hard_swish_grad", np.float16)):
        op = asim.load(name)
        x = np.resize(np.array(SPECIAL, dtype), 500)
        grad = np.resize(np.array([1, 2, -1], dtype), 500)
        til = op.tiling((500,), np.dtype(dtype).name, cores=1, ub=8192)
        found[name] = asim.launch(op, {"grad": grad, "x": x}, til, record="bytes")
    return found


def walked(at, buffer, slot, dtype, wanted, lane=None):
    """Positions behind which a lane newly holds `wanted`: by views before and after each call."""
    found = []
    at.goto(0)
    while at.position < len(at):
        there = buffer in at.buffers()
        old = at.bits(buffer, dtype, slot) if there else None
        at.next()
        if there:
            new = at.bits(buffer, dtype, slot)
            fresh = np.flatnonzero((new == wanted) & (old != wanted))
            if fresh.size and lane in (None, *fresh.tolist()):
                found.append((at.position, int(fresh[0]) if lane is None else lane))
    return found


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_stops_are_those_of_a_walk(runs, data):
    run = runs[data.draw(st.sampled_from(sorted(runs)))]
    at, fresh = run.stepper(0), run.stepper(0)
    place = data.draw(st.sampled_from(list(at.goto(len(at)).buffers().values())))
    slot = data.draw(st.integers(0, place.num - 1))
    dtype = data.draw(st.sampled_from(["float32", "float16", "uint8"]))
    moment = data.draw(st.integers(0, len(at)))
    words = at.goto(moment).bits(place.name, dtype, slot) if moment > 20 else np.zeros(1, "u4")
    wanted = int(words[data.draw(st.integers(0, words.size - 1))])
    lane = data.draw(st.sampled_from([None, 0, 5]))
    stops = walked(fresh, place.name, slot, dtype, wanted, lane)
    where = {"buffer": place.name, "slot": slot, "dtype": dtype, "lane": lane}
    for backwards in (False, True):
        at.goto(len(at) if backwards else 0)
        mine = []
        while at.until(holds=f"{wanted:#x}", backwards=backwards, **where):
            assert at.ub.tobytes() == fresh.goto(at.position).ub.tobytes()
            mine.append((at.position, at.hit.lane))
        assert at.hit is None
        # from the end backwards, a stop at the very end is where it stands already
        expected = [s for s in stops[::-1] if s[0] < len(at)] if backwards else stops
        assert mine == expected


def test_the_first_nan_of_all_buffers_and_where_it_leaves(runs):
    at = runs["hard_sigmoid_grad"].stepper(0)
    assert at.until(holds="nan")
    assert (at.hit.buffer, at.hit.lane, at.done.call.name) == ("selfQueue", 1, "DataCopyPad")
    assert at.until(holds=float("nan"), buffer="tmpBuf", name="Adds") is False
    at.goto(0)
    assert at.until(holds=np.nan, pipe="V", phase="Compute")
    assert (at.hit.buffer, at.done.call.name, at.hit.bits) == ("tmpBuf", "Muls", 0x7FFFFFFF)
    is_muls = lambda instr: instr.call.name == "Muls"  # noqa: E731
    assert at.until(is_muls, holds="1/6", buffer="gradInputQueue")
    assert (at.hit.bits, at.done.call.name) == (0x3E2AAAAB, "Muls")


def test_zeros_have_a_sign_and_raw_bits_are_bits(runs):
    at = runs["hard_sigmoid_grad"].stepper(0)
    for value, bits in (("-0.0", 1 << 31), (-0.0, 1 << 31), (0.0, 0), ("0xc0400000", 0xC0400000)):
        at.goto(0)
        assert at.until(holds=value, buffer="selfQueue", lane=None)
        assert (at.hit.bits, at.done.call.name) == (bits, "DataCopyPad")
        assert at.bits("selfQueue")[at.hit.lane] == bits
    assert str(at.hit) == "selfQueue[0] = -3.0  bits 0xc0400000"


def test_mask_bytes_and_gm(runs):
    run = runs["hard_sigmoid_grad"]
    at = run.stepper(0)
    assert at.until(holds=255, buffer="maskBuf", lane=0, name="CompareScalar") is False
    at.goto(0)
    value = run.out.view(np.uint32)[4]
    assert at.until(holds=f"{value:#x}", buffer="out", lane=4)
    assert (at.done.call.name, at.hit.buffer) == ("DataCopyPad", "out")
    assert at.until(holds="nan", buffer="out", backwards=True) is False
    assert at.position == 0


def test_values_are_rounded_once_to_the_type_of_the_lane():
    assert pattern("0.1", float32) == 0x3DCCCCCD
    assert pattern("1/3", float16) == int(np.float16(1 / 3).view(np.uint16))
    # halfway and a little: rounding to double first would lose the little
    tie = Fraction(1) + Fraction(1, 1 << 24)
    assert pattern(tie, float32) == 0x3F800000
    assert pattern(tie + Fraction(1, 1 << 80), float32) == 0x3F800001
    assert pattern("-inf", bfloat16) == 0xFF80
    assert pattern("nan", float16) == "nan"
    assert pattern(-1, int8) == 0xFF
    assert [pattern(word, uint8) for word in ("300", "-1", "0.5", "0x1ff", "nan", "x")] == [
        None
    ] * 6


def test_nan_of_bfloat16():
    op = asim.load("hard_sigmoid_grad")
    x = np.array([1, np.nan, 3] * 16, bfloat16.numpy)
    til = op.tiling((48,), "bfloat16")
    at = asim.launch(op, {"grad": x, "x": x}, til, record="bytes").stepper(0)
    assert at.until(holds="nan")
    assert (at.hit.lane, at.hit.dtype, at.done.call.name) == (1, bfloat16, "DataCopyPad")
    assert at.until(holds="nan", dtype="float32", pipe="V")
    assert (at.hit.lane, at.hit.bits, at.done.call.name) == (1, 0x7FFFFFFF, "Cast")


def test_goto_by_words(runs):
    at = runs["hard_swish_grad"].stepper(0)
    assert at.goto(tile=1, phase="Compute").describe().startswith("DeQue on ")
    there = at.position
    assert at.goto(name="Duplicate").position < there
    with pytest.raises(RequestError, match="goto name=Ln: no call of the block fits"):
        at.goto(name="Ln")
    with pytest.raises(RequestError, match="goto takes a position, or some of name, pipe"):
        at.goto()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"lane": 3}, "lane= narrows holds="),
        ({"holds": 1, "lane": 3}, "need buffer="),
        ({"holds": "abc"}, "no value; write a number"),
        ({"holds": "nan", "dtype": "int8"}, "no value in int8"),
        ({"holds": "0x12345", "dtype": "float16"}, "no value in float16"),
        ({"holds": 1, "line": 3}, "'line' is unknown; use name"),
        ({"holds": 1, "dtype": "half9"}, "dtype 'half9' is unknown"),
    ],
)
def test_wrong_words(runs, words, reason):
    at = runs["hard_swish_grad"].stepper(0).goto(3)
    with pytest.raises(RequestError, match=reason):
        at.until(**words)
    assert at.position == 3
