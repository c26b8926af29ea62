"""The widget and the stepper are one state; without ipywidgets the error says what to install."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendsim.errors import RequestError
from ascendsim.observe.recorder import BlockRecording
from ascendsim.view.html.stepper import stepper_html
from ascendsim.view.stepper import Stepper
from tests.view.faces import read, recorded

pytest.importorskip("ipywidgets")


@pytest.fixture(scope="module")
def widget():
    return recorded("hard_sigmoid_grad").stepper(0).widget()


def agree(widget):
    at = widget.stepper
    assert widget.slider.value == at.position
    assert widget.stands.value == stepper_html(at)
    read(widget.values.value)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_widget_and_stepper_agree_after_random_moves(widget, data):
    at = widget.stepper
    for _ in range(4):
        move = data.draw(st.sampled_from(["slider", "stepper", "buffer", *widget.buttons]))
        where = data.draw(st.integers(0, len(at)))
        if move == "slider":
            widget.slider.value = where
            assert at.position == where
        elif move == "stepper":
            at.goto(where)
            assert widget.refresh() is widget
        elif move == "buffer":
            widget.buffer.value = data.draw(st.sampled_from(widget.buffer.options))
            widget.dtype.value = data.draw(st.sampled_from(widget.dtype.options))
            widget.slot.value = data.draw(st.integers(0, 1))
            widget.lane.value = where
        else:
            widget.buttons[move].click()
        agree(widget)


def test_buttons_do_what_they_say():
    at = recorded("hard_sigmoid_grad").stepper(0)
    widget = at.widget()
    widget.buffer.value = "maskBuf"
    widget.buttons["write"].click()
    assert (at.instr.call.name, at.instr.call.accesses[0].holder.name) == (
        "CompareScalar",
        "maskBuf",
    )
    here = at.position
    widget.buttons["next"].click()
    assert at.position == here + 1
    widget.buttons["pipe"].click()
    assert (at.position, at.instr.call.pipe.name) == (here + 2, "PIPE_V")
    widget.buttons["back"].click()
    widget.buttons["last"].click()
    assert at.position == len(at) == widget.slider.value
    widget.buttons["first"].click()
    assert at.position == 0
    assert widget.buffer.value == "maskBuf"
    assert "has no memory yet" in widget.values.value


def test_the_chosen_buffer_is_shown_as_the_chosen_type():
    at = recorded("hard_sigmoid_grad").stepper(0)
    widget = at.widget()
    at.until(name="CompareScalar")
    widget.refresh()
    widget.buffer.value, widget.dtype.value, widget.lane.value = "tmpBuf", "float32", 64
    shown = [e.text for e in read(widget.values.value) if e.attributes.get("title")]
    assert shown == [str(value) for value in at.view("tmpBuf", "float32")[64:128]]
    bits = [e.attributes["title"] for e in read(widget.values.value) if e.attributes.get("title")]
    assert bits == [f"{word:#010x}" for word in at.bits("tmpBuf", "float32")[64:128]]
    widget.buffer.value = "selfQueue"
    assert widget.slot.max == 1
    widget.slot.value = 1
    assert "selfQueue@1" in widget.values.value


def test_displaying_it_draws_the_stepper_anew():
    at = recorded("swish_grad").stepper(0)
    widget = at.widget()
    at.goto(5)
    bundle = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == stepper_html(at)
    agree(widget)


def test_a_block_without_calls_has_a_widget():
    import numpy as np

    widget = Stepper(BlockRecording(np.empty(0, np.uint8), None)).widget()
    for button in widget.buttons.values():
        button.click()
    assert widget.slider.value == 0


def test_without_ipywidgets_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(RequestError, match=r"pip install 'ascendsim\[notebook\]'"):
        recorded("swish_grad").stepper(0).widget()
