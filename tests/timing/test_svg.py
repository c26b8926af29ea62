"""The picture of a timeline: well-formed, lanes in data-path order, small."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from ascendsim.view.timeline_svg import LEFT, RIGHT, WIDTH, timeline_svg
from tests.timing.conftest import timed

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def picture(timeline):
    text = timeline_svg(timeline, "a <kernel> & more,")
    return text, ElementTree.fromstring(text)


def test_well_formed_and_small(picture):
    text, root = picture
    assert root.tag == f"{SVG}svg"
    assert len(text.encode()) < 200_000
    assert root[0].text == "a <kernel> & more, block 0: timeline"
    assert "prefers-color-scheme:dark" in text


def test_lanes_in_the_order_of_the_data(picture):
    _, root = picture
    labels = [e for e in root.iter(f"{SVG}text") if e.get("class") == "h"][1:]
    assert [e.text for e in labels] == ["S", "MTE2", "V", "MTE3"]
    heights = [float(e.get("y")) for e in labels]
    assert heights == sorted(heights)


def test_everything_lies_inside(picture):
    _, root = picture
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("fill") and rect.find(f"{SVG}title") is not None:
            x, width = float(rect.get("x")), float(rect.get("width"))
            assert x >= LEFT
            assert x + width <= WIDTH - RIGHT + 0.5


def test_hover_says_what_it_is(picture):
    titles = [e.text for e in picture[1].iter(f"{SVG}title")]
    copy = next(text for text in titles if text.startswith("DataCopy"))
    assert re.search(r"op_kernel\.py:\d+, \d+ bytes\ndst=\w+ UB\[0x", copy)


def test_long_streams_lose_their_middle():
    gaps = {name: 'class="gap"' in timeline_svg(timed(name)) for name in ("single", "long")}
    assert gaps["long"]
    drawn = timeline_svg(timed("long")).count("cycles\n")
    assert 60 < drawn < 160 < len(list(timed("long").slices(0)))
