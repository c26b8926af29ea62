"""`run.diff(other)`: where two runs part, by how much, and what follows of it."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError

SIXTH_UP, SIXTH_DOWN = 0x3E2AAAAB, 0x3E2AAAAA


def recorded(x, alpha=SIXTH_UP, name="hard_sigmoid_grad", **how):
    x = np.asarray(x, np.float32)
    op = asim.load(name)
    value = np.uint32(alpha).view(np.float32)
    attrs = {"alpha": value} if name == "hard_sigmoid_grad" else {}
    tiling = op.tiling(x.shape, "float32", **how, **attrs)
    return asim.launch(op, {"grad": np.ones_like(x), "x": x}, tiling, record="bytes")


def test_the_leak_at_minus_3_is_answered_by_one_diff():
    diff = recorded([-3.0], SIXTH_DOWN).diff(recorded([-3.0], SIXTH_UP))
    first = diff.first
    assert (first.name, first.block, first.lane, first.ulp) == ("Muls", 0, 0, 1)
    assert first.call == {"scalar": ("0x3e2aaaaa", "0x3e2aaaab")}
    assert first.bits == (0xBEFFFFFF, 0xBF000000)
    assert first.text.startswith("Muls(tmp, x, self.alpha")
    assert [step.name for step in diff.chain][:3] == ["Adds", "CompareScalar", "Select"]
    compared = diff.chain[1]
    assert (compared.bits, compared.ulp, compared.call) == ((1, 0), None, {})
    assert diff.chain[-1].name == "DataCopyPad"
    assert diff.chain[-1].bits == (SIXTH_DOWN, 0)
    assert "scalar 0x3e2aaaaa against 0x3e2aaaab" in str(diff)
    assert diff.parted == ""


def test_the_calls_behind_one_lane():
    x = np.linspace(-4, 4, 200, dtype=np.float32)
    x[7] = -3
    diff = recorded(x, SIXTH_DOWN).diff(recorded(x, SIXTH_UP))
    names = [step.name for step in diff.lane(7)]
    assert names == ["Muls", "Adds", "Muls", "CompareScalar", "Select", "Select"]
    assert diff.lane(0)[-1].name == "Muls"  # outside the range: both give 0


def test_equal_runs():
    diff = recorded([1.0, 2.0]).diff(recorded([1.0, 2.0]))
    assert (diff.first, diff.chain, str(diff)) == (None, (), "the runs are the same")


def test_other_data_differ_from_the_copy_in_on():
    diff = recorded([1.0, 2.0]).diff(recorded([1.0, 2.5]))
    assert (diff.first.name, diff.first.place) == ("DataCopyPad", "selfQueue[1]")
    assert diff.first.ulp == 1 << 21


def test_other_tilings_say_where_they_part():
    x = np.linspace(-4, 4, 3000, dtype=np.float32)
    diff = recorded(x, cores=1, ub=16384).diff(recorded(x, cores=1, ub=32768))
    assert diff.parted.startswith("the streams part in block 0 at [")


def test_wrong_requests():
    run = recorded([1.0])
    other = recorded([1.0], name="swish_grad")
    with pytest.raises(RequestError, match="same operator"):
        run.diff(other)
    run.recordings = {}
    with pytest.raises(RequestError, match='record="bytes"'):
        run.diff(other)
