"""The profiler's CSV files, against the timeline."""

from __future__ import annotations

import csv

import pytest

from ascendsim.view.lanes import block_starts
from ascendsim.view.profile_csv import write_profile
from tests.timing.conftest import timed


def tables(timeline, folder):
    paths = folder / "u.csv", folder / "c.csv"
    write_profile(timeline, *paths)
    return [list(csv.DictReader(path.read_text("utf-8").splitlines())) for path in paths]


def test_one_row_per_block_in_order(timeline, tmp_path):
    for rows in tables(timeline, tmp_path):
        assert [int(row["block_id"]) for row in rows] == sorted(block_starts(timeline))
        assert {row["sub_block_id"] for row in rows} == {"vector0"}


def test_utilization(timeline, tmp_path):
    rows, _ = tables(timeline, tmp_path)
    assert list(rows[0])[:8] == [
        "block_id",
        "sub_block_id",
        "aiv_time(us)",
        "aiv_total_cycles",
        "aiv_vec_time(us)",
        "aiv_vec_ratio",
        "aiv_scalar_time(us)",
        "aiv_scalar_ratio",
    ]
    slowest = rows[timeline.launch.blocks[timeline.launch.slowest].stream.blocks[0]]
    for column, pipe in (("vec", "V"), ("scalar", "S"), ("mte2", "MTE2"), ("mte3", "MTE3")):
        time = float(slowest[f"aiv_{column}_time(us)"])
        busy = timeline.pipes[pipe]["busy_cycles"] / timeline.launch.rounds
        assert time == pytest.approx(busy / timeline.launch.soc.clock_mhz, abs=1e-5)
        ratio = float(slowest[f"aiv_{column}_ratio"])
        assert ratio == pytest.approx(time / float(slowest["aiv_time(us)"]), abs=1e-4)
    cycles = float(slowest["aiv_total_cycles"]) * timeline.launch.rounds
    assert cycles == pytest.approx(timeline.cycles, rel=0.02)


def test_conflicts_by_chip(tmp_path):
    _, rows = tables(timed("long"), tmp_path)
    assert float(rows[0]["aiv_vec_total_cflt_ratio"]) > 0
    assert rows[0]["aiv_vec_bankgroup_cflt_ratio"] == rows[0]["aiv_vec_total_cflt_ratio"]
    assert rows[0]["aiv_vec_resc_cflt_ratio"] == "NA"
    assert float(rows[0]["aiv_mte3_wait_ratio"]) > 0.5
    _, rows = tables(timed("double"), tmp_path)
    assert rows[0]["aiv_vec_bankgroup_cflt_ratio"] == "NA"
