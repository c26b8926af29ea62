"""HTML faces: well-formed, small, self-contained, escaped, in light and dark."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import DataCopy, Muls, TBuf, TPipe, TPosition
from ascendsim.dtypes import float32
from ascendsim.launch import Readers, launch
from ascendsim.observe.recorder import Recorder
from ascendsim.record import Finding
from ascendsim.view.html.style import DARK, HUES, LIGHT, css
from ascendsim.view.html.values import values_html
from ascendsim.view.stepper import Stepper
from tests.kit import gm, make_job
from tests.view.faces import KERNELS, read, recorded

HOSTILE = "</style><script>alert('x')</script>&\"<b>"
LIMITS = {"stepper": 30_000, "queues": 5_000, "map": 15_000}


def faces(name):
    """Yield (what, face) of a kernel: its run, and a stepper with all it hands out."""
    run = recorded(name)
    yield "run", run._repr_html_()
    yield "timeline", run.timeline._repr_html_()
    at = run.stepper(1)
    for position in range(0, len(at) + 1, 7):
        at.goto(position)
        yield "stepper", at._repr_html_()
        yield "map", at.map()._repr_html_()
        yield "queues", at.queues()._repr_html_()
    buffer = next(iter(at.buffers()))
    yield "stepper", at.goto(len(at))._repr_html_()
    yield "mask", at.mask(buffer)._repr_html_()
    yield "why", at.why(buffer, 0)._repr_html_()
    yield "values", values_html(buffer, at.view(buffer), at.bits(buffer), 5)
    yield "diff", run.diff(run)._repr_html_()
    yield "explanation", run.explain_lane(7)._repr_html_()


@pytest.fixture(scope="module", params=KERNELS)
def shown(request):
    return list(faces(request.param))


def test_well_formed_and_nothing_runs_or_is_fetched(shown):
    for what, html in shown:
        tags = {element.tag for element in read(html)}
        assert not tags & {"script", "link", "iframe", "img", "object", "form"}, what
        assert not re.search(r"https?:|//|url\(|@import|javascript:|\son\w+=| src=", html), what


def test_small(shown):
    for what, html in shown:
        assert len(html.encode()) < LIMITS.get(what, 60_000), what


def test_every_face_brings_its_style_with_it(shown):
    for what, html in shown:
        assert html.startswith('<div class="asim"><style>'), what
        assert "prefers-color-scheme:dark" in html, what


def test_light_and_dark_have_the_same_names_and_all_are_used():
    assert LIGHT.keys() == DARK.keys()
    sheet = css()
    used = set(re.findall(r"var\(--(\w+)\)", sheet))
    assert used == LIGHT.keys()
    for page in ("[data-jp-theme-light=false]", ".vscode-dark", "[data-theme=dark]"):
        assert f"{page} .asim" in sheet


def test_nothing_outside_a_face_is_styled():
    sheets = [css(), recorded("hard_sigmoid_grad").timeline._repr_html_()]
    sheets[1] = "".join(re.findall(r"<style>(.*?)</style>", sheets[1], re.S))
    for sheet in sheets:
        flat = re.sub(r"@media[^{]*\{", "", sheet)
        rules = re.findall(r"([^{}]+)\{[^{}]*\}", flat)
        assert len(rules) > 20
        for selector in (each.strip() for rule in rules for each in rule.split(",")):
            assert re.search(r"\.asim\b", selector), selector


def contrast(one, two):
    """Return the WCAG contrast of two colours."""
    lights = []
    for colour in (one, two):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_is_readable_on_its_ground(theme):
    for word in ("ink", "dim", "read", "write", "good", "bad"):
        for ground in ("paper", "panel", "mark"):
            assert contrast(theme[word], theme[ground]) >= 4.5, (word, ground)


def test_white_text_is_readable_on_every_hue():
    for hue in HUES:
        assert contrast("#ffffff", hue) >= 4.5, hue


def hostile(x, out):
    class Kernel:
        pass

    kernel = Kernel()
    setattr(kernel, HOSTILE, TBuf(TPosition.VECCALC))
    pipe = TPipe()
    holder = getattr(kernel, HOSTILE)
    pipe.InitBuffer(holder, 256)
    tensor = holder.Get(float32)
    DataCopy(tensor, gm(x), 64)
    Muls(tensor, tensor, 2.0, 64)  # </div><script>alert("&amp;")</script>


def test_hostile_names_and_sources_are_shown_as_text():
    recorder = Recorder()
    inputs = {"x": np.ones(64, np.float32)}
    launch(make_job(hostile, inputs, {"out": ((64,), "float32")}), Readers((recorder,)))
    at = Stepper(recorder.blocks[0])
    assert at.until(name="Muls")
    assert list(at.buffers()) == [HOSTILE]
    for html in (at._repr_html_(), at.map()._repr_html_(), at.mask(HOSTILE)._repr_html_()):
        assert "<script" not in html
        assert HOSTILE in "".join(element.text for element in read(html))
    assert 'alert("&amp;")' in "".join(element.text for element in read(at._repr_html_()))
    html = at.goto(len(at)).why(HOSTILE, 3)._repr_html_()
    assert "<script" not in html
    assert "Muls" in html


def test_hostile_texts_of_a_run_are_shown_as_text():
    run = recorded("swish_grad")
    rule = {"rule": HOSTILE, "grade": "assumed", "text": HOSTILE, "source": "", "instructions": []}
    run = replace(
        run,
        op=HOSTILE,
        outputs={HOSTILE: run.out},
        warnings=[f"{HOSTILE}: {HOSTILE}"],
        findings=[Finding(HOSTILE, "error", HOSTILE, 0, 0)],
        tiling={HOSTILE: HOSTILE},
        evidence={"rules": [rule], "weakest": "assumed"},
    )
    html = run._repr_html_()
    assert "<script" not in html
    assert "".join(element.text for element in read(html)).count("<script>") >= 8


def test_a_run_says_what_came_out_and_what_it_rests_on():
    run = recorded("swish_grad")
    text = "".join(element.text for element in read(run._repr_html_()))
    for word in ("swish_grad", "float16, 3000 elements", "on ascend910b1", "2 blocks", "3000"):
        assert word in text
    assert str(run.out[0]) in text
    assert all(rule["rule"] in text for rule in run.evidence["rules"])
    assert f"rests on {len(run.evidence['rules'])} rules" in text


def test_a_run_without_outputs_has_a_face():
    op = asim.load("swish_grad")
    x = np.zeros(300, np.float32)
    run = asim.launch(op, {"grad": x, "x": x}, op.tiling((300,)), execute=False)
    read(run._repr_html_())
    read(asim.launch(op, {"grad": x, "x": x}, op.tiling((300,)))._repr_html_())


def test_the_face_of_a_stepper_names_the_call_and_its_values():
    at = recorded("hard_sigmoid_grad").stepper(0)
    assert at.until(name="Muls")
    text = "".join(element.text for element in read(at._repr_html_()))
    assert f"call {at.position} of {len(at)}" in text
    assert at.source()[2] in text
    before = " ".join(map(str, at.view("selfFp32Buf", "float32")[:6]))
    assert before in text
    after = at.next().view("tmpBuf", "float32")[:6]
    assert "→ " + " ".join(map(str, after)) in text


def test_a_difference_shows_both_runs_side_by_side():
    op = asim.load("hard_sigmoid_grad")
    data = {"grad": np.ones(8, np.float32), "x": np.full(8, -3, np.float32)}
    one, two = (
        asim.launch(op, data, op.tiling((8,), alpha=alpha), record="bytes")
        for alpha in ("0x3e2aaaaa", "0x3e2aaaab")
    )
    diff = one.diff(two)
    text = "".join(element.text for element in read(diff._repr_html_()))
    for step in (diff.first, *diff.chain):
        assert step.name in text
        assert all(f"{bits:x}" in text for bits in step.bits)
    why = "".join(element.text for element in read(two.explain_lane(0)._repr_html_()))
    assert str(two.explain_lane(0)) in why


def test_a_timeline_without_a_face_is_text():
    timeline = replace(recorded("swish_grad").timeline, drawn=None)
    assert timeline._repr_html_() is None
    assert re.fullmatch(
        r"Timeline\([\d.]+ us on ascend910b1, [\d.]+ us with launch, bound by \w+\)", repr(timeline)
    )
