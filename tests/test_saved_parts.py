"""A file of some blocks holds what they touched: the rest is refused, never made up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.observe.held import HeldBytes, bytes_in, joined, total
from ascendsim.observe.outputs import PartOfOutput, bits_of, crc_of, shown_of
from tests.test_saved_damage import altered, edited, refused

BLOCKS = [1, 3]


@pytest.fixture(scope="module")
def run():
    op = asim.load("hard_sigmoid_grad")
    rng = np.random.default_rng(3)
    x = 4 * rng.standard_normal((30, 100), dtype=np.float32)
    grad = x.copy()
    x[0, 3], grad[0, 3] = 0, np.nan
    tiling = op.tiling(x.shape, "float32", cores=5, ub=16384)
    return asim.launch(op, {"grad": grad, "x": x}, tiling, record="bytes", blocks=BLOCKS)


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ascendsim.observe.saved.outputs.WHOLE_BYTES", 100)
        path = tmp_path_factory.mktemp("parts") / "run"
        run.save(path)
    return path.read_bytes()


@pytest.fixture
def again(whole, tmp_path):
    (tmp_path / "run").write_bytes(whole)
    return asim.open(tmp_path / "run")


def kept(run):
    """Return which elements of the output the recorded blocks stored."""
    found = np.zeros(run.out.size, bool)
    for recording in run.recordings.values():
        for entry in recording.entries:
            for delta in entry.deltas:
                if delta.space == "out":
                    found[delta.start // 4 : delta.stop // 4] = True
    return found


def test_elements_that_were_stored_are_there_and_no_others(run, again):
    assert isinstance(again.out, PartOfOutput)
    assert (again.out.shape, again.out.dtype, again.out.size) == ((30, 100), np.float32, 3000)
    stored = kept(run)
    assert 0 < stored.sum() < stored.size
    for index in range(0, 3000, 7):
        place = divmod(index, 100)
        if stored[index]:
            assert again.out[place].tobytes() == run.out[place].tobytes()
            assert bits_of(again.out, index) == bits_of(run.out, index)
        else:
            with pytest.raises(RequestError, match=r"the file holds the bytes of out that record"):
                again.out[place]


@pytest.mark.parametrize(
    "take",
    [
        np.asarray,
        list,
        lambda out: out == np.zeros(out.shape),
        lambda out: out[0:3],
        lambda out: out[30, 0],
        lambda out: out[-1],
        lambda out: out[3.0, 1],
    ],
)
def test_what_would_need_the_rest_is_refused(again, take):
    with pytest.raises(RequestError, match="the file holds only what the recorded blocks stored"):
        take(again.out)


def test_the_whole_is_still_known(run, again):
    assert again.to_json() == run.to_json()
    assert again._repr_html_() == run._repr_html_()
    assert crc_of(again.out) == crc_of(run.out)
    assert shown_of(again.out).nans == 1
    assert list(again.ub_images) == BLOCKS


def test_questions_have_the_same_answers(run, again):
    stored = np.flatnonzero(kept(run))
    for lane in (stored[0], stored[-1]):
        index = tuple(int(k) for k in divmod(lane, 100))
        assert again.explain_lane(index) == run.explain_lane(index)
        assert str(again.why("out", index)) == str(run.why("out", index))
        assert again.watch("out", index) == run.watch("out", index)
        assert str(again.who_wrote("out", 4 * int(lane))) == str(run.who_wrote("out", 4 * lane))
    assert str(run.diff(again)) == "the runs are the same"


def test_saving_it_again_gives_the_same_file(whole, again, tmp_path, monkeypatch):
    monkeypatch.setattr("ascendsim.observe.saved.outputs.WHOLE_BYTES", 100)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == whole


def test_a_small_output_is_whole(run, tmp_path):
    run.save(tmp_path / "run")
    assert asim.open(tmp_path / "run").out.tobytes() == run.out.tobytes()


def test_inputs_are_there_where_they_were_read(run, again):
    def tensor(of):
        calls = (entry.instr.call for entry in of.recordings[1].entries)
        held = (a.holder for call in calls for a in call.accesses if a.holder.name == "x")
        return next(held).memory

    memory = tensor(again)
    assert len(memory) == len(tensor(run))
    assert 0 < total(memory.ranges) < len(memory) // 2
    for start, stop in memory.ranges:
        assert memory[start:stop].tobytes() == tensor(run)[start:stop].tobytes()
    with pytest.raises(RequestError, match=r"not x\[0x0, 0x4\)"):
        memory[0:4]


def _part(document):
    return document["run"]["outputs"][0][3]


def _ranges(document):
    return document["recording"]["read"]["x"]


EDITS = {
    "out of order": lambda d: _part(d)["ranges"].reverse(),
    "past the end": lambda d: _part(d)["ranges"][-1].__setitem__(1, 1 << 20),
    "empty": lambda d: _part(d)["ranges"].insert(0, [0, 0]),
    "first": lambda d: _part(d).update(first="00"),
    "count": lambda d: _part(d).update(nans=3001),
    "crc": lambda d: _part(d).update(crc32=-1),
    "no part": lambda d: d["run"]["outputs"][0].__setitem__(3, None),
    "shape": lambda d: d["run"]["outputs"][0].__setitem__(2, [1 << 30, 1 << 30]),
    "read less": lambda d: _ranges(d).pop(),
    "read elsewhere": lambda d: _ranges(d)[0].__setitem__(0, _ranges(d)[0][0] + 4),
    "read beyond": lambda d: _ranges(d)[-1].__setitem__(1, 1 << 40),
    "read what": lambda d: d["recording"].update(read=["x"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_contradictions_are_refused(whole, tmp_path, name):
    refused(tmp_path / "bad", edited(whole, "run.json", EDITS[name]))


def test_bytes_that_a_call_reads_must_be_there(whole, tmp_path):
    """Ranges and member agree with each other, but not with the calls."""

    def less(document):
        _ranges(document)[0][1] -= 32

    cut = altered(edited(whole, "run.json", less), "gm/x", lambda content: content[:-32])
    assert "reads bytes of x that it lacks" in refused(tmp_path / "bad", cut)


@given(st.data())
def test_held_bytes_are_the_memory_where_they_are(data):
    memory = np.arange(1000, dtype=np.uint16).view(np.uint8)
    edges = st.integers(0, memory.size)
    spans = data.draw(st.lists(st.tuples(edges, edges).map(sorted).map(tuple), max_size=6))
    ranges = joined(spans)
    held = HeldBytes("x", memory.size, ranges, bytes_in(memory, ranges))
    assert total(ranges) >= len({k for a, b in spans for k in range(a, b)})
    for start, stop in spans:
        assert held[start:stop].tobytes() == memory[start:stop].tobytes()
    start, stop = data.draw(st.tuples(edges, edges).map(sorted))
    there = start == stop or any(a <= start and stop <= b for a, b in ranges)
    assert held.holds(start, stop) == there
    if there:
        assert held[start:stop].tobytes() == memory[start:stop].tobytes()


@pytest.mark.parametrize(
    ("index", "told"),
    [
        (np.s_[:5], r"\[:5\] is no single element"),
        (np.s_[0:6:2, 1], r"\[0:6:2, 1\] is no single element"),
        (np.s_[..., 0], r"\[\.\.\., 0\] is no single element"),
        ((30, 0), r"there is no element \[30, 0\] in its shape \(30, 100\)"),
        (-1, r"there is no element \[-1\] in its shape"),
    ],
)
def test_an_index_is_told_as_it_was_typed(again, index, told):
    with pytest.raises(RequestError, match=told):
        again.out[index]
