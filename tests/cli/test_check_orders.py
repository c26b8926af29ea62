"""`ascendsim check --schedules`, `--minimize-sync` and `ascendsim museum` on the command line."""

from __future__ import annotations

import pytest

SWISH = ("check", "hard_swish_grad", "--n", 202, "--cores", 1, "--tiling", "ubFactor=64")


def test_schedules_as_json(ask):
    answer = ask(*SWISH, "--schedules", 12, "--json")
    assert answer.code == 0
    assert answer.json["schedules"] == {
        "n": 12,
        "differing": 0,
        "witness": None,
        "races": 0,
        "blocks": [0],
    }


def test_a_difference_is_shown_and_exits_1(ask):
    off = ("--option", "auto_sync=off", "--tools", "memcheck")
    answer = ask(*SWISH, *off, "--schedules", 12, "--json")
    assert answer.code == 1
    assert answer.json["findings"] == []  # racecheck was not asked
    found = answer.json["schedules"]
    assert found["differing"] > 0
    hazard = found["witness"]["hazard"]
    assert (hazard["kind"], hazard["first"]["call"], hazard["last"]["call"]) == (
        "RAW",
        "Muls",
        "Adds",
    )
    assert found["witness"]["first"]["tensor"] == "out"
    text = ask(*SWISH, *off, "--schedules", 12).out
    assert "two instructions     RAW slopeBuf UB[" in text


def test_minimize_sync_as_json_and_text(ask):
    answer = ask(*SWISH, "--minimize-sync", "--json")
    assert answer.code == 0
    found = answer.json
    assert {each["verdict"] for each in found["sync"]} == {"redundant", "load-bearing"}
    last = [each for each in found["sync"] if each["what"] == "PipeBarrier(PIPE_V)"][-1]
    assert last["where"]["file"].endswith("op_kernel.py")
    assert (last["verdict"], last["auto_sync_on"]["verdict"]) == ("load-bearing", "redundant")
    assert last["hazard"]["last"]["call"] == "Mul"
    assert last["note"].startswith("Select")
    assert [place["call"] for place in found["sync_added"]] == ["Adds"]
    assert found["sync_once"] == []
    text = ask(*SWISH, "--minimize-sync").out
    assert "added PipeBarrier line" in text
    assert "[note] Select" in text


def test_a_block_that_uses_no_buffer_twice_is_told(ask):
    found = ask("check", "hard_swish_grad", "--n", 100, "--minimize-sync", "--json").json
    assert found["sync_once"] == ["inputQueueX", "inputQueueGrad", "outputQueueY"]
    text = ask("check", "hard_swish_grad", "--n", 100, "--minimize-sync").out
    assert "is used a second time" in text


@pytest.mark.parametrize("count", [0, -3])
def test_a_number_of_orders_below_1_is_refused(ask, count):
    answer = ask(*SWISH, "--schedules", count)
    assert answer.code == 2
    assert "must be at least 1" in answer.line


def test_a_kernel_that_does_not_end_has_no_other_orders(ask):
    answer = ask(
        "check", "kernels/museum/D3/broken", "--n", 192, "--schedules", 5, "--minimize-sync",
        "--json",
    )  # fmt: skip
    assert answer.code == 1
    assert "schedules" not in answer.json
    assert "no other orders" in answer.err


def test_museum(ask):
    answer = ask("museum", "C11", "--json")
    assert answer.code == 0
    (case,) = answer.json["cases"]
    assert (case["id"], case["caught"], case["fixed_clean"]) == ("C11", True, True)
    assert case["got"].startswith("out[0] = 0.90909")
    assert "0x3f68ba2e" in case["got"]
    assert "0x3f68ba2e" in case["reported"]
    assert "museum C11: Division by a scalar" in ask("museum", "C11").out


def test_an_unknown_case_is_refused(ask):
    answer = ask("museum", "Q7")
    assert answer.code == 2
    assert "museum has no case 'Q7'" in answer.line
