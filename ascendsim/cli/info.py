"""`ascendsim ops`, `soc`, `isa`: what there is, with source and grade of each fact."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ascendsim.cli.common import KERNELS
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, progress, warn
from ascendsim.errors import AscendError, RequestError

NAME = typer.Argument(metavar="[NAME]", show_default=False)


@takes_groups
def ops(show: Show, kernels: Annotated[list[str] | None, KERNELS] = None) -> None:
    """List the operators that are found, with their types, chips, tensors and attributes."""
    from ascendsim.view import text

    definitions = [op.definition for op in found_ops(kernels)]
    rows = [definition.to_json() for definition in definitions]
    columns = ("name", "dtypes", "socs", "inputs", "outputs", "attrs")
    products = {definition.name: definition.products for definition in definitions}
    show.result(
        {
            "ops": [{column: row[column] for column in columns} for row in rows],
            "products": products,
        },
        lambda: text.joined(
            text.table("operators", columns, [_op_cells(row) for row in rows]),
            text.table("products", ("chip", "product", *products), _product_rows(products)),
        ),
    )


@takes_groups
def soc(show: Show, name: Annotated[str | None, NAME] = None) -> None:
    """Show the chips, or all facts of one: sizes, cores, rules and costs with their source."""
    from ascendsim.soc import NAMES, load

    chips = [load(name)] if name is not None else [load(each) for each in NAMES]
    document = {chip.name: chip.facts() for chip in chips}
    show.result(document, lambda: _soc_page(chips[0]) if name else _soc_overview(chips))


@takes_groups
def isa(
    show: Show,
    name: Annotated[str | None, NAME] = None,
    selftest: Annotated[
        bool,
        typer.Option(
            "--selftest", help="Run every listed name once per element type and chip it claims."
        ),
    ] = False,
) -> None:
    """List what kernels may use, or show the page of one instruction."""
    if selftest:
        _selftest(show, name)
        return
    from ascendsim import ascendc
    from ascendsim.view import isa_page, text

    if name is None:
        lists = {
            "apis": list(ascendc.APIS),
            "members": list(ascendc.MEMBERS),
            "types": list(ascendc.TYPES),
        }
        show.result(
            lists,
            lambda: text.joined(*(text.words(title, names) for title, names in lists.items())),
        )
        return
    page = isa_page.find(name)
    show.result(page.document(), lambda: text.page(page.markdown()))


def found_ops(kernels: list[str] | None) -> list[Any]:
    """Return the operators on the search path; one that cannot be loaded is a warning."""
    from ascendsim.host import find_ops, load

    found = []
    for folder in find_ops(kernels or ()).values():
        try:
            found.append(load(folder))
        except AscendError as error:
            warn(f"{folder.name} is left out: {error}")
    return found


def _selftest(show: Show, name: str | None) -> None:
    from ascendsim.explore.selftest import selftest
    from ascendsim.view import text

    with progress("selftest") as tick:
        rows = selftest(name, tick)
    if not rows:
        raise RequestError(f"{name!r} is no name of 'ascendsim isa'; run it without a name")
    failed = [row for row in rows if not row["ok"]]
    columns = ("name", "soc", "dtype", "ok", "error")
    show.result(
        {"tests": len(rows), "failed": len(failed), "rows": rows},
        lambda: text.joined(
            text.table("failed", columns, [[row[c] for c in columns] for row in failed])
            if failed
            else "",
            text.table("selftest", ("name", "runs", "failed"), _counted(rows)),
            f"{len(rows) - len(failed)} passed, {len(failed)} failed",
        ),
    )
    if failed:
        raise typer.Exit(1)


def _counted(rows: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    names = dict.fromkeys(row["name"] for row in rows)
    own = {name: [row for row in rows if row["name"] == name] for name in names}
    return [(name, len(own[name]), sum(not row["ok"] for row in own[name])) for name in names]


def _op_cells(row: dict[str, Any]) -> list[Any]:
    attrs = [f"{attr['name']}={attr['default']}" for attr in row["attrs"]]
    return [row["name"], row["dtypes"], row["socs"], row["inputs"], row["outputs"], attrs or None]


def _product_rows(products: dict[str, dict[str, str]]) -> list[list[str]]:
    from ascendsim.soc import NAMES, load

    return [
        [name, load(name).product, *(found[name] for found in products.values())] for name in NAMES
    ]


def _soc_overview(chips: list[Any]) -> str:
    from ascendsim.view import text

    columns = ("arch", "aiv_cores", "ub_bytes", "tiling_ub_bytes", "clock_mhz")
    rows = [[chip.name, *(chip.get(column) for column in columns)] for chip in chips]
    return text.joined(
        text.table("chips", ("name", *columns), rows),
        "'ascendsim soc NAME' shows all facts of one, with source and confidence.",
    )


def _soc_page(chip: Any) -> str:
    from ascendsim.view import text

    rows = [
        (field, fact["value"], fact["confidence"], fact["source"])
        for field, fact in chip.facts().items()
    ]
    return text.table(chip.name, ("fact", "value", "confidence", "source"), rows)
