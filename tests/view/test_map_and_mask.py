"""The picture of UB is to scale and complete; the grid of a mask is its bits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.view.html.mask import CELL, LEFT, TOP, mask_html, mask_svg
from ascendsim.view.html.ub_map import BAR, extent_of, ub_map_svg
from ascendsim.view.html.ub_map import LEFT as BAR_LEFT
from ascendsim.view.mask import Mask
from ascendsim.view.ub_map import Place, UbMap, joined, touched_by
from tests.view.faces import KERNELS, of_class, read, recorded


def boxes(svg, name):
    """Return (start, stop, x, width) of every box of a class."""
    return [
        (
            int(e.attributes["data-start"]),
            int(e.attributes["data-stop"]),
            float(e.attributes["x"]),
            float(e.attributes["width"]),
        )
        for e in of_class(svg, name)
        if e.tag == "rect"
    ]


def check_scale(found, extent):
    for start, stop, x, width in found:
        assert abs(x - (BAR_LEFT + BAR * start / extent)) < 0.001
        assert abs(width - max(BAR * (stop - start) / extent, 2)) < 0.001


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("ub", [16384, 196608])
def test_every_slot_is_drawn_at_its_address(name, ub):
    at = recorded(name, ub=ub).stepper(0)
    at.goto(len(at) // 2)
    drawn = at.map()
    slots = [
        (p.start + k * p.nbytes, p.start + (k + 1) * p.nbytes)
        for p in drawn.places
        for k in range(p.num)
    ]
    found = boxes(ub_map_svg(drawn), "asim-s")
    assert [box[:2] for box in found] == slots
    check_scale(found, extent_of(drawn))
    assert drawn.used == slots[-1][1]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_positions_equal_addresses_for_any_layout(data):
    places, cursor = [], 0
    for number in range(data.draw(st.integers(0, 12))):
        num, blocks = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 60))
        places.append(Place(f"b{number}", "TQue.VECIN", cursor, 32 * blocks, num))
        cursor += num * 32 * blocks
    nbytes = data.draw(st.sampled_from([cursor or 32, 2 * cursor + 32, 8 * cursor + 64]))
    states = {p.name: ["FREE"] * p.num for p in places}
    drawn = UbMap(nbytes, tuple(places), states)
    svg = ub_map_svg(drawn)
    extent = extent_of(drawn)
    assert extent in (nbytes, cursor)
    found = boxes(svg, "asim-s")
    assert len(found) == sum(p.num for p in places)
    check_scale(found, extent)
    assert [b[0] for b in found] == [p.start + k * p.nbytes for p in places for k in range(p.num)]


def test_what_the_next_call_touches_is_under_its_bytes():
    at = recorded("hard_sigmoid_grad").stepper(0)
    assert at.until(name="Select")
    drawn = at.map()
    accesses = {a.role: a for a in at.instr.call.accesses}
    count = at.instr.call.fields["count"]
    x, mask = accesses["src0"].start, accesses["mask"].start
    assert drawn.writes == ((accesses["dst"].start, accesses["dst"].start + 4 * count),)
    assert drawn.reads == joined([(x, x + 4 * count), (mask, mask + count // 8)])
    svg = ub_map_svg(drawn)
    check_scale(boxes(svg, "asim-rd"), drawn.nbytes)
    assert [box[:2] for box in boxes(svg, "asim-wr")] == list(drawn.writes)
    assert {p.name: drawn.touched(p) for p in drawn.places if drawn.touched(p)} == {
        "selfFp32Buf": "reads, writes",
        "maskBuf": "reads",
    }


@pytest.mark.parametrize("name", KERNELS)
def test_the_bytes_that_are_said_to_be_written_are_those_that_are(name):
    at = recorded(name).stepper(0)
    for position in range(len(at)):
        at.goto(position)
        _, writes = touched_by(at.instr)
        stored = joined((d.start, d.stop) for d in at.entries[position].deltas if d.space == "UB")
        assert writes == stored


def test_a_picture_of_many_strides_stays_small_and_says_that_it_is_coarse():
    places = (Place("b", "TBuf", 0, 196608, 1),)
    few, many = (
        tuple((k * step, k * step + 32) for k in range(196608 // step)) for step in (8192, 480)
    )
    for spans, coarse in ((few, False), (many, True)):
        drawn = UbMap(196608, places, {}, "Muls", spans, ((0, 32),))
        svg = ub_map_svg(drawn)
        labels = [e.text for e in read(svg) if e.tag == "text"]
        assert ("reads ~" in labels) is coarse
        assert len(svg) < 15_000
        found = [box[:2] for box in boxes(svg, "asim-rd")]
        assert (found == list(spans)) is not coarse
        assert all(any(a <= start and stop <= b for a, b in found) for start, stop in spans)


def test_a_call_of_a_queue_frames_its_slot():
    at = recorded("swish_grad").stepper(0)
    assert at.until(name="EnQue")
    holder = at.instr.call.accesses[0].holder
    (box,) = boxes(ub_map_svg(at.map()), "asim-k")
    assert box[:2] == (holder.start, holder.start + holder.nbytes)


def test_states_and_text_agree():
    at = recorded("hard_sigmoid_grad").stepper(0)
    assert at.until(name="CompareScalar")
    html, text = at.map()._repr_html_(), str(at.map())
    assert at.map().states == at.queues()
    for place in at.buffers().values():
        assert f"[{place.start:#x}, {place.start + place.num * place.nbytes:#x})" in html
        assert f"[{place.start:#x}, {place.start + place.num * place.nbytes:#x})" in text
    bar = re.search(r"^ +\|(.*)\|$", text, re.M)[1]
    cells = len(bar)
    for number, place in enumerate(at.map().places):
        for slot in range(place.num):
            middle = (place.start + (slot + 0.5) * place.nbytes) * cells / at.map().used
            shown = "ABCDEFG"[number]
            free = place.name in at.queues() and at.queues()[place.name][slot] == "FREE"
            assert bar[int(middle)] == (shown.lower() if free else shown)


def test_an_empty_ub_and_the_end_have_a_map():
    at = recorded("hard_sigmoid_grad").stepper(0)
    assert str(at.map()) == "UB, 16384 bytes: no buffer yet; next call: SetGlobalBuffer\n"
    read(at.map()._repr_html_())
    assert "end of the block" in str(at.goto(len(at)).map())
    assert (at.map().reads, at.map().writes) == ((), ())


def drawn_bits(svg, count):
    """Return the lanes that a grid's filled boxes cover."""
    bits = np.zeros(-(-count // 64) * 64, bool)
    for path in of_class(svg, "asim-lane"):
        for x, y, wide, high in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path.attributes["d"]):
            row, lane = (int(y) - TOP) // CELL, (int(x) - LEFT) // CELL
            assert int(high) == CELL
            bits[row * 64 + lane : row * 64 + lane + int(wide) // CELL] = True
    return bits


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=300))
def test_the_grid_is_the_bits(bits):
    bits = np.array(bits, bool)
    found = drawn_bits(mask_svg(bits), bits.size)
    assert found[: bits.size].tolist() == bits.tolist()
    assert not found[bits.size :].any()


def test_a_mask_is_the_comparison():
    at = recorded("hard_sigmoid_grad").stepper(0)
    assert at.until(name="CompareScalar")
    count = at.instr.call.fields["count"]
    want = at.view("tmpBuf", "float32")[:count] > 0
    mask = at.next().mask("maskBuf", count)
    assert mask.bits.tolist() == want.tolist()
    assert drawn_bits(mask._repr_html_(), count)[:count].tolist() == want.tolist()
    rows = [line.split()[1] for line in str(mask).splitlines()[1:]]
    assert "".join(rows) == "".join(".#"[int(bit)] for bit in want)
    assert f"{want.sum()} of {count} lanes on" in str(mask)


def test_a_long_mask_is_cut_and_says_so():
    html = mask_html(Mask("m", np.ones(64 * 70, bool)))
    assert "the first 64 of 70 rows" in html
    assert drawn_bits(html, 64 * 70).sum() == 64 * 64


def test_states_start_again_when_a_queue_gets_new_memory():
    from ascendsim.view.ub_map import places_of, states_of

    at = asim.launch(
        op := asim.load("swish_grad"),
        {k: np.ones(300, np.float32) for k in ("grad", "x")},
        op.tiling((300,)),
        record="bytes",
    ).stepper(0)
    again = [*at.entries, *at.entries]
    places = places_of(again)
    assert places == places_of(at.entries)
    half = next(k for k, e in enumerate(at.entries) if e.instr.call.name == "DeQue")
    middle = [*at.entries, *at.entries[: half + 1]]
    assert states_of(middle, places) == states_of(at.entries[: half + 1], places)
