"""`ascendsim bench`: how fast the modes are, as ratios measured in one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import KERNELS
from ascendsim.cli.files import Outputs, svg_name, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, progress


@dataclass(frozen=True, slots=True)
class Measured:
    """What to measure, how long, and what to write."""

    ops: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OP]...", help="Kernels; default: all with a naive expression."),
    ] = None
    kernels: Annotated[list[str] | None, KERNELS] = None
    quick: Annotated[bool, typer.Option("--quick", help="Fewer, shorter rounds.")] = False
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.svg", help="Draw ratios and targets.")
    ] = None


@takes_groups
def bench(measured: Measured, show: Show) -> None:
    """Measure the modes against numpy, a C loop, memory and other simulators, in one run."""
    from ascendsim.explore.speed import bench as measure

    with Outputs() as outputs:
        path = None
        if measured.plot is not None:
            path = outputs.reserve(svg_name(measured.plot, "--plot"), "--plot")
        with progress("bench") as tick:
            found = measure(
                tuple(measured.ops or ()), measured.quick, tick, tuple(measured.kernels or ())
            )
        document = found.to_json()
        if path is not None:
            from ascendsim.view.bench_svg import bench_svg

            with writing("--plot", measured.plot):
                path.write_text(bench_svg(document), encoding="utf-8")
        outputs.commit()
    show.result(document, lambda: readable(document))


def readable(document: Mapping[str, Any]) -> str:
    """Return the rows as a table, and where they were measured."""
    from ascendsim.view import text

    rows = [
        (
            row["name"],
            _number(row["ratio"]),
            _number(row["median_ratio"]),
            _number(row["target"]),
            {True: "yes", False: "NO", None: ""}[row["ok"]],
            _times(row) or row["note"],
        )
        for row in document["rows"]
    ]
    columns = ("how many times faster", "ratio", "of medians", "target", "met", "best times")
    return text.joined(
        text.table("bench", columns, rows),
        text.facts("machine", document["machine"]),
        text.facts("versions", document["versions"]),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _times(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_short(each['best'])}" for name, each in row["seconds"].items())


def _short(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
