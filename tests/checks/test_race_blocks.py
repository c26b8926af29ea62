"""Races between blocks against a list of all pairs: random accesses, with SyncAll between."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendsim.ascendc import *
from tests.checks.kit import OUT, findings_of, pipe_with
from tests.kit import gm

BLOCKS, CELLS, WIDTH = 3, 4, 16
ACCESS = st.tuples(st.sampled_from("rwa"), st.integers(0, 2 * CELLS - 2))
SECTIONS = st.lists(st.lists(ACCESS, max_size=2), min_size=2, max_size=3)
INPUTS = {"x": np.zeros(8 * CELLS * 2, np.float32)}


def body(plan):
    """Return a kernel in which block b makes the accesses plan[b], section by section."""

    def kernel(x, out):
        p = pipe_with(a=WIDTH * 4)
        a, target = p.a.Get(float32), gm(x)
        for section in plan[GetBlockIdx()]:
            for kind, half_cell in section:
                place = target[half_cell * 8 :]
                PipeBarrier(PIPE_ALL)
                if kind == "r":
                    DataCopy(a, place, WIDTH)
                    continue
                if kind == "a":
                    SetAtomicAdd(float32)
                DataCopy(place, a, WIDTH)
                SetAtomicNone()
            SyncAll()

    return kernel


def hazards(plan):
    """Return whether each of (read against write, write against write) happens in a section."""
    found = set()
    for sections in zip(*plan, strict=True):
        for one, other in combinations(sections, 2):
            for (kind, start), (also, begin) in ((a, b) for a in one for b in other):
                if abs(start - begin) < WIDTH // 8 and (kind, also) not in (("r", "r"), ("a", "a")):
                    found.add("read" if "r" in (kind, also) else "write")
    return found


def shared(plan):
    """Return the datablocks that two blocks touch in the same section, for each such pair."""
    sections = [[{at + k for _, at in one for k in range(2)} for one in row] for row in plan]
    for touched in zip(*sections, strict=True):
        yield from (one & other for one, other in combinations(touched, 2))


@settings(max_examples=60, deadline=None)
@given(st.lists(SECTIONS, min_size=BLOCKS, max_size=BLOCKS))
def test_exactly_the_sections_that_meet_race(plan):
    size = max(map(len, plan))
    plan = [sections + [[]] * (size - len(sections)) for sections in plan]
    found = findings_of(body(plan), INPUTS, OUT, block_dim=BLOCKS, tools=("racecheck",))
    codes = {each.code for each in found}
    assert codes <= {f"racecheck:{kind}-inter-core" for kind in ("raw", "war", "waw")}
    said = {"write" if "waw" in code else "read" for code in codes}
    assert said == hazards(plan)
    for each in found:
        assert each.partner
        start, stop = each.bytes
        assert start % 32 == stop % 32 == 0 < stop - start
        assert any(set(range(start // 32, stop // 32)) <= both for both in shared(plan))
