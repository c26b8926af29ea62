"""Findings as values: counts instead of copies, bounded, raised on demand, kept with a run."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.errors import RequestError, SanitizerError
from ascendsim.observe.checks import CODES, TOOLS
from ascendsim.observe.checks.findings import MAX_FINDINGS, Findings
from ascendsim.record import Call, Instr, Where
from tests.checks.kit import DATA, OUT, N, findings_of, pipe_with
from tests.kit import gm


def instr(seq, where):
    return Instr(seq, 0, Call("Muls", PIPE_V, None, ()), None, (), (), where)


def lines_of(function):
    """Return a Where for each line of a function."""
    return {line: Where(function.__code__, at) for at, _, line in function.__code__.co_lines()}


@pytest.mark.parametrize("times", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_million_findings_at_one_line_are_one(times):
    found = Findings(TOOLS)
    (where, *_) = lines_of(instr).values()
    call = instr(7, where)
    found.add("racecheck:raw-inter-pipe", call, "said once", partner=call)
    tracemalloc.start()
    for more in range(1, times):
        found.add("racecheck:raw-inter-pipe", instr(7 + more, where), "said again", partner=call)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    (one,) = found.all()
    assert (one.count, one.message, one.seq) == (times, "said once", 7)
    assert grown < 100_000


def test_lines_without_end_are_bounded():
    found = Findings(TOOLS)
    for line in range(MAX_FINDINGS + 50):
        source = compile("\n" * line + "x", "generated", "exec")
        found.add("memcheck:leak", instr(line, Where(source, 2)), "leaks")
    assert len(found.all()) <= MAX_FINDINGS
    assert found.limits["checks-limit"].startswith("more than 2000 different findings")


def body(x, out):
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    DataCopy(a, gm(x), N)
    Muls(a, a, 2.0, N)  # races with the copy


def no_wait(x, out):
    WaitFlag(HardEvent.MTE2_V, 0)


def undefined(x, out):
    p = pipe_with(a=4 * N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopy(gm(out), p.a.Get(float32), N)


@pytest.mark.parametrize(
    ("kernel", "option", "error"),
    [
        (body, "race", SanitizerError),
        (undefined, "uninitialized", SanitizerError),
        (no_wait, "sync", asim.errors.QueueError),
    ],
)
def test_options_raise_what_is_reported_without_them(kernel, option, error):
    assert len(findings_of(kernel, DATA, OUT)) == 1
    with pytest.raises(error) as caught:
        findings_of(kernel, DATA, OUT, options={option: "raise"})
    assert caught.value.where[0].endswith("test_findings.py")


@pytest.mark.parametrize("tool", TOOLS)
def test_one_tool_finds_its_own_only(tool):
    def kernel(x, out):
        p = pipe_with(q=(TPosition.VECIN, 1, 4 * N))
        a = p.q.AllocTensor(float32)
        DataCopy(a, gm(x), N - 32)
        SetFlag(HardEvent.V_MTE3, 1)
        DataCopy(gm(out), a, N)

    found = findings_of(kernel, DATA, OUT, tools=(tool,))
    assert found
    assert {each.code.partition(":")[0] for each in found} == {tool}


def test_an_error_ends_the_launch_and_keeps_what_was_found_before():
    def kernel(x, out):
        p = pipe_with(a=4 * N)
        a = p.a.Get(float32)
        DataCopy(a, gm(x), N)
        Muls(a, a, 2.0, N)
        Muls(a, a, 2.0, N + 1)

    codes = [each.code for each in findings_of(kernel, DATA, OUT)]
    assert codes == ["racecheck:raw-inter-pipe", "memcheck:out-of-bounds"]


def test_a_run_has_its_findings_and_says_that_it_was_checked():
    op = asim.load("swish_grad")
    til = op.tiling((5,), "float32")
    ones = np.ones(5, np.float32)
    run = asim.launch(op, {"grad": ones, "x": ones}, til, checks=("memcheck", "racecheck"))
    assert run.checks == ("memcheck", "racecheck")
    assert {each.code for each in run.findings} == {"memcheck:gm-slack"}
    quiet = asim.launch(op, {"grad": ones, "x": ones}, til)
    assert (quiet.checks, quiet.findings) == ((), [])
    assert np.array_equal(run.out.view(np.uint32), quiet.out.view(np.uint32))
    assert "gm-slack" in run._repr_html_()


def test_a_saved_run_and_its_capsule_keep_them(tmp_path):
    op = asim.load("swish_grad")
    til, ones = op.tiling((5,), "float32"), np.ones(5, np.float32)
    run = asim.launch(op, {"grad": ones, "x": ones}, til, checks=TOOLS, record="bytes")
    run.save(tmp_path / "run.asim")
    run.save_capsule(tmp_path / "run.html")
    for name in ("run.asim", "run.html"):
        again = asim.open(tmp_path / name)
        assert (again.checks, again.findings) == (run.checks, run.findings)
    assert '"checked":true' in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_requests_that_make_no_sense():
    op = asim.load("add")
    ones, til = np.ones(64, np.float32), op.tiling((64,), "float32")
    with pytest.raises(RequestError, match="check 'races' is unknown; use some of memcheck"):
        asim.launch(op, {"x": ones, "y": ones}, til, checks=("races",))
    with pytest.raises(RequestError, match="data"):
        asim.launch(op, {"x": ones, "y": ones}, til, checks=TOOLS, execute=False)


def test_every_code_belongs_to_a_tool():
    assert {code.partition(":")[0] for code in CODES} == set(TOOLS)
