"""`ascendsim tile`: try tilings before silicon; which is fastest, and what kills the rest."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Choices, Request, pairs
from ascendsim.cli.files import Outputs, svg_name, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, progress, warn
from ascendsim.errors import RequestError
from ascendsim.options import Options

MAX_VALUES = 1_000_000
WRITE_IT_AS = "write FIELD=a:b:step (b included) or FIELD=v1,v2,..."


@dataclass(frozen=True, slots=True)
class Points:
    """Which points, and who computes them."""

    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            metavar="FIELD=a:b:step|v1,v2,...",
            help="Values of a tiling field, of block_dim (cores available) or buffer_num; b is "
            "included (repeatable: all combinations).",
        ),
    ] = None
    scheduler: Annotated[
        str,
        typer.Option(metavar="local|tcp://HOST:PORT", help="Local processes, or a dask scheduler."),
    ] = "local"

    def axes(self) -> dict[str, list[Any]]:
        """Return the values by field."""
        axes: dict[str, list[Any]] = {}
        for word in self.sweep or ():
            name, values = parse_axis(word)
            if name in axes:
                raise RequestError(f"--sweep {word!r}: {name} is swept twice")
            axes[name] = values
        if not axes:
            raise RequestError(f"give what to sweep: --sweep, {WRITE_IT_AS}")
        return axes


@dataclass(frozen=True, slots=True)
class Results:
    """What to show and to write."""

    top: Annotated[int, typer.Option(metavar="K", help="How many of the fastest to show.")] = 10
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="Write every point as CSV.")
    ] = None
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE.svg", help="Draw time over the first swept field."),
    ] = None


@takes_groups
def tile(request: Request, points: Points, choices: Choices, results: Results, show: Show) -> None:
    """Try tilings of OP: time every point, rank them, name the constraint that kills the others."""
    shape, axes = request.size.asked(), points.axes()
    if shape is None:
        raise RequestError("give the shape: --n 1000 or --shape 7,3")
    if results.top < 1:
        raise RequestError(f"--top {results.top}: must be at least 1")
    options, op = choices.options(), request.kernel.load()
    with Outputs() as outputs:
        written = _reserved(outputs, results)
        found = _swept(request, op, shape, axes, options, points.scheduler)
        document = found.to_json(results.top)
        _write(written, results, document, found)
        outputs.commit()
    for warning in request.chip.beyond(found.soc):
        warn(warning)
    what_if = op.soc_warning(found.soc)
    if what_if:
        warn(f"what-if: {what_if}")
    show.result(document, lambda: readable(found, results.top))


def _swept(
    request: Request,
    op: Any,
    shape: tuple[int, ...],
    axes: dict[str, list[Any]],
    options: Options,
    scheduler: str,
) -> Any:
    from ascendsim.explore.sweep import sweep

    with progress(op.name) as tick:
        return sweep(
            op,
            shape,
            request.kernel.dtypes(op.definition),
            axes,
            **request.chip.checked(),
            attrs=request.kernel.attrs(op.definition),
            options=options,
            settings=pairs(request.split.tiling, "--tiling"),
            blocks=request.split.block_dim,
            scheduler=scheduler,
            progress=tick,
        )


def parse_axis(word: str) -> tuple[str, list[Any]]:
    """Return field and values of one `FIELD=a:b:step` or `FIELD=v1,v2,...`.

    Raises
    ------
    RequestError
        When it is neither, is empty or has too many values.
    """
    name, _, text = word.partition("=")
    name, text = name.strip(), text.strip()
    if not name or not text:
        raise RequestError(f"--sweep {word!r}: {WRITE_IT_AS}")
    if ":" not in text:
        return name, [_number(each, word) for each in text.split(",")]
    try:
        first, last, step = (int(each, 0) for each in text.split(":"))
    except ValueError as error:
        raise RequestError(f"--sweep {word!r}: {WRITE_IT_AS}") from error
    if step < 1 or last < first:
        raise RequestError(f"--sweep {word!r}: a:b:step needs a <= b and step >= 1")
    count = (last - first) // step + 1
    if count > MAX_VALUES:
        raise RequestError(f"--sweep {word!r}: {count} values; at most {MAX_VALUES}")
    return name, list(range(first, last + 1, step))


def _number(text: str, word: str) -> int | float:
    for kind in (lambda each: int(each, 0), float):
        try:
            return kind(text.strip())
        except ValueError:
            continue
    raise RequestError(f"--sweep {word!r}: {text!r} is no number; {WRITE_IT_AS}")


def _reserved(outputs: Outputs, results: Results) -> dict[str, Any]:
    written = {}
    if results.csv is not None:
        written["--csv"] = outputs.reserve(results.csv, "--csv")
    if results.plot is not None:
        written["--plot"] = outputs.reserve(svg_name(results.plot, "--plot"), "--plot")
    return written


def _write(written: dict[str, Any], results: Results, document: Any, found: Any) -> None:
    if "--csv" in written:
        rows = document["rows"]
        with (
            writing("--csv", results.csv),
            written["--csv"].open("w", encoding="utf-8", newline="") as file,
        ):
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    if "--plot" in written:
        from ascendsim.view.sweep_plot import sweep_svg

        title = f"{found.op} on {found.soc}"
        picture = sweep_svg(title, list(found.axes), document["rows"], document["shipped"])
        with writing("--plot", results.plot):
            written["--plot"].write_bytes(picture)


def readable(found: Any, top: int) -> str:
    """Return a sweep as text: the fastest points, the rejected ones by constraint."""
    from ascendsim.view import text

    ranked = found.ranked()
    frontier = {id(row) for row in found.pareto()}
    names = list(found.axes)
    columns = ("rank", *names, "aiv_us", "low", "high", "bound", "ub_used", "cores", "remarks")
    rows = [
        _cells(rank, row, names, _remarks(found, row, id(row) in frontier))
        for rank, row in enumerate(ranked, 1)
        if rank <= top or row.shipped
    ]
    if not any(row.shipped for row in ranked) and found.shipped.valid:
        rows.append(_cells("-", found.shipped, names, "shipped, not among the points"))
    valid = f"{len(ranked)} of {len(found.rows)} points are valid"
    tied = sum(found.within_error(row) for row in ranked)
    return text.joined(
        text.table(f"tilings of {found.op} on {found.soc}", columns, rows),
        f"{valid}; {tied} of them lie within the error of the fastest",
        _rejected(found, names),
    )


def _cells(rank: Any, row: Any, names: Sequence[str], remarks: str) -> list[Any]:
    fields = [row.fields.get(name) for name in names]
    times = [f"{value:.2f}" for value in (row.aiv_us, row.low, row.high)]
    return [rank, *fields, *times, row.bound, row.ub_used, row.cores, remarks]


def _remarks(found: Any, row: Any, on_frontier: bool) -> str:
    words = {
        "shipped": row.shipped,
        "within error": found.within_error(row) and row is not found.best()[0],
        "pareto": on_frontier,
    }
    return ", ".join(word for word, holds in words.items() if holds)


def _rejected(found: Any, names: Sequence[str]) -> str:
    """Return the rejected points by constraint, each with its first point as an example."""
    from ascendsim.view import text

    rows = []
    for constraint, dead in found.rejected().items():
        example = ", ".join(f"{name}={dead[0].fields[name]}" for name in names)
        rows.append([constraint, len(dead), example, dead[0].detail])
    columns = ("constraint", "points", "for example", "why")
    return text.table("rejected", columns, rows) if rows else ""
