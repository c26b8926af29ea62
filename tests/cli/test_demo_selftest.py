"""`demo`, `isa` and its self-test."""

from __future__ import annotations

import pytest

from ascendsim import ascendc
from ascendsim.explore import exercises
from ascendsim.explore.selftest import MORE_EXERCISES
from ascendsim.isa import REGISTRY
from tests.cli.conftest import Ask


def test_demo(ask: Ask) -> None:
    answer = ask("demo", "--json")
    assert answer.code == 0
    steps = answer.json["steps"]
    assert {step["op"] for step in steps} >= {"hard_sigmoid_grad", "hard_swish_grad", "swish_grad"}
    assert all(step["rows"] and step["title"] for step in steps)
    cells = [str(cell) for step in steps for row in step["rows"] for cell in row]
    for bits in ("0x3e2aaaaa", "0x3155", "0x3e2b"):  # what the literal leaks at x = -3
        assert bits in cells


def test_demo_of_one_readable(ask: Ask) -> None:
    answer = ask("demo", "hard_swish_grad")
    assert answer.code == 0
    assert "hard_swish_grad: " in answer.out
    assert "demo 1 of " in answer.err


def test_isa_lists(ask: Ask) -> None:
    lists = ask("isa", "--json").json
    assert list(lists) == ["apis", "members", "types"]
    assert "Muls" in lists["apis"]
    assert "GetValue@UB" in lists["members"]
    assert "TQueBind" in lists["types"]
    assert "DataCopyPad" in ask("isa").out


def test_every_name_has_a_page(ask: Ask) -> None:
    lists = ask("isa", "--json").json
    for name in (*lists["apis"], *lists["members"], *lists["types"]):
        page = ask("isa", name, "--json").json
        assert page["name"] == name
        assert len(page["doc"]) > 15, name
        assert page["signature"].startswith(name.split("@")[0])


def test_isa_page(ask: Ask) -> None:
    page = ask("isa", "exp", "--json").json
    chip = page["socs"]["ascend910b1"]
    assert chip["dtypes"]
    assert chip["cost"]["source"]
    assert {rule["rule"] for rule in page["rules"]} >= {"exp-bits"}
    text = ask("isa", "Exp").out
    assert "assumed" in text
    assert "cycles: " in text
    answer = ask("isa", "Mulls")
    assert answer.code == 2
    assert "Muls" in answer.line


def test_every_name_is_exercised() -> None:
    names = {*ascendc.APIS, *ascendc.MEMBERS, *ascendc.TYPES}
    assert MORE_EXERCISES
    assert names == set(exercises.EXERCISES) | set(REGISTRY)


def test_selftest_of_one(ask: Ask) -> None:
    answer = ask("isa", "muls", "--selftest", "--json")
    assert answer.code == 0, answer
    rows = answer.json["rows"]
    assert {(row["soc"], row["dtype"]) for row in rows} >= {("ascend950", "bfloat16")}
    assert all(row["ok"] for row in rows)
    assert "passed, 0 failed" in ask("isa", "TQue", "--selftest").out
    assert ask("isa", "Mulls", "--selftest").code == 2


def test_selftest_says_what_fails(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(bench: object) -> None:
        raise AssertionError("got 1, want 2")

    monkeypatch.setitem(exercises.EXERCISES, "PipeBarrier", broken)
    answer = ask("isa", "PipeBarrier", "--selftest")
    assert answer.code == 1
    assert "got 1, want 2" in answer.out
    monkeypatch.delitem(exercises.EXERCISES, "PipeBarrier")
    assert "no exercise" in ask("isa", "PipeBarrier", "--selftest").out


@pytest.mark.slow
def test_selftest(ask: Ask) -> None:
    answer = ask("isa", "--selftest", "--json")
    assert answer.code == 0, [row for row in answer.json["rows"] if not row["ok"]]
