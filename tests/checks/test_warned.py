"""What instructions warn of while they are bound is a finding, each time they run."""

from __future__ import annotations

import pytest

from ascendsim import Options
from ascendsim.ascendc import *
from ascendsim.errors import AscendError, ContractError, QueueError, RepeatError
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import CODES, TOOLS, Checks
from ascendsim.observe.checks.findings import Findings
from tests.checks.kit import (
    BOTH,
    DATA,
    FULL,
    OUT,
    PAIR,
    N,
    buffers,
    faults,
    findings_of,
    pipe_with,
    verify,
)
from tests.kit import gm, make_job

TABLE, fault = faults()


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    found = verify(each)
    overlaps = each.code == "memcheck:overlap"
    assert found.severity == ("error" if overlaps else "warning")
    assert found.way_out == (CODES[each.code].way_out or CODES[each.code].otherwise)
    assert found.instruction in ("Muls", "Add", "WholeReduceMax", "CompareScalar", "Rsqrt")


@fault("memcheck:overlap", BOTH)
def shifted_by_a_block(k, x, out):
    t, u = buffers()
    Duplicate(t, 1.0, N)
    Duplicate(u, 1.0, N)
    into = t[8:] if k.broken else u[8:]
    if k.form == "count":
        Muls(into, t, 2.0, N - 8)  # fault
    else:
        Muls(into, t, 2.0, 64, 1, FULL)  # fault


@fault("memcheck:mask-lanes")
def mask_of_65_lanes(k, x, out):
    t, u = buffers()
    Duplicate(t, 1.0, N)
    Add(u, t, t, 64 + k.broken, 2, PAIR)  # fault


@fault("memcheck:overlap")
def a_reduction_over_later_repeats(k, x, out):
    p = pipe_with(a=8 * 4 * 64, r=32 * 8)
    a, r = p.a.Get(float32), p.r.Get(float32)
    Duplicate(a, 1.0, 512)
    WholeReduceMax(a[64:] if k.broken else r, a, 64, 8, 1, 1, 8)  # fault


@fault("memcheck:compare-count")
def compare_inside_a_window(k, x, out):
    p = pipe_with(a=4 * N, m=32)
    a = p.a.Get(float32)
    Duplicate(a, 1.0, N)
    CompareScalar(p.m.Get(uint8_t), a, 0.0, CMPMODE.GT, N - 32 * k.broken)  # fault


@fault("memcheck:empty-call", request={"soc": "ascend950"})
def nothing_to_do(k, x, out):
    t, u = buffers()
    Duplicate(t, 1.0, N)
    Muls(u, t, 2.0, 0 if k.broken else N)  # fault


@fault("memcheck:model-bits", BOTH)
def a_table_of_the_chip(k, x, out):
    t, u = buffers()
    Duplicate(t, 4.0, N)
    if not k.broken:
        Sqrt(u, t, N)
    elif k.form == "count":
        Rsqrt(u, t, N)  # fault
    else:
        Rsqrt(u, t, 64, 2, FULL)  # fault


def shifting(x, out):
    t, _ = buffers()
    Duplicate(t, 1.0, N)
    for _ in range(3):
        Muls(t[8:], t, 2.0, N - 8)
    Muls(t[8:], t, 2.0, N - 8)


def test_each_line_has_its_finding_its_bytes_and_its_count():
    once, twice = findings_of(shifting, DATA, OUT, block_dim=2), findings_of(shifting, DATA, OUT)
    assert [(each.code, each.count) for each in once] == [("memcheck:overlap", c) for c in (6, 2)]
    assert [each.count for each in twice] == [3, 1]
    assert [each.bytes for each in once] == [(32, 480)] * 2
    assert once[0].where[1] + 1 == once[1].where[1]
    assert once[0].buffer == "a"


def test_without_memcheck_the_launch_warns():
    def warned(tools):
        checks = Checks(tools, Options(), defined=("x",))
        run = launch(make_job(shifting, DATA, OUT), Readers(checks=checks))
        return [text.partition(":")[0] for text in run.warnings]

    for _ in range(2):  # calls of the first launch serve the second
        assert "overlap" in warned(("initcheck",))
        assert "overlap" not in warned(TOOLS)


def partly(x, out):
    p = pipe_with(q=(TPosition.VECOUT, 1, 4 * N))
    into = GlobalTensor(float32)
    into.SetGlobalBuffer(out)
    a = p.q.AllocTensor(float32)
    Duplicate(a, 1.0, N)
    p.q.EnQue(a)
    a = p.q.DeQue(float32)
    DataCopy(into[8:], a, 16)
    DataCopy(into[64:], a, N - 72)
    p.q.FreeTensor(a)


@pytest.mark.parametrize("strict", [False, True])
def test_an_output_that_is_not_written_whole(strict):
    checks = Checks(("memcheck",), Options(), strict=strict, defined=("x",), outputs=("out",))
    run = launch(make_job(partly, DATA, OUT), Readers(checks=checks))
    (found,) = checks.all()
    assert (found.code, found.severity) == ("memcheck:unused-memory", "warning")
    assert found.message.startswith(f"{4 * (8 + 40 + 8)} of the 512 bytes of output out ")
    assert (found.memory, found.bytes, found.instruction) == ("out", (0, 512), "SetGlobalBuffer")
    assert not [text for text in run.warnings if text.startswith("coverage")]


def test_a_run_that_stops_says_nothing_of_what_it_did_not_reach():
    def body(x, out):
        GlobalTensor(float32).SetGlobalBuffer(x)
        GlobalTensor(float32).SetGlobalBuffer(out)
        t, _ = buffers()
        Duplicate(t, 1.0, N + 8)

    checks = Checks(TOOLS, Options(), strict=True, defined=("x",), outputs=("out",))
    run = launch(make_job(body, DATA, OUT), Readers(checks=checks))
    assert [each.code for each in checks.all()] == ["memcheck:out-of-bounds"]
    assert [text.partition(":")[0] for text in run.warnings] == ["stopped"]


@pytest.mark.parametrize("pads", [False, True])
def test_the_way_out_of_slack_fits_the_copy(pads):
    def body(x, out):
        p = pipe_with(b=4 * N)
        if pads:
            DataCopyPad(gm(out), p.b.Get(float32), DataCopyParams(1, 4 * (N - 2), 0, 0))
        else:
            DataCopy(gm(out), p.b.Get(float32), N)

    (found,) = findings_of(body, DATA, {"out": ((N - 3,), "float32")}, tools=("memcheck",))
    assert (found.code, found.severity) == ("memcheck:gm-slack", "warning")
    assert ("offset or length" in found.way_out) == pads
    assert ("DataCopyPad" in found.way_out) != pads


def test_a_call_counts_once_however_many_operands_are_wrong():
    def body(x, out):
        p = pipe_with(a=4 * N, b=4 * N, c=8 * N, d=8 * N)
        a, b, c = p.a.Get(float32), p.b.Get(float32), p.c.Get(float32)
        Duplicate(c, 1.0, 2 * N)
        Duplicate(p.d.Get(float32), 1.0, 2 * N)
        for _ in range(8):
            Muls(b, a, 2.0, N + 8)
            Add(a, c, c, N + 8)

    options = {"out_of_bounds": "report"}
    found = findings_of(body, DATA, OUT, tools=("memcheck",), options=options)
    counts = {(each.instruction, each.count) for each in found}
    assert counts == {("Muls", 8), ("Add", 8)}


@pytest.mark.parametrize("kind", [ContractError, RepeatError, QueueError])
def test_an_error_without_advice_has_a_way_out_all_the_same(kind):
    found = Findings(TOOLS)
    found.add_error(kind("Muls: what was given does not fit"), (0, 1), None)
    found.add_error(_at(kind("Muls: it does not fit; do this")), (0, 2), None)
    plain, advised = found.all()
    assert plain.way_out == CODES[plain.code].otherwise
    assert "explain" not in plain.way_out
    assert (advised.message, advised.way_out) == ("Muls: it does not fit", "do this")


def _at(error: AscendError) -> AscendError:
    error.where = ("elsewhere.py", 1)
    return error


def test_every_code_has_a_way_out():
    assert [code for code, each in CODES.items() if not (each.way_out or each.otherwise)] == []
