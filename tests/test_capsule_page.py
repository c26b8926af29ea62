"""The capsule in a browser: it shows the stepper's bytes, jumps, compares, and loads nothing."""

from __future__ import annotations

import base64
import json
import random

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.observe.saved.values import plain
from ascendsim.record import Finding
from ascendsim.view.registers import set_words_of
from tests.browser import LOCAL, Browser, chromium
from tests.test_diff import SIXTH_DOWN, SIXTH_UP
from tests.test_registers import scaled
from tests.test_stepper import recorded

READY = "window.capsule || !(document.getElementById('notice')?.hidden ?? true)"
BYTES = "btoa(Array.from({}, (b) => String.fromCharCode(b)).join(''))"


@pytest.fixture(scope="module")
def browser():
    found = Browser(chromium())
    found.size(1480, 1100)
    yield found
    found.close()


@pytest.fixture(scope="module")
def runs():
    op = asim.load("hard_sigmoid_grad")
    x = np.linspace(-4, 4, 3000, dtype=np.float32)
    x[:9] = -3
    data = {"grad": np.ones_like(x), "x": x}
    found = []
    for alpha in (SIXTH_DOWN, SIXTH_UP):
        how = {"cores": 2, "ub": 12288, "alpha": np.uint32(alpha).view(np.float32)}
        found.append(asim.launch(op, data, op.tiling(x.shape, **how), record="bytes"))
    found[0].findings = [Finding("check:made-up", "error", "said <b>so</b>", 1, 20, count=2)]
    return found


@pytest.fixture(scope="module")
def pages(runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, run in zip("ab", runs, strict=True):
        run.save_capsule(folder / f"{name}.html", notes=["a note"])
    runs[1].save(folder / "b.asim")
    return folder


@pytest.fixture
def page(browser, pages):
    browser.scheme("light")
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(pages / "a.html", READY)
    yield browser
    assert browser.complaints == []
    assert all(url.startswith(LOCAL) for url in browser.requests), browser.requests


def ub_of(page):
    return base64.b64decode(page.run(BYTES.format("capsule.at.ub")))


def test_it_opens_and_steps_with_the_keys(page, runs):
    at = runs[0].stepper(0)
    assert page.run("document.title").startswith("hard_sigmoid_grad float32 n=3000 on ascend950")
    for key, move in (
        ("ArrowRight", lambda: at.next()),
        ("End", lambda: at.goto(len(at))),
        ("ArrowLeft", lambda: at.back()),
        ("Home", lambda: at.goto(0)),
    ):
        page.key(key)
        move()
        assert page.run("capsule.at.position") == at.position
        assert ub_of(page) == at.ub.tobytes()
    page.run("document.getElementById('forth').click()")
    assert page.run("Number(document.getElementById('position').value)") == 1


def test_every_moment_shows_the_bytes_of_the_stepper(page, runs):
    chance = random.Random(1)
    for block in runs[0].recordings:
        at = runs[0].stepper(block)
        page.run(f"capsule.open({block})")
        for position in chance.sample(range(len(at) + 1), 12):
            page.run(f"capsule.goto({position})")
            at.goto(position)
            assert ub_of(page) == at.ub.tobytes()
            slots = {
                s["name"] + str(s["slot"]): s
                for s in json.loads(page.run("JSON.stringify([...capsule.slots.values()])"))
            }
            for name, states in at.queues().items():
                assert [slots[f"{name}{k}"]["state"] for k in range(len(states))] == states
            for name, place in at.buffers().items():
                slot = slots[f"{name}0"]
                assert (slot["start"], slot["nbytes"]) == (place.start, place.nbytes)
                assert at.view(name).dtype.name == slot["dtype"]


def test_jumps(page, runs):
    at = runs[0].stepper(0)
    page.run("capsule.until('name', 'CompareScalar')")
    at.until(name="CompareScalar")
    assert page.run("capsule.at.position") == at.position + 1  # the page shows what it changed
    assert "CompareScalar" in page.run("document.querySelector('#call h3').textContent")
    assert page.run("document.querySelector('.line.done').textContent").endswith(at.source()[2])
    page.run("capsule.select('tmpBuf@0', 3)")
    page.key("W")
    written = [change.position for change in at.watch("tmpBuf", 3)]
    before = max(k for k in written if k < at.position)
    assert page.run("capsule.at.position") == before + 1
    rows = page.run("[...document.querySelectorAll('#lane tr')].map((row) => row.innerText)")
    bits = [f"{change.after:#010x}" for change in at.watch("tmpBuf", 3)]
    assert [row.split()[3] for row in rows] == bits
    page.key("w")
    assert page.run("capsule.at.position") == min(k for k in written if k > before) + 1
    page.run("capsule.until('pipe', 'MTE3')")
    assert page.run("capsule.at.done.call.pipe") == "MTE3"
    page.run("capsule.until('phase', 'CopyIn', -1)")
    assert page.run("capsule.at.done.phase") == "CopyIn"
    page.run(
        "document.querySelector('svg .piece.past + .piece, svg .piece').dispatchEvent("
        "new MouseEvent('click'))"
    )
    page.run("capsule.until('name', 'NoSuchCall')")
    assert "there is none" in page.run("document.getElementById('notice').textContent")


def test_what_a_call_changed(page, runs):
    at = runs[0].stepper(0)
    at.until(name="Muls")
    old, new = at.bits("tmpBuf")[0], at.next().bits("tmpBuf")[0]
    page.run(f"capsule.goto({at.position})")
    shown = page.run("document.getElementById('call').innerText")
    assert f"{old:#010x}" in shown
    assert f"{new:#010x}" in shown
    assert "0x3e2aaaaa" in shown  # the literal that the call takes
    cell = page.run("document.querySelector('.lanes .changed').innerText")
    assert cell.split() == [str(at.view("tmpBuf")[0]), f"{new:#010x}"]


@pytest.mark.parametrize("other", ["b.html", "b.asim"])
def test_comparing_with_another_capsule(page, pages, runs, other):
    page.choose("#other", pages / other)
    page.until("capsule.other")
    diff = runs[0].diff(runs[1])
    text = page.run("document.getElementById('against').innerText")
    first = diff.first
    bits = [f"{each:#010x}" for each in first.bits]
    assert f"[{first.position}] {first.name} line {first.line}: {first.place}" in text
    assert all(each in text for each in bits)
    assert f"{first.ulp} ULP" in text
    page.key("d")
    assert page.run("capsule.at.position") == first.position + 1
    cell = page.run("document.querySelector('.lanes .differs').innerText").split()
    assert cell[1::2] == bits
    count = len(runs[0].recordings[0].entries)
    wrong = [k for k in range(count) if afters(runs[0], k) != afters(runs[1], k)]
    assert page.run("capsule.difference.positions") == wrong
    assert {step.position for step in (first, *diff.chain)} <= set(wrong)


def afters(run, position):
    return [delta.after for delta in run.recordings[0].entries[position].deltas]


def test_a_wrong_file_is_refused(page, tmp_path):
    (tmp_path / "x.html").write_text("<p>another page</p>")
    page.choose("#other", tmp_path / "x.html")
    page.until("!document.getElementById('notice').hidden")
    text = page.run("document.getElementById('notice').textContent")
    assert "x.html cannot be compared: this is no capsule" in text


def test_findings_go_to_their_call(page):
    text = page.run("document.getElementById('facts').textContent")
    assert "said <b>so</b>" in text
    assert "a note" in text
    page.run("document.querySelector('#facts td button').click()")
    assert page.run("[capsule.at.number, capsule.at.done.seq]") == [1, 20]


def test_dark_and_light_render(page):
    colours = (
        "[document.body, document.querySelector('.code')].map((part) => getComputedStyle(part))"
        ".map((style) => [style.color, style.backgroundColor])"
    )
    light = page.run(colours)
    page.scheme("dark")
    dark = page.run(colours)
    for (ink, paper), (pale, night) in zip(light, dark, strict=True):
        assert brightness(ink) < 90 < 200 < brightness(paper)
        assert brightness(night) < 60 < 200 < brightness(pale)


def brightness(colour):
    return sum(map(float, colour.strip("rgb()").split(",")[:3])) / 3


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int16", "uint32"])
def test_numbers_are_shown_exactly(page, name):
    """The text reads back as the same bits; nine digits are enough for a float32."""
    kind = as_dtype(name)
    made = np.random.default_rng(5).integers(0, 1 << 8 * kind.nbytes, 3000, np.uint64)
    top = 1 << 8 * kind.nbytes - 1
    edges = np.array([0, 1, 2, top, top + 1, 2 * top - 1, 0x7F7F, 0x7C00, 0x7F80], np.uint64)
    words = np.concatenate([edges, made]).astype(kind.bits)
    texts = page.run(f"{words.tolist()}.map((bits) => shown(bits, '{name}'))")
    for word, text in zip(words.tolist(), texts, strict=True):
        value = kind.from_bits(word)
        if value != value:
            assert text == "NaN"
            continue
        number = float(text) if kind.kind == "float" else int(text)
        assert kind.to_bits(number) == word, (hex(word), text)
        if name == "float32" and np.isfinite(value):
            assert len(text.split("e")[0].strip("-").replace(".", "").strip("0")) <= 9


def test_scalars_of_records_are_shown(page):
    numbers = {
        7: "7",
        -(1 << 70): str(-(1 << 70)),
        0.1: "0.1",
        np.float16(0.1): "0.1",
        True: "true",
    }
    numbers |= {float("inf"): "Infinity", np.float32(1) / 3: "0.33333334", np.int64(-5): "-5"}
    numbers |= {as_dtype("float16"): "float16", "RINT": "RINT", np.float64(-0.25): "-0.25"}
    for number, text in numbers.items():
        assert page.run(f"scalarText({json.dumps(plain(number))})") == text


def test_the_timeline_is_of_the_recorded_calls(page, runs):
    for block, recording in runs[0].recordings.items():
        names = {entry.instr.seq: entry.instr.call.name for entry in recording.entries}
        pieces = page.run(f"capsule.extra.timelines[{block}].pieces.map((p) => [p[0], p[5]])")
        assert len(pieces) > 10
        assert all(names[seq] == name for seq, name in pieces)


def test_half_types_and_hidden_stores(browser, tmp_path):
    """A kernel of casts on 910B: what stands in the page is what the stepper shows."""
    run = recorded("swish_grad", "float16", n=700)
    run.save_capsule(tmp_path / "run.html")
    browser.open(tmp_path / "run.html", READY)
    at = run.stepper(0)
    for position in (len(at), len(at) // 2):
        browser.run(f"capsule.goto({position})")
        assert ub_of(browser) == at.goto(position).ub.tobytes()
    assert browser.complaints == []


def test_registers_are_those_of_the_stepper(browser, tmp_path):
    run = scaled("bytes")
    run.save_capsule(tmp_path / "run.html")
    browser.open(tmp_path / "run.html", READY)
    at = run.stepper(0)
    for position in (*range(len(at) + 1), 0):
        browser.run(f"capsule.goto({position})")
        rows = "[...document.querySelectorAll('#registers tr')].map((row) => row.innerText)"
        shown = dict(row.split("\t") for row in browser.run(rows))
        assert shown == set_words_of(at.goto(position).registers())
    words = {
        "5n, 'normal'": "lanes 0x5 of a repeat",
        "0n, 'normal'": "no lane",
        "9n, 'counter'": "9 elements",
    }
    for given, word in words.items():
        assert browser.run(f"maskWords({given})") == word
    assert browser.complaints == []


def test_a_run_without_a_timeline_says_so(browser, pages, tmp_path):
    asim.open(pages / "b.asim").save_capsule(tmp_path / "run.html")
    browser.open(tmp_path / "run.html", READY)
    assert "no timeline" in browser.run("document.getElementById('timeline').textContent")
    assert browser.complaints == []
