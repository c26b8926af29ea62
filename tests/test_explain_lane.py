"""`run.explain_lane(index)`: one sentence that names the call and the class."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError
from ascendsim.numerics import enclosure as en
from ascendsim.view.exact_lane import FORMATS, computed
from ascendsim.view.lane_graph import Graph
from tests.planted import KINDS, planted


def recorded(name, x, grad=1.0, dtype=np.float32):
    x = np.asarray(x, np.float32).astype(dtype)
    op = asim.load(name)
    arrays = {"grad": np.full(x.shape, grad, dtype), "x": x}
    return asim.launch(op, arrays, op.tiling(x.shape, np.dtype(dtype).name), record="bytes")


def from_bits(*bits):
    return np.array(bits, np.uint32).view(np.float32)


def test_a_nan_that_gets_lost():
    found = recorded("hard_swish_grad", [np.nan]).explain_lane(0)
    assert (found.kind, found.name, found.bits) == ("nan", "Compare", 0)
    assert found.source.startswith("Compare(lessMask, x, upper, CMPMODE.LT")
    assert "the NaN is lost (nan)" in str(found)
    assert (found.actual, found.expected) == (0x3F800000, 0x7FC00000)


def test_an_exponential_that_overflows():
    found = recorded("swish_grad", [-89.0]).explain_lane(0)
    assert (found.kind, found.name, found.bits) == ("overflow", "Exp", 0x7F800000)
    assert found.source == "Exp(tmp0, tmp0, n)"
    assert (found.actual, found.expected) == (0x80000000, 0x82856569)


def test_a_rounding_that_turns_a_compare():
    found = recorded("hard_sigmoid_grad", from_bits(0x403FFFFF)).explain_lane(0)
    assert (found.kind, found.name, found.bits) == ("rounding", "Adds", 0x3F800000)
    assert found.source == "Adds(tmp, tmp, self.beta, currentNum)"
    assert "CompareScalar at line" in found.text
    assert "\n" not in str(found)


def test_a_literal_that_is_not_the_number_it_stands_for():
    found = recorded("hard_swish_grad", [1.0, 0.5, 0.3, -1.1, -2.0]).explain_lane(0)
    assert (found.kind, found.name) == ("literal", "Muls")
    assert "takes the literal 0x3eaaaaab, the definition has 1/3" in found.text


@pytest.mark.parametrize("name", ["hard_sigmoid_grad", "hard_swish_grad", "swish_grad"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_lane_is_answered(name, dtype):
    run = recorded(name, np.linspace(-9, 9, 40), dtype=np.dtype(dtype))
    for index in range(40):
        found = run.explain_lane(index)
        same = found.actual in (found.expected, found.expected ^ 0x8000_0000)
        assert (found.kind == "exact") == same or run.out[index] == 0
        assert (found.position < 0) == (found.kind in ("exact", "formula"))


@pytest.mark.parametrize("name", ["hard_sigmoid_grad", "hard_swish_grad", "swish_grad"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_graph_computed_as_the_machine_does_gives_the_stored_bits(name, dtype):
    x = [0.0, -0.0, 3.0, -3.0, 1e-8, 9.0, -89.0, 1e4, np.inf, -np.inf, np.nan, 0.3, -1.27]
    run = recorded(name, x, dtype=np.dtype(dtype))
    for index in range(len(x)):
        graph = Graph(run.recordings, "out", index)
        value = computed(graph, machine=True)
        fmt = FORMATS[graph.root.dtype.name]
        found = en.round_result(value, fmt, nan_ones=True)
        assert found == graph.root.bits == run.out.view(graph.root.dtype.bits)[index]


def test_wrong_requests():
    run = recorded("swish_grad", [1.0])
    with pytest.raises(RequestError, match=r"out has elements 0\.\.0, not 1"):
        run.explain_lane(1)
    with pytest.raises(RequestError, match="no output 'y'; there are out"):
        run.explain_lane(0, "y")
    run.recordings = {}
    with pytest.raises(RequestError, match='record="bytes"'):
        run.explain_lane(0)


def named(tmp_path, seed):
    """Return whether the planted fault of a random kernel is named; a sound kernel is exact."""
    made = planted(tmp_path, seed, KINDS[seed % len(KINDS)])
    assert made.sound.explain_lane(made.lane).kind == "exact"
    found = made.faulty.explain_lane(made.lane)
    line = made.line
    if line is None:
        line = made.faulty.diff(made.sound).lane(made.lane)[0].line
    return (found.kind, found.line) == (made.kind, line)


def test_planted_faults_are_named(tmp_path):
    assert sum(named(tmp_path, seed) for seed in range(20)) >= 19


@pytest.mark.slow
def test_planted_faults_are_named_in_200_kernels(tmp_path):
    assert sum(named(tmp_path, seed) for seed in range(200)) >= 190
