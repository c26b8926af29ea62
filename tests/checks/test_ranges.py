"""Sets of byte ranges against sets of bytes, and the memory that a run of findings takes."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendsim.ascendc import *
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import TOOLS, Checks
from ascendsim.observe.checks.racecheck import MAX_UNORDERED
from ascendsim.observe.checks.ranges import meet, merged, whole
from ascendsim.observe.checks.spans import MAX_LOOSE, Place
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import GM, Access
from tests.checks.kit import DATA, N, findings_of, pipe_with
from tests.kit import gm, make_job

PIECES = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), min_size=1, max_size=12)


def union(pieces):
    """Return pieces (start, length) as ranges, and as a set of bytes."""
    starts, lengths = np.array(pieces, np.int64).T
    return merged(starts, starts + lengths), {b for a, n in pieces for b in range(a, a + n)}


def members(ranges):
    return {b for start, stop in zip(*ranges, strict=True) for b in range(start, stop)}


@given(PIECES)
def test_union(pieces):
    ranges, want = union(pieces)
    assert members(ranges) == want
    assert (ranges[0][1:] > ranges[1][:-1]).all()  # sorted and apart
    lines = {byte // 8 for byte in want}
    assert members(whole(ranges, 8)) == {8 * line + k for line in lines for k in range(8)}


@given(PIECES, PIECES)
def test_what_two_have_in_common(one, other):
    (mine, some), (theirs, others) = union(one), union(other)
    span = meet(mine, theirs)
    both = some & others
    assert (span is None) == (not both)
    if span is not None:
        assert span[0] == min(both)
        assert set(range(*span)) <= both


def strided(holder, start, blocks, nbytes, pitch):
    """Return what a copy touches in GM, as ranges and as a mask."""
    access = Access("dst", GM, holder, start, float32, True, nbytes, pitch, 0)
    starts = start + np.arange(blocks, dtype=np.int64) * pitch
    stop = int(starts[-1]) + nbytes
    lazy = Touched(access, start, stop, None, (starts, starts + nbytes))
    return lazy, Touched(access, start, stop, lazy.mask)


COPIES = st.tuples(st.integers(0, 40), st.integers(1, 6), st.integers(1, 8), st.integers(9, 20))


@given(COPIES, COPIES)
def test_a_strided_copy_meets_as_its_mask_does(one, other):
    holder = SimpleNamespace(name="x")
    mine, theirs = strided(holder, *one), strided(holder, *other)
    want = mine[1].meets(theirs[1])
    for a in mine:
        for b in theirs:
            found = a.meets(b)
            assert (found is None) == (want is None)
            assert found is None or found[0] == want[0]
    assert mine[0].spans() == mine[1].spans()


def test_a_place_keeps_what_it_was_given_in_little_room():
    """Columns of a matrix, one after another: in the end they are one range."""
    columns, rows = 64, MAX_LOOSE // 16
    holder = SimpleNamespace(name="x")
    first, _ = strided(holder, 0, rows, 4, 4 * columns)
    place = Place(None, first, 0, 1)
    for column in range(columns):
        place.add(strided(holder, 4 * column, rows, 4, 4 * columns)[0])
        assert len(place._loose) <= MAX_LOOSE
    starts, stops = place.ranges()
    assert (starts.tolist(), stops.tolist()) == ([0], [4 * columns * rows])


def racing(times):
    def body(x, out):
        p = pipe_with(a=4 * N)
        a, source = p.a.Get(float32), gm(x)
        for _ in range(times):
            DataCopy(a, source, N)
            Muls(a, a, 2.0, N)

    return body


@pytest.mark.parametrize("times", [4000, pytest.param(12_000, marks=pytest.mark.slow)])
def test_findings_of_a_run_take_no_more_room_when_they_come_again(times):
    held = []
    for number in (MAX_UNORDERED + 100, times):
        job = make_job(racing(number), DATA, {"out": ((N,), "float32")})
        checks = Checks(TOOLS, job.options, defined=("x",))
        tracemalloc.start()
        launch(job, Readers(checks=checks))
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert {each.count for each in checks.all()} == {number, number - 1}
    assert held[1] - held[0] < 200_000


def test_blocks_that_collide_everywhere_are_told_once_per_pair_of_lines():
    def body(x, out):
        for lane in range(N):
            gm(out).SetValue(lane, 1.0)

    (found,) = findings_of(body, DATA, {"out": ((N,), "float32")}, block_dim=4)
    assert (found.code, found.count) == ("memcheck:gm-trample", 6)
