"""A run as one file: what is opened answers as before, in another process too."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.observe.saved.values import plain, value_of
from ascendsim.record import UB, Finding
from tests.helpers import assert_same_bits
from tests.planted import planted
from tests.test_diff import SIXTH_DOWN
from tests.test_diff import recorded as at_minus_3
from tests.test_stepper import recorded

CASES = [
    ("hard_sigmoid_grad", "float16"),
    ("hard_swish_grad", "float32"),
    ("swish_grad", "float16"),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(case))
def pair(request, tmp_path_factory):
    run = recorded(*request.param, n=700)
    path = tmp_path_factory.mktemp("saved") / "run.asim"
    run.save(path)
    return run, asim.open(path), path


def test_facts_outputs_and_images_are_the_same(pair):
    run, again, _ = pair
    assert (again.to_json(), repr(again)) == (run.to_json(), repr(run))
    assert (again.warnings, again.evidence, again.calls) == (run.warnings, run.evidence, run.calls)
    assert_same_bits(again.out, run.out)
    for block in range(run.block_dim):
        assert_same_bits(again.ub(block), run.ub(block))


def test_every_moment_of_every_block_is_the_same(pair):
    run, again, _ = pair
    for block in run.recordings:
        one, two = run.stepper(block), again.stepper(block)
        for position in (*range(len(one) + 1), 0):
            one.goto(position)
            two.goto(position)
            assert one.ub.tobytes() == two.ub.tobytes()
            assert (one.describe(), one.source()) == (two.describe(), two.source())
            assert one._repr_html_() == two._repr_html_()
            assert (one.buffers(), one.queues()) == (two.buffers(), two.queues())


def test_every_question_has_the_same_answer(pair):
    run, again, _ = pair
    one, two = (each.stepper(0) for each in (run, again))
    for at in (one, two):
        at.goto(len(at))
    for name, place in one.buffers().items():
        assert str(one.why(name, 0)) == str(two.why(name, 0))
        assert one.watch(name, 3) == two.watch(name, 3)
        assert one.who_wrote(place.start) == two.who_wrote(place.start)
        assert_same_bits(one.view(name), two.view(name))
    for lane in (0, 5, 699):
        known, found = run.explain_lane(lane), again.explain_lane(lane)
        assert (known, known.source, known._repr_html_()) == (
            found,
            found.source,
            found._repr_html_(),
        )
    assert str(run.diff(again)) == "the runs are the same"


def test_saving_what_was_opened_gives_the_same_file(pair, tmp_path):
    _, again, path = pair
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_diff_of_opened_runs(tmp_path):
    runs = [at_minus_3([-3.0] * 40, SIXTH_DOWN), at_minus_3([-3.0] * 40)]
    for number, run in enumerate(runs):
        run.save(tmp_path / str(number))
    opened = [asim.open(tmp_path / str(number)) for number in range(2)]
    want = runs[0].diff(runs[1])
    for one, two in ((opened[0], opened[1]), (runs[0], opened[1]), (opened[0], runs[1])):
        found = one.diff(two)
        assert (str(found), found.lane(7)) == (str(want), want.lane(7))
        assert found._repr_html_() == want._repr_html_()


@pytest.mark.parametrize("seed", range(4))
def test_random_kernels_and_findings(tmp_path, seed):
    case = planted(tmp_path, seed, ("literal", "rounding", "branch", "flush")[seed])
    run = case.faulty
    folder = Path(run.stepper(0).next(9).source()[0]).parent
    run.findings = [Finding("check:made-up", "error", "said", 0, 3, 2, ("k.py", 7), (0, 32), 4)]
    run.save(tmp_path / "run")
    again = asim.open(tmp_path / "run", op=folder)
    assert again.findings == run.findings
    assert again.explain_lane(case.lane) == run.explain_lane(case.lane)
    assert str(run.diff(again)) == "the runs are the same"


def test_call_log_newest_calls_and_runs_without_a_recording(tmp_path):
    op = asim.load("add")
    x = np.arange(500, dtype=np.float32)
    how = {"calls": {"record": "calls"}, "none": {}, "last": {"record": "bytes", "last": 9}}
    for name, choices in how.items():
        run = asim.launch(op, {"x": x, "y": x}, op.tiling(x.shape), **choices)
        run.save(tmp_path / name)
        again = asim.open(tmp_path / name)
        assert again.calls == run.calls
        assert list(again.recordings) == list(run.recordings)
    assert len(again.stepper(0)) == 9
    assert again.stepper(0).next(9).queues() == {}  # no InitBuffer is among the newest
    assert again.stepper(0).dropped == run.stepper(0).dropped > 0
    with pytest.raises(RequestError, match="no timeline"):
        again.timeline  # noqa: B018


PROGRAM = """
import json
import ascendsim as asim
from ascendsim.errors import RequestError

run = asim.open("run")
at = run.stepper(0).next(9)
try:
    run.explain_lane(LANE)
except RequestError as error:
    text = str(error)
known = asim.open("run", op="elsewhere").explain_lane(LANE)
print(json.dumps([at.describe(), at.ub.tobytes().hex(), str(known), text]))
"""


def test_another_process_without_the_kernel(tmp_path):
    case = planted(tmp_path, 5, "literal")
    run = case.faulty
    run.save(tmp_path / "run")
    at = run.stepper(0).next(9)
    want = [at.describe(), at.ub.tobytes().hex(), str(run.explain_lane(case.lane))]
    shutil.move(Path(at.source()[0]).parent, tmp_path / "elsewhere")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("LANE", str(case.lane))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(asim.__file__).parents[1]), "PATH": ""},
    )
    *found, refused = json.loads(done.stdout)
    assert found == want
    assert "explain_lane needs the definition of planted" in refused
    assert "op=FOLDER" in refused


NUMBERS = [1, -7, 1 << 53, (1 << 53) + 1, -(1 << 90), 0.1, -0.0, float("inf"), None, True, "RINT"]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers_come_back_as_they_were(number):
    found = value_of(json.loads(json.dumps(plain(number), allow_nan=False)))
    assert (type(found), repr(found)) == (type(number), repr(number))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**64 - 1), st.sampled_from(["float32", "float64", "float16", "uint8"]))
def test_bits_of_numpy_numbers_come_back(word, name):
    kind = np.dtype(name)
    number = np.frombuffer(word.to_bytes(8, "little")[: kind.itemsize], kind)[0]
    found = value_of(json.loads(json.dumps(plain(number), allow_nan=False)))
    assert found.dtype == kind
    assert found.tobytes() == number.tobytes()
    odd = np.array([word & 0xFFFF], np.uint16).view(ml_dtypes.bfloat16)[0]
    assert value_of(plain(odd)).tobytes() == odd.tobytes()


def test_a_file_is_whole_or_absent(tmp_path, monkeypatch):
    run = at_minus_3([1.0])
    with pytest.raises(RequestError, match="there is no directory"):
        run.save(tmp_path / "no" / "run")
    monkeypatch.setattr("ascendsim.observe.saved.archive.MOST_BYTES", 1000)
    with pytest.raises(RequestError, match="too large for a file"):
        run.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_size_on_disk(tmp_path):
    x = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    op = asim.load("hard_sigmoid_grad")
    run = asim.launch(op, {"grad": x, "x": x}, op.tiling(x.shape), record="bytes")
    run.save(tmp_path / "run")
    assert (tmp_path / "run").stat().st_size < 50_000_000
    assert sum(d.space == UB for e in run.recordings[0].entries for d in e.deltas) > 5


def test_inputs_that_a_recording_holds_are_not_used_again():
    """A later launch of the same size takes the memory of earlier inputs, but not of these."""
    run = at_minus_3(np.full(64, 2.0))
    (tensor,) = {
        id(a.holder): a.holder
        for entry in run.recordings[0].entries
        for a in entry.instr.call.accesses
        if a.holder.name == "x"
    }.values()
    before = tensor.memory.tobytes()
    at_minus_3(np.full(64, -1.0))
    assert tensor.memory.tobytes() == before
