"""Published measurements, and what to run here to predict them.

`CASES` says how a measured row is expressed: a kernel with its attributes, one instruction, or a
bare launch. The numbers are in tests/data/measured_rows.json. `ROWS` joins the two: one `Row` per
measured quantity, with the tolerance that it has to meet (None: report only) and the facts of the
SoC file that were fitted on it. The prediction itself is `predict`, and nothing else here knows
how it is made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ascendsim as asim
import ascendsim.soc
from ascendsim.dtypes import dtype
from ascendsim.enums import REPEAT_BYTES

DATA = Path(__file__).parents[1] / "data" / "measured_rows.json"
GM_COPY = str(Path(__file__).parents[1] / "ports" / "gm_copy")
QUANTITIES = ("task_us", "aiv_us", "vec_us", "scalar_us", "mte2_us", "mte3_us", "cycles")


@dataclass(frozen=True, slots=True)
class Case:
    """What is run for one measured row.

    op : a kernel's name or folder; "" for a bare launch of `cores` blocks.
    instruction : the Ascend C name where one instruction is measured, on `shape` elements.
    buffer_num : buffers per queue; None leaves the kernel's own.
    ub : bytes of UB; None for the SoC's own.
    """

    soc: str
    cores: int = 1
    op: str = ""
    attrs: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float16"
    shape: tuple[int, ...] = ()
    buffer_num: int | None = None
    ub: int | None = None
    instruction: str = ""

    @property
    def kind(self) -> str:
        """`kernel`, `instruction` or `launch`."""
        return "kernel" if self.op else "instruction" if self.instruction else "launch"

    def tiling(self) -> tuple[Any, Any]:
        """Return the kernel with its buffer count, and its tiling."""
        op = asim.load(self.op)
        if self.buffer_num is not None:
            op = op.variant(constants={"BUFFER_NUM": self.buffer_num})
        request = {"soc": self.soc, "cores": self.cores, "ub": self.ub}
        return op, op.tiling(self.shape, self.dtype, **request, **self.attrs)


@dataclass(frozen=True, slots=True)
class Row:
    """One measured quantity of one published row."""

    id: str
    quantity: str
    measured: float
    case: Case
    tolerance: float | None = None
    fitted: tuple[str, ...] = ()
    note: str = ""
    source: str = ""

    def error(self, predicted: float) -> float:
        """Return the relative error of a prediction."""
        return predicted / self.measured - 1


def predict(row: Row) -> float:
    """Return this simulator's number for `row`, in the unit of `row.measured`."""
    case = row.case
    if case.kind == "kernel":
        return _of_timeline(timeline(row.id), row.quantity)
    soc = asim.soc.load(case.soc)
    if case.kind == "launch":
        return float(soc.launch_base_us + soc.launch_per_block_us * case.cores)
    cost = soc.ops[case.instruction].cost
    repeats = -(-case.shape[0] * dtype(case.dtype).nbytes // REPEAT_BYTES)
    return float(cost.fixed + cost.rate(case.dtype) * repeats)


@cache
def timeline(name: str) -> Any:
    """Return the timeline of a row's kernel."""
    op, tiling = CASES[name].tiling()
    return asim.time(op, tiling)


def _of_timeline(found: Any, quantity: str) -> float:
    if quantity in ("aiv_us", "task_us"):
        return float(getattr(found, quantity))
    pipe = {"vec_us": "V", "scalar_us": "S", "mte2_us": "MTE2", "mte3_us": "MTE3"}[quantity]
    return float(found.pipes[pipe]["busy_cycles"] / found.launch.soc.clock_mhz)


def _add(soc: str, cores: int, tile: int, buffer_num: int, l2: str = "allocate") -> Case:
    attrs = {"tile": tile, "l2": l2, "placement": "conflict"}
    return Case(soc, cores, "add", attrs, shape=(8192, 8192), buffer_num=buffer_num)


def _copy(soc: str, bursts: int, burst_bytes: int, **attrs: Any) -> Case:
    knobs = {"bursts": bursts, "burst_bytes": burst_bytes, **attrs}
    return Case(soc, CORES[soc], GM_COPY, knobs, shape=(12288, 12288))


def _read_all(soc: str, order: str, rows: int) -> Case:
    attrs = {"bursts": 16, "burst_bytes": 1024, "order": order, "l2": "bypass"}
    return Case(soc, CORES[soc], GM_COPY, attrs, shape=(rows, 512))


def _one(soc: str, instruction: str, dtype: str, n: int) -> Case:
    return Case(soc, instruction=instruction, dtype=dtype, shape=(n,))


A2, A5 = "ascend910b1", "ascend950"
CORES = {A2: 48, A5: 64}

CASES: Mapping[str, Case] = MappingProxyType(
    {
        "M02": _add(A2, 1, 4096, 1),
        "M03": _add(A2, 48, 4096, 1),
        "M05": _add(A2, 48, 16384, 2),
        "M06": _add(A2, 48, 16384, 2, "bypass-inputs"),
        "M08": _add(A5, 1, 4096, 1),
        "M10": _add(A5, 64, 21760, 1),
        "M21": _copy(A2, 1, 128),
        "M22": _copy(A2, 64, 128),
        "M23": _copy(A2, 64, 2048),
        # 12287 columns were measured; here they lie in a wider tensor, every row 2 bytes off
        "M24": _copy(A2, 64, 2048, unaligned=1),
        "M26": _copy(A2, 64, 2048, passes=4, slices=4),
        "M27": _read_all(A2, "same", 6144),
        "M28": _read_all(A2, "staggered", 6144),  # as M27: the rate is no L2 rate
        "M29": _copy(A5, 1, 128),
        "M30": _copy(A5, 64, 128),
        "M31": _copy(A5, 64, 2048),
        "M32": _copy(A5, 64, 2048, unaligned=1),
        "M33": _copy(A5, 64, 2048, passes=4),
        "M35": _read_all(A5, "same", 8192),  # the rate is that of HBM
        "M36": _read_all(A5, "staggered", 8192),
        "M43": _copy(A5, 64, 2048, passes=4),
        "M44": _copy(A5, 64, 2048, passes=4, slices=4),
        "M45": Case(A5, 1),
        "M46": Case(A5, 32),
        "M47": Case(A5, 64),
        "M48": Case(A5, 128),
        "M49": Case(A5, 1024),
        "M50": Case(A5, 1),
        "M51": Case(A5, 32),
        "M52": Case(A5, 64),
        "M53": Case(A5, 128),
        "M81": _one(A5, "Add", "float32", 4096),
        "M82": _one(A2, "Add", "float32", 4096),
        "M83": _one(A5, "Add", "float32", 8192),
        "M85": _one(A5, "Add", "float32", 16384),
        "M86": _one(A2, "Add", "float32", 16384),
        "M87": _one(A5, "Add", "float16", 8192),
        "M89": _one(A5, "Add", "float16", 32768),
        "M90": _one(A5, "Exp", "float32", 8192),
        "M91": _one(A5, "Exp", "float16", 16384),
        "M92": _one(A5, "Add", "float16", 16384),
    }
)

VECTOR, END, DMA, L2_DMA = 0.02, 0.10, 0.05, 0.10
TOLERANCES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "M02": {"vec_us": VECTOR, "aiv_us": END},
        "M03": {"vec_us": VECTOR, "aiv_us": END},
        "M05": {"vec_us": VECTOR, "aiv_us": END},
        "M06": {"vec_us": VECTOR, "aiv_us": END},
        "M08": {"vec_us": 0.10, "task_us": END},
        "M10": {"vec_us": VECTOR, "task_us": END},
        "M21": {"mte2_us": DMA},
        "M23": {"mte2_us": DMA},
        "M29": {"mte2_us": DMA},
        "M31": {"mte2_us": DMA},
        "M33": {"aiv_us": DMA},
        "M26": {"aiv_us": L2_DMA},
        "M43": {"aiv_us": L2_DMA},
        "M44": {"aiv_us": L2_DMA},
    }
)

# Facts of the SoC file that were fitted on a quantity: agreement there is no evidence.
FITTED: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "M02": {
            "vec_us": ("ops.Add.fixed",),
            "mte2_us": ("mte2_latency_cycles",),
            "mte3_us": ("mte3_bytes_per_cycle",),
            "task_us": ("launch_base_us",),
        },
        "M03": {
            "mte3_us": ("mte3_bytes_per_cycle",),
            "scalar_us": ("scalar_issue_cycles",),
            "task_us": ("launch_per_block_us",),
        },
        "M05": {"task_us": ("launch_per_block_us",), "aiv_us": ("hbm_write",)},
        "M06": {"task_us": ("launch_per_block_us",)},
        "M08": {"task_us": ("mte2_latency_cycles",)},
        "M10": {"task_us": ("hbm_write",)},
        "M21": {"mte2_us": ("dma_issue_cycles",)},
        "M22": {"mte2_us": ("dma_burst_cycles",)},
        "M23": {"mte2_us": ("hbm_read",)},
        "M24": {"mte2_us": ("gm_misaligned_slowdown",)},
        "M26": {"aiv_us": ("mte2_bytes_per_cycle", "l2_bandwidth_derived")},
        "M27": {"mte2_us": ("gm_same_line_slowdown",)},
        "M28": {"mte2_us": ("gm_same_line_slowdown",)},
        "M29": {"mte2_us": ("dma_issue_cycles",)},
        "M31": {"mte2_us": ("hbm_read",)},
        "M32": {"mte2_us": ("gm_misaligned_slowdown",)},
        "M35": {"mte2_us": ("gm_same_line_slowdown",)},
        "M36": {"mte2_us": ("gm_same_line_slowdown",)},
        **{f"M{k}": {"task_us": ("launch_base_us", "launch_per_block_us")} for k in range(45, 50)},
        **{f"M{k}": {"cycles": ("ops.Add.fixed", "ops.Add.per_repeat")} for k in (81, 83, 85)},
        "M90": {"cycles": ("ops.Exp.fixed", "ops.Exp.per_repeat")},
        "M91": {"cycles": ("ops.Exp.fixed", "ops.Exp.per_repeat")},
    }
)


# Facts that one single row determines.
SINGLE = ("gm_misaligned_slowdown", "gm_same_line_slowdown", "hbm_write", "dma_burst_cycles")


def _rows() -> tuple[Row, ...]:
    found = json.loads(DATA.read_text(encoding="utf-8"))
    return tuple(
        Row(
            id=name,
            quantity=quantity,
            measured=value,
            case=CASES[name],
            tolerance=TOLERANCES.get(name, {}).get(quantity),
            fitted=FITTED.get(name, {}).get(quantity, ()),
            note=entry["note"],
            source=found["sources"][entry["source"]],
        )
        for name, entry in found["rows"].items()
        for quantity, value in entry["measured"].items()
    )


ROWS = _rows()
LONG = ("M02", "M08", "M21", "M29")  # hundreds of thousands of records


def table(rows: Sequence[Row]) -> str:
    """Return the Markdown table of the README: predicted, measured, error, fitted on it."""
    lines = [
        "| row | what | measured | predicted | error | fitted on it |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        found = predict(row)
        fitted = ", ".join(f + (" (one row)" if f in SINGLE else "") for f in row.fitted) or "-"
        lines.append(
            f"| {row.id} | {row.note or row.case.op}: {row.quantity} | {row.measured:.2f} | "
            f"{found:.2f} | {row.error(found):+.1%} | {fitted} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(ROWS))
