"""A timeline as the CSV files of the vendor's profiler: one row per block.

PipeUtilization.csv and ResourceConflictRatio.csv have the columns that `msprof op` writes for a
vector core, in its order, and "NA" where the model has no such number. Times are those of the block
alone, without its wait for a core; ratios are of its own cycles, and may sum above 1.
Source of the columns: the tool's manual (hiascend.com, atlasopdev_16_0100).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from ascendsim.observe.timeline import Timeline
from ascendsim.observe.timeline.schedule import State
from ascendsim.observe.timeline.steps import PIPE_NAMES
from ascendsim.view.lanes import block_states

NAMES = ("PipeUtilization.csv", "ResourceConflictRatio.csv")
PIPES = {"vec": "V", "scalar": "S", "mte2": "MTE2", "mte3": "MTE3"}  # in the tool's order
UNKNOWN = "NA"

HEAD = ("block_id", "sub_block_id", "aiv_time(us)", "aiv_total_cycles")
UTILIZATION = (*HEAD, *(f"aiv_{p}_{what}" for p in PIPES for what in ("time(us)", "ratio")))
CONFLICTS = (
    *HEAD,
    "aiv_vec_total_cflt_ratio",
    "aiv_vec_bankgroup_cflt_ratio",
    "aiv_vec_bank_cflt_ratio",
    "aiv_vec_resc_cflt_ratio",
    "aiv_vec_mte_cflt_ratio",
    "aiv_vec_wait_ratio",
    "aiv_mte2_wait_ratio",
    "aiv_mte3_wait_ratio",
)


def write_profile(timeline: Timeline, utilization: Path, conflicts: Path) -> None:
    """Write the two files."""
    tables = (
        (utilization, UTILIZATION, utilization_rows(timeline)),
        (conflicts, CONFLICTS, conflict_rows(timeline)),
    )
    for path, columns, rows in tables:
        with path.open("w", newline="", encoding="utf-8") as file:
            _write(file, columns, rows)


def utilization_rows(timeline: Timeline) -> list[dict[str, Any]]:
    """Return one row per block: the time of each pipe and its share of the block's time."""
    rows = []
    for head, _, state in _blocks(timeline):
        row = dict(head)
        for column, pipe in PIPES.items():
            busy = state.busy[PIPE_NAMES.index(pipe)]
            row[f"aiv_{column}_time(us)"] = _rounded(busy / timeline.launch.soc.clock_mhz)
            row[f"aiv_{column}_ratio"] = _share(busy, state)
        rows.append(row)
    return rows


def conflict_rows(timeline: Timeline) -> list[dict[str, Any]]:
    """Return one row per block: what the vector pipe lost to bank conflicts, and who waited.

    On 910B-class all modelled conflicts are those of bank groups; on 950 banks and groups count
    together.
    """
    rows = []
    by_group = timeline.launch.soc.arch != "3510"
    for head, number, state in _blocks(timeline):
        time = timeline.launch.blocks[number]
        lost = _share(sum(time.works[work].conflict for work in time.index), state)
        row = head | dict.fromkeys(CONFLICTS[len(HEAD) :], UNKNOWN)
        row["aiv_vec_total_cflt_ratio"] = lost
        row["aiv_vec_bankgroup_cflt_ratio"] = lost if by_group else UNKNOWN
        for column in ("vec", "mte2", "mte3"):
            pipe = PIPE_NAMES.index(PIPES[column])
            waited = sum(cycles for (who, _), cycles in state.stalls.items() if who == pipe)
            row[f"aiv_{column}_wait_ratio"] = _share(waited, state)
        rows.append(row)
    return rows


def _blocks(timeline: Timeline) -> Iterator[tuple[dict[str, Any], int, State]]:
    """Give (the leading columns, class, end state) of every block in order."""
    states = block_states(timeline)
    classes = {
        block: number
        for number, time in enumerate(timeline.launch.blocks)
        for block in time.stream.blocks
    }
    for block in sorted(classes):
        state = states[classes[block]]
        microseconds = _rounded(state.end / timeline.launch.soc.clock_mhz)
        values = (block, "vector0", microseconds, round(state.end))
        yield dict(zip(HEAD, values, strict=True)), classes[block], state


def _share(cycles: float, state: State) -> float:
    return _rounded(cycles / state.end) if state.end else 0.0


def _rounded(value: float) -> float:
    return round(value, 6)


def _write(file: TextIO, columns: Iterable[str], rows: Iterable[dict[str, Any]]) -> None:
    writer = csv.DictWriter(file, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
