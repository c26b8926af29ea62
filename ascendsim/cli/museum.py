"""`ascendsim museum`: public bug reports as kernels, each broken and repaired."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ascendsim.cli.common import KERNELS
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show

_Words = list[str] | None


@takes_groups
def museum(
    case: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One case (default: all).")
    ] = None,
    *,
    kernels: Annotated[_Words, KERNELS] = None,
    show: Show,
) -> None:
    """Run public bug reports: the broken kernel must be caught, the repaired one be clean.

    The exit code is 1 when one is not as its case says.
    """
    from ascendsim.explore.museum import run_museum

    told = run_museum(case, tuple(kernels or ()))
    document = {"cases": [each.to_json() for each in told]}
    show.result(document, lambda: _one(told[0]) if case is not None else _table(told))
    if not all(each.caught and each.clean for each in told):
        raise typer.Exit(1)


def _table(told: list[Any]) -> str:
    from ascendsim.view import text

    rows = [
        (each.id, each.case.title, _yes(each.caught), each.case.caught_by, _yes(each.clean))
        for each in told
    ]
    return text.table("museum", ("case", "fault", "caught", "by", "repaired one clean"), rows)


def _one(told: Any) -> str:
    from ascendsim.view import text

    case = told.case
    values = {
        "report": f"{case.report} (evidence {case.evidence})",
        "reported": case.told,
        "chip": case.soc,
        "options": ", ".join(f"{name}={value}" for name, value in case.options.items()) or "-",
        "broken": f"{'caught' if told.caught else 'NOT caught'} by {case.caught_by}: {told.got}",
        "repaired": f"{'clean' if told.clean else 'NOT clean'}: {told.fixed}",
    }
    return text.facts(f"museum {told.id}: {case.title}", values)


def _yes(value: bool) -> str:
    return "yes" if value else "NO"
