"""`ascendsim mutate`: faults put into a kernel, one at a time, and who notices."""

from __future__ import annotations

from typing import Annotated

import typer

from ascendsim.cli.common import KERNELS, LIST, OP, Size, list_counts
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, progress

_KIND = typer.Option(
    "--kind",
    metavar="NAME",
    help="Only this class of faults (repeatable): drop-sync, compare-mode, round-mode, "
    "aligned-count, select-arms, exact-constant, off-by-one-tile.",
)


@takes_groups
def mutate(
    op: Annotated[str, OP],
    *,
    kernels: Annotated[list[str] | None, KERNELS] = None,
    kind: Annotated[list[str] | None, _KIND] = None,
    lists: Annotated[list[str] | None, LIST] = None,
    size: Size,
    soc: Annotated[
        str | None, typer.Option(metavar="NAME", help="Chip of the seeded inputs' runs.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", help="Mutants judged at once (default: CPUs)."),
    ] = None,
    show: Show,
) -> None:
    """Put faults into copies of OP and say which its own tests notice, or the checks, or nobody.

    A shape is that of the seeded inputs; without one a small shape of several tiles is found.
    """
    from ascendsim.explore.mutate import mutate as mutated

    with progress(op) as tick:
        found = mutated(
            op,
            kinds=kind or (),
            soc=soc,
            shape=size.asked(),
            jobs=jobs,
            kernels=tuple(kernels or ()),
            lists=list_counts(lists),
            progress=tick,
        )
    show.result(found.to_json(), lambda: str(found))
