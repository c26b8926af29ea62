"""The table of measured rows: complete, and every row is something that runs here."""

from __future__ import annotations

import math

import pytest

from ascendsim import soc as socs
from tests.timing.rows import (
    CASES,
    FITTED,
    LONG,
    QUANTITIES,
    ROWS,
    TOLERANCES,
    predict,
)

KERNELS = {name: case for name, case in CASES.items() if case.kind == "kernel"}


def test_tables_name_the_same_rows():
    assert {row.id for row in ROWS} == set(CASES)
    found = {(row.id, row.quantity) for row in ROWS}
    for table in (TOLERANCES, FITTED):
        assert {(name, q) for name, kinds in table.items() for q in kinds} <= found
    assert all(row.quantity in QUANTITIES and row.measured > 0 for row in ROWS)
    assert all(row.source and row.note for row in ROWS)


def test_fitted_facts_exist():
    for row in ROWS:
        assert set(row.fitted) <= socs.load(row.case.soc).facts().keys(), row.id


def test_error():
    row = next(row for row in ROWS if row.id == "M21" and row.quantity == "mte2_us")
    assert row.error(row.measured * 1.5) == pytest.approx(0.5)


@pytest.mark.parametrize("name", KERNELS)
def test_tiling(name):
    case = KERNELS[name]
    _, til = case.tiling()
    assert til.block_dim == case.cores
    assert til.origin.soc == case.soc


@pytest.mark.parametrize(
    ("name", "copies", "nbytes"),
    [
        ("M21", 49152, 128),
        ("M22", 768, 8192),
        ("M23", 48, 131072),
        ("M29", 36864, 128),
        ("M30", 576, 8192),
        ("M31", 36, 131072),
    ],
)
def test_copies_per_core(name, copies, nbytes):
    fields = KERNELS[name].tiling()[1].fields
    pieces = fields["coreRows"] / fields["bursts"] * fields["columns"] / fields["burstColumns"]
    assert (pieces, fields["slotBytes"]) == (copies, nbytes)


@pytest.mark.parametrize("name", ["M26", "M44"])
def test_a_slice_fits_into_l2_and_holds_whole_copies(name):
    case = KERNELS[name]
    fields = case.tiling()[1].fields
    assert fields["sliceColumns"] % fields["burstColumns"] == 0
    assert fields["coreRows"] % fields["bursts"] == 0
    whole = math.prod(case.shape) * 2
    assert whole / case.attrs["slices"] < socs.load(case.soc).l2_bytes < whole


@pytest.mark.parametrize("name", ["M02", "M03", "M05", "M06", "M08", "M10"])
def test_add_runs_the_published_tile(name):
    case = KERNELS[name]
    op, til = case.tiling()
    assert case.buffer_num == op.kernel_module.BUFFER_NUM
    assert til.fields["tileLength"] == case.attrs["tile"]


def _held(row):
    marks = [pytest.mark.slow] if row.id in LONG else []
    return pytest.param(row, id=f"{row.id}-{row.quantity}", marks=marks)


@pytest.mark.parametrize("row", [_held(row) for row in ROWS if row.tolerance is not None])
def test_prediction(row):
    """The rows that the model must meet, each within its own tolerance."""
    assert abs(row.error(predict(row))) <= row.tolerance


STUDY = {
    "ascend910b1": ("M02", "M03", "M05", "M06"),
    "ascend950": ("M08", "M10"),
}


@pytest.mark.slow
@pytest.mark.parametrize("soc", STUDY)
def test_the_published_add_study_keeps_its_order(soc):
    """Each step of the study made the kernel faster; it does so here too."""
    rows = [
        next(r for r in ROWS if r.id == name and r.quantity == "task_us") for name in STUDY[soc]
    ]
    measured = [row.measured for row in rows]
    predicted = [predict(row) for row in rows]
    assert measured == sorted(measured, reverse=True)
    assert predicted == sorted(predicted, reverse=True)
