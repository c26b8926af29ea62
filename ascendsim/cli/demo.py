"""`ascendsim demo` and `ascendsim warmup`: the main job in under a minute; compile ahead of use.

`demo.py` of a kernel folder sets `STEPS`, a list of functions. Each takes no argument, has the
title as the first line of its docstring and returns (columns, rows) or a list of dicts.
"""

from __future__ import annotations

import inspect
import time
from typing import Annotated, Any

import typer

from ascendsim.cli.common import KERNELS
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.info import found_ops
from ascendsim.cli.show import Show, note, print_text
from ascendsim.errors import RequestError

ONLY = typer.Argument(metavar="[OP]...", show_default=False)


@takes_groups
def demo(
    show: Show,
    ops: Annotated[list[str] | None, ONLY] = None,
    kernels: Annotated[list[str] | None, KERNELS] = None,
) -> None:
    """Run what each operator's demo shows: example data, special values, the exact bits."""
    from ascendsim.view import text

    begun = time.monotonic()
    chosen = _chosen(ops, kernels)
    steps = [(op, step) for op in chosen for step in _steps(op)]
    shown = []
    for index, (op, step) in enumerate(steps):
        title = _title(step)
        note(f"demo {index + 1} of {len(steps)}: {op.name}: {title}")
        columns, rows = _table(step(), op.folder / "demo.py", step)
        shown.append({"op": op.name, "title": title, "columns": columns, "rows": rows})
        if not show.json:
            print_text(text.table(f"{op.name}: {title}", columns, rows) + "\n")
    seconds = time.monotonic() - begun
    if show.json:
        show.result({"steps": shown, "seconds": seconds}, str)
    else:
        note(f"demo: {len(shown)} steps in {seconds:.1f} s")


@takes_groups
def warmup(show: Show) -> None:
    """Compile the instruction bodies ahead of use, into the compile cache."""
    from ascendsim.numerics import vexec

    begun = time.monotonic()
    vexec.warmup(lambda unit: note(f"warmup: {unit}"))
    seconds = time.monotonic() - begun
    show.result({"seconds": seconds}, lambda: f"warm after {seconds:.1f} s")


def _chosen(names: list[str] | None, kernels: list[str] | None) -> list[Any]:
    from ascendsim.host import load

    if names:
        found = [load(name, kernels=tuple(kernels or ())) for name in names]
        lacking = [op for op in found if op.demo is None]
        if lacking:
            raise RequestError(f"{lacking[0].name} has no demo.py in {lacking[0].folder}")
        return found
    return [op for op in found_ops(kernels) if op.demo is not None]


def _steps(op: Any) -> list[Any]:
    steps = getattr(op.demo, "STEPS", None)
    if not steps:
        raise RequestError(f"{op.folder / 'demo.py'} does not set STEPS = [functions]")
    return list(steps)


def _title(step: Any) -> str:
    lines = (inspect.getdoc(step) or step.__name__).splitlines() or [step.__name__]
    return lines[0].rstrip(".")


def _table(result: Any, file: Any, step: Any) -> tuple[list[str], list[list[Any]]]:
    try:
        if isinstance(result, tuple):
            columns, rows = result
            return list(columns), [list(row) for row in rows]
        columns = list(dict.fromkeys(key for row in result for key in row))
        return columns, [[row.get(column) for column in columns] for row in result]
    except (AttributeError, TypeError, ValueError) as error:
        raise RequestError(
            f"{file}: {step.__name__} gives {result!r}; (columns, rows) or dicts are needed"
        ) from error
