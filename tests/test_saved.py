"""A run as one file: what is opened answers as before, and what is no such file is refused."""

from __future__ import annotations

import base64
import io
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.observe.saved.archive import CLOSING, OPENING
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
        assert run.explain_lane(lane) == again.explain_lane(lane)
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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    at_minus_3([-3.0] * 70).save(path)
    return path.read_bytes()


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(RequestError) as caught:
        asim.open(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


def test_a_page_that_carries_the_file_opens_too(whole, tmp_path):
    page = b"<!DOCTYPE html><p>" + OPENING + base64.b64encode(whole) + CLOSING + b"</html>"
    (tmp_path / "page").write_bytes(page)
    assert asim.open(tmp_path / "page").out[0] == 0
    refused(tmp_path / "cut", page[: len(page) // 2])


def test_truncated_files(whole, tmp_path):
    for size in (0, 1, 2, 30, len(whole) // 3, len(whole) // 2, len(whole) - 25, len(whole) - 1):
        refused(tmp_path / "cut", whole[:size])


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_flipped_bytes_are_refused_or_change_nothing(whole, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "flipped"
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    try:
        run = asim.open(path)
    except RequestError:
        return
    again = path.with_name("kept")
    run.save(again)
    assert again.read_bytes() == whole


def test_foreign_files(tmp_path):
    for content in (
        b"hello",
        b"<html><p>a page</p></html>",
        pickle.dumps({"a": 1}),
        b"PK",
        b"\0" * 99,
    ):
        refused(tmp_path / "foreign", content)
    np.savez(tmp_path / "arrays.npz", x=np.zeros(3))
    refused(tmp_path / "foreign", (tmp_path / "arrays.npz").read_bytes())
    for path, why in ((tmp_path, "no such file"), (tmp_path / "none", "no such file")):
        with pytest.raises(RequestError, match=why):
            asim.open(path)
    with pytest.raises(RequestError, match="no such file"):
        asim.open("/dev/zero")


def altered(whole, name, change):
    """Return the file with one member replaced; checksums and sizes are right again."""
    source, out = zipfile.ZipFile(io.BytesIO(whole)), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.namelist():
            content = source.read(member)
            archive.writestr(member, change(content) if member == name else content)
    return out.getvalue()


def edited(whole, name, edit):
    def change(content):
        document = json.loads(content)
        edit(document)
        return json.dumps(document)

    return altered(whole, name, change)


def test_a_newer_version_says_so(whole, tmp_path):
    text = refused(tmp_path / "new", edited(whole, "run.json", lambda d: d.update(version=2)))
    assert "version 2" in text
    assert "made by" in text


def stores_first(document):
    return next(row for row in document["records"] if row[7])


def scalar_first(document):
    return next(row for row in document["records"] if row[3])


def vector(document):
    return next(c for c in document["recording"]["calls"] if c["name"] == "Muls")


EDITS = {
    "unknown call": ("blocks/0.json", lambda d: d["records"][3].__setitem__(1, 10**6)),
    "negative call": ("blocks/0.json", lambda d: d["records"][3].__setitem__(1, -1)),
    "store elsewhere": ("blocks/0.json", lambda d: stores_first(d)[7][0].__setitem__(2, 10**12)),
    "store nothing": ("blocks/0.json", lambda d: stores_first(d).__setitem__(7, [])),
    "fewer records": ("blocks/0.json", lambda d: d["records"].remove(stores_first(d))),
    "scalar": ("blocks/0.json", lambda d: scalar_first(d).__setitem__(3, "0x1")),
    "no record": ("blocks/0.json", lambda d: d.pop("records")),
    "endless": ("run.json", lambda d: vector(d)["geometry"].update(count=10**15)),
    "no strings": ("run.json", lambda d: vector(d).update(name=["Muls"])),
    "escapes": ("run.json", lambda d: d["run"].update(op="\x1b[2J")),
    "odd type": ("run.json", lambda d: vector(d)["accesses"][0].__setitem__(4, "object")),
    "huge shape": ("run.json", lambda d: d["run"]["outputs"][0].__setitem__(2, [1 << 50])),
    "huge UB": ("run.json", lambda d: d["recording"].update(ub=1 << 50)),
    "no UB": ("run.json", lambda d: d["recording"].update(ub=0)),
    "block": ("run.json", lambda d: d["recording"].update(blocks=[1])),
    "a list": ("run.json", lambda d: d.update(run=[])),
}


@pytest.mark.parametrize("name", EDITS)
def test_contradictions_are_refused(whole, tmp_path, name):
    refused(tmp_path / "bad", edited(whole, *EDITS[name]))


def test_deep_json_and_zip_bombs_are_refused(whole, tmp_path, monkeypatch):
    refused(tmp_path / "deep", altered(whole, "run.json", lambda _: "[" * 200_000))
    refused(tmp_path / "digits", altered(whole, "run.json", lambda _: "9" * 200_000))
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("run.json", "w", force_zip64=True) as member,
    ):
        for _ in range(3):
            member.write(bytes(1 << 23))
    assert len(bomb.getvalue()) < 1 << 16
    monkeypatch.setattr("ascendsim.observe.saved.archive.MOST_BYTES", 1 << 24)
    assert "unpack to more" in refused(tmp_path / "bomb", bomb.getvalue())


def test_a_file_is_whole_or_absent(tmp_path, monkeypatch):
    run = at_minus_3([1.0])
    with pytest.raises(RequestError, match="cannot be written"):
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
