"""`ascendsim step`: every verb, scripts and JSON, and mistakes that do not end a session."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from tests.cli.conftest import Answer

HARD = "hard_sigmoid_grad"
LAUNCH = (HARD, "--n", 3000, "--random", "--cores", 2, "--ub", 16384)
MINUS_3 = "0xc0400000"


@pytest.fixture
def session(ask, monkeypatch):
    """Run a script of commands, given as lines."""

    def run(*lines: str, launch=LAUNCH) -> Answer:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
        return ask("step", *launch)

    return run


@pytest.fixture
def done(ask):
    """Return the JSON of a launch after commands."""

    def run(commands: str, *extra: object, launch=LAUNCH) -> dict:
        answer = ask("step", *launch, *extra, "--json", "--do", commands)
        assert answer.code == 0, answer.err
        return answer.json

    return run


def test_a_script(session):
    answer = session("u name=CompareScalar", "v tmpBuf 0", "q", "never")
    assert (answer.code, answer.err) == (0, "")
    start, stands, value = answer.out.splitlines()
    assert start.startswith("0 of ")
    assert "CompareScalar on V, Compute, tile 0, hard_sigmoid_grad/op_kernel.py:" in stands
    assert stands.endswith("CompareScalar(mask, tmp, 0.0, CMPMODE.GT, alignNum)")
    assert value.startswith("tmpBuf[0] = ")
    assert "\x1b" not in answer.out


def test_json_says_where_it_stands(done):
    found = done("u name=CompareScalar; v tmpBuf 0")
    assert (found["op"], found["dtype"], found["n"], found["block"]) == (HARD, "float32", 3000, 0)
    assert found["next"]["call"] == "CompareScalar"
    assert (found["next"]["pipe"], found["next"]["phase"], found["next"]["tile"]) == (
        "V",
        "Compute",
        0,
    )
    moved, viewed = found["answers"]
    assert moved["position"] == found["position"]
    assert moved["found"] is True
    bits = np.array(viewed["values"], np.float32).view(np.uint32).tolist()
    assert bits == viewed["bits"]
    assert found["queues"]["selfQueue"][0] == "DEQUE"
    assert "tmpBuf" in [buffer["name"] for buffer in found["buffers"]]


@pytest.mark.parametrize(
    ("alpha", "value", "bits"),
    [("0x3e2aaaab", 0.0, 0), ("0x3e2aaaaa", 2.0**-25, 0x33000000)],
)
def test_the_boundary_at_minus_3(tmp_path, done, alpha, value, bits):
    path = tmp_path / "in.npz"
    np.savez(path, grad=np.ones(8, np.float32), x=np.full(8, -3, np.float32))
    launch = (HARD, "--input", path, "--attr", f"alpha={alpha}")
    answers = done("u name=CompareScalar; v tmpBuf 0; why tmpBuf 0", launch=launch)["answers"]
    assert (answers[1]["values"], answers[1]["bits"]) == ([value], [bits])
    assert answers[2]["bits"] == bits
    assert answers[2]["causes"][-1].strip() == f"GM x[0] = {MINUS_3}"


def test_moves(done):
    found = done("n; next 4; b 2; back; g 0; n 10000; b 20000; goto end; n; b 0")
    places = [answer["position"] for answer in found["answers"]]
    end = found["length"]
    assert places == [1, 5, 3, 2, 0, end, 0, end, end, end]
    assert found["next"] is None


def test_until(done):
    found = done("u phase=CopyOut; u pipe=V back; u tile=1; u writes=gradInputQueue; u name=Adds")
    assert [answer["next"]["call"] for answer in found["answers"]] == [
        "DeQue",
        "FreeTensor",
        "AllocTensor",
        "Muls",
        "Adds",
    ]
    missed = done("g end; u name=Adds phase=Compute; u tile=99")
    assert [answer["found"] for answer in missed["answers"][1:]] == [False, False]


def test_until_a_value(tmp_path, done):
    path = tmp_path / "in.npz"
    x = np.array([-3, -0.0, np.nan, 3], np.float32)
    np.savez(path, grad=np.ones_like(x), x=x)
    commands = (
        "u holds=nan; u holds=nan buffer=tmpBuf lane=2; u holds=-0.0 back; "
        "u holds=0x3e2aaaab buffer=gradInputQueue@0; u holds=1 buffer=out"
    )
    answers = done(commands, launch=(HARD, "--input", path))["answers"]
    hits = [(a["hit"]["buffer"], a["hit"]["lane"], a["hit"]["bits"]) for a in answers[:4]]
    assert hits == [
        ("selfQueue", 2, 0x7FC00000),
        ("tmpBuf", 2, 0x7FFFFFFF),
        ("selfQueue", 1, 0x80000000),
        ("gradInputQueue", 0, 0x3E2AAAAB),
    ]
    assert answers[1]["hit"]["position"] == answers[1]["position"] - 1
    assert answers[1]["hit"]["dtype"] == "float32"
    assert (answers[4]["found"], "hit" in answers[4]) == (False, False)


def test_go_to_a_call_and_to_another_block(done):
    found = done("g name=Adds tile=1; block 1; g phase=CopyOut pipe=MTE3; block 0; block 1")
    adds, other, out, first, _ = found["answers"]
    assert (adds["next"]["call"], adds["next"]["tile"]) == ("Adds", 1)
    assert (other["block"], other["position"]) == (1, 0)
    assert (out["next"]["phase"], out["next"]["pipe"]) == ("CopyOut", "MTE3")
    assert (first["block"], found["block"]) == (0, 1)


def test_views(done):
    found = done("g end; v tmpBuf; bits tmpBuf 2:5 uint16; v gradInputQueue@1 3; v tmpBuf float16")
    first, words, other, halves = found["answers"][1:]
    assert (first["lanes"], first["dtype"]) == ([0, 16], "float32")
    raw = np.array(first["values"], np.float32).view(np.uint16)
    assert words["bits"] == raw[2:5].tolist()
    assert (other["slot"], other["lanes"]) == (1, [3, 4])
    assert halves["dtype"] == "float16"


def test_who_wrote(done):
    found = done("w 0; g end; w gradInputQueue+0x40; w gradOutputQueue; w 4")
    nobody, _, select, copy, same = found["answers"]
    assert nobody["position"] is None
    assert (select["call"]["call"], copy["call"]["call"]) == ("Select", "DataCopyPad")
    assert copy["position"] == same["position"]
    assert found["position"] == found["length"]


def test_watch_queues_buffers_source(session):
    answer = session("u name=CompareScalar", "watch tmpBuf 0", "queues", "buffers", "s", "help")
    assert answer.code == 0
    lines = answer.out.splitlines()
    stores = [line.split()[3] for line in lines[4:] if line.startswith("│") and "0x" in line][:3]
    assert stores == ["Duplicate", "Muls", "Adds"]
    assert any("OCCUPIED, FREE" in line for line in lines)
    assert any("maskBuf" in line and "#" in line for line in lines)
    marked = [line for line in lines if line.startswith(">")]
    assert len(marked) == 1
    assert "CompareScalar(mask, tmp, 0.0" in marked[0]
    assert "an empty line repeats the last command" in lines


def test_an_empty_line_repeats(session):
    answer = session("", "n 2", "", "   ")
    assert [line.split()[0] for line in answer.out.splitlines()] == ["0", "2", "4", "6"]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("bogus", "'bogus' is no command; there are next, back, goto"),
        ("v", "write it as v(iew) BUFFER"),
        ("v nope", "no buffer 'nope' at position 5; there are "),
        ("n one", "'one' is not a count"),
        ("n -1", "-1 is no count"),
        ("g 999999", "position 999999 is outside 0.."),
        ("u", "write it as u(ntil) name=|pipe="),
        ("u name=", "write it as u(ntil) name=|pipe="),
        ("u line=3", "'line' is unknown; use name"),
        ("u name=Adss", "until name=Adss: the block has Adds, "),
        ("u pipe=MTE9", "until pipe=MTE9: the block has "),
        ("u tile=x", "'x' is not a tile"),
        ("u writes=tmp", "until writes=tmp: the block has grad"),
        ("u holds=x", "until holds=x: no value; write a number"),
        ("u holds=1 lane=0", "need buffer="),
        ("u holds=1 holds=2", "holds is given twice"),
        ("u holds=1 buffer=nope", "until buffer=nope: the block has gradInputQueue"),
        ("g name=Adss", "until name=Adss: the block has "),
        ("g 3 4", "write it as g(oto) POSITION|end|name="),
        ("g phase=Compute name=DataCopyPad", "no call of the block fits"),
        ("block", "write it as block K; this is block 0"),
        ("block 2", "block 2: this launch has blocks 0..1"),
        ("block x", "'x' is not a block"),
        ("w 0xfffffff", "UB has bytes 0..0x"),
        ("w gradOutputQueue+0xfffff", "gradOutputQueue has bytes 0.."),
        ("v gradOutputQueue@2", "gradOutputQueue has slots 0..1, not 2"),
        ("v gradOutputQueue 99999", "gradOutputQueue has lanes 0.."),
        ("v gradOutputQueue 3:1", "gradOutputQueue has lanes 0.."),
        ("v gradOutputQueue float32 0", "the lane comes before the type"),
        ("v gradOutputQueue 0 float99", "dtype 'float99' is unknown"),
        ("why gradOutputQueue -1", "gradOutputQueue has lanes 0.."),
    ],
)
def test_a_mistake_is_one_line_and_the_session_goes_on(session, ask, command, reason):
    answer = session("g 5", command, "n")
    assert answer.code == 0
    assert answer.line.startswith("ascendsim: error: ")
    assert reason in answer.line
    assert answer.out.splitlines()[-1].startswith("6 of ")
    wrong = ask("step", *LAUNCH, "--json", "--do", f"g 5; {command}")
    assert (wrong.code, wrong.json["position"]) == (2, 5)
    assert reason in wrong.json["answers"][1]["error"]


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ((HARD,), 2, "give the inputs"),
        ((*LAUNCH, "--block", 2), 2, "--block 2: this launch has blocks 0..1"),
        ((*LAUNCH, "--block", -1), 2, "--block -1: this launch has blocks 0..1"),
        (("no_such_op", "--n", 3, "--random"), 2, "no_such_op"),
        ((HARD, "--n", 3, "--random", "--attr", "alpha=0"), 1, "alpha"),
        ((HARD, "--n", 9, "--random", "--tiling", "ubFactor=99999999"), 1, "InitBuffer"),
    ],
)
def test_wrong_requests(ask, arguments, code, reason):
    answer = ask("step", *arguments, "--do", "q")
    assert (answer.code, answer.out) == (code, "")
    assert reason in answer.line


def test_blocks_and_tiles(done):
    other = done("u name=Adds tile=1; v selfQueue@1 0", "--block", 1)
    assert (other["block"], other["next"]["tile"]) == (1, 1)
    assert other["answers"][1]["values"]


def test_a_block_without_calls(ask):
    answer = ask("step", HARD, "--n", 0, "--random", "--json", "--do", "n; s; u tile=0; buffers")
    assert answer.code == 0
    assert "block 0 made no call" in answer.line
    assert (answer.json["position"], answer.json["length"]) == (0, 0)


def test_json_reads_no_input(session):
    answer = session("n", launch=(*LAUNCH, "--json"))
    assert answer.json["answers"] == []


def test_the_map_shows_buffers_states_and_what_is_touched(session, done):
    (found,) = done("u name=Select; map")["answers"][1:]
    assert found["ub"] == 16384
    assert found["used"] == max(b["start"] + b["num"] * b["nbytes"] for b in found["buffers"])
    assert found["queues"]["gradInputQueue"] == ["OCCUPIED", "FREE"]
    place = {b["name"]: b for b in found["buffers"]}
    assert found["writes"] == [[place["gradInputQueue"]["start"], place["tmpBuf"]["start"] - 2048]]
    assert place["maskBuf"]["start"] in [start for start, _ in found["reads"]]
    text = session("u name=Select", "m").out
    assert "next call: Select" in text
    assert "a FREE slot in small letters" in text
    bar = next(line for line in text.splitlines() if line.startswith("        |"))
    assert len(bar) < 80
    assert "C" * 5 in bar
    assert "c" * 5 in bar


def test_a_mask_is_drawn_lane_by_lane(session, done):
    (bits,) = done("u name=Select; mask maskBuf 0:128")["answers"][1:]
    assert bits["lanes"] == [0, 128]
    assert bits["on"] == sum(bits["bits"])
    text = session("u name=Select", "mask maskBuf 0:128").out
    rows = [line.split()[1] for line in text.splitlines()[-2:]]
    assert "".join(rows) == "".join(".#"[bit] for bit in bits["bits"])
    (part,) = done("u name=Select; mask maskBuf 64:70")["answers"][1:]
    assert part["bits"] == bits["bits"][64:70]
    assert "maskBuf has lanes 0..511, not 600" in session("u name=Select", "mask maskBuf 600").err


def test_outputs_are_stopped_at_and_refused_elsewhere(session):
    answer = session("u writes=out", "v out", "why out 0", "q")
    assert "DataCopy" in answer.out.splitlines()[1]
    lines = answer.err.splitlines()
    assert len(lines) == 2
    assert all("out is in GM, a stepper shows UB" in line for line in lines)
