"""`ascendsim capsule`: one page, whole or absent, that carries the run's file."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.record import Finding
from tests.cli.conftest import Ask
from tests.test_diff import recorded

KERNEL = "hard_sigmoid_grad"


def test_the_page_is_written_and_opens_in_python(ask: Ask, tmp_path):
    page = tmp_path / "run.html"
    answer = ask("capsule", KERNEL, "--n", 5000, "--random", "--cores", 2, "-o", page, "--json")
    document = json.loads(answer.out)
    assert answer.code == 0
    assert document["bytes"] == page.stat().st_size
    assert (document["blocks"], document["left_out"]) == ([0], 1)
    run = asim.open(page)
    assert document["out_crc32"] == run.to_json()["out_crc32"]
    assert document["calls"] == len(run.stepper(0))
    assert "1 of 2 blocks are not in this page" in page.read_text()
    assert list(run.ub_images) == [0]


def test_blocks_are_chosen(ask: Ask, tmp_path):
    page = tmp_path / "run.html"
    how = ("capsule", KERNEL, "--n", 9000, "--random", "--cores", 4, "-o", page)
    assert ask(*how, "--blocks", "0,2:").code == 0
    assert list(asim.open(page).recordings) == [0, 2, 3]
    before = page.read_bytes()
    for blocks, words in (("4", "has blocks 0..3"), ("x", "write numbers"), ("2:2", "blocks 0..3")):
        answer = ask(*how, "--blocks", blocks)
        assert answer.code == 2
        assert words in answer.line
    assert page.read_bytes() == before


def test_wrong_requests_leave_nothing(ask: Ask, tmp_path):
    ask_for = ("capsule", KERNEL, "--random", "--n")
    for name, words in (("run.txt", "end the name in .html"), ("no/run.html", "no directory")):
        answer = ask(*ask_for, 10, "-o", tmp_path / name)
        assert answer.code == 2
        assert words in answer.line
    answer = ask(*ask_for, 0, "-o", tmp_path / "run.html")
    assert answer.code == 2
    assert "n = 0: the kernel made no call" in answer.line
    answer = ask(*ask_for, 64, "--tiling", "ubFactor=1000000", "-o", tmp_path / "run.html")
    assert answer.code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_no_browser_could_use_is_refused(ask: Ask, tmp_path, monkeypatch):
    monkeypatch.setattr("ascendsim.view.capsule.MOST_BYTES", 50_000)
    answer = ask("capsule", KERNEL, "--n", 900, "--random", "-o", tmp_path / "run.html")
    assert answer.code == 2
    assert "the page would have" in answer.line
    assert "fewer elements (--n " in answer.line
    assert list(tmp_path.iterdir()) == []


def test_the_way_out_of_a_page_that_is_too_large_is_one(ask: Ask, tmp_path, monkeypatch):
    monkeypatch.setattr("ascendsim.view.capsule.MOST_BYTES", 2_000_000)
    page = tmp_path / "run.html"
    how = ("capsule", KERNEL, "--random", "--cores", 1, "-o", page, "--n")
    monkeypatch.setattr("ascendsim.api.saved.page_bytes", None)  # the page itself is never tried
    answer = ask(*how, 600_000)
    assert (answer.code, list(tmp_path.iterdir())) == (2, [])
    assert "all that recorded blocks read and store" in answer.line
    assert "over more cores" in answer.line
    assert "block 0" not in answer.line
    monkeypatch.undo()
    monkeypatch.setattr("ascendsim.view.capsule.MOST_BYTES", 2_000_000)
    assert ask(*how, re.search(r"--n (\d+) or so", answer.line).group(1)).code == 0


def test_fewer_blocks_are_the_way_out_where_several_were_asked_for(ask: Ask, tmp_path, monkeypatch):
    monkeypatch.setattr("ascendsim.view.capsule.MOST_BYTES", 120_000)
    how = ("capsule", KERNEL, "--random", "--n", 90_000, "-o", tmp_path / "run.html")
    assert "fewer blocks (--blocks), or ask" in ask(*how, "--blocks", "0,1").line
    assert "blocks (" not in ask(*how, "--cores", 1).line


def test_python_writes_it_too(tmp_path):
    run = recorded(np.linspace(-4, 4, 40))
    run.findings = [Finding("check:x", "error", "</script><b>bold</b>", 0, 3, where=("k.py", 7))]
    run.save_capsule(tmp_path / "run.html", notes=["</script>\u2028<!-- note"])
    text = (tmp_path / "run.html").read_text()
    assert asim.open(tmp_path / "run.html").findings == run.findings
    assert text.count("</script>") == 3  # of the two data blocks and the script
    assert "<!--" not in text
    quiet = asim.launch(KERNEL, {"grad": run.out, "x": run.out}, asim.load(KERNEL).tiling((40,)))
    with pytest.raises(RequestError, match="needs recorded calls"):
        quiet.save_capsule(tmp_path / "none.html")


def test_the_page_loads_nothing(tmp_path):
    recorded([1.0]).save_capsule(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    assert "default-src 'none'" in text
    assert not re.findall(r"(?:src|href)=\"?(?!#)", text.replace("src 'none'", ""))
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_a_block_of_a_large_launch_makes_a_small_page(ask: Ask, tmp_path):
    """The page holds what block 0 read and stored, and what the output is as a whole."""
    page = tmp_path / "run.html"
    answer = ask("capsule", KERNEL, "--random", "--n", 3_000_000, "-o", page, "--json")
    assert answer.code == 0, answer.err
    assert page.stat().st_size < 4_000_000  # an input alone has 12 MB
    run = asim.open(page)
    assert run.to_json()["out_crc32"] == answer.json["out_crc32"]
    assert "out[5]" in str(run.explain_lane(5))
