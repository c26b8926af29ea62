"""`ascendsim check`: run a kernel with the checks reading along, and say what they found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Choices, Request
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.orders import Answers, Orders
from ascendsim.cli.run import Data
from ascendsim.cli.show import Show, progress, warn
from ascendsim.errors import RequestError

TOOLS = "memcheck,initcheck,racecheck,synccheck"
STOPPED = "stopped: "


@dataclass(frozen=True, slots=True)
class Tools:
    """Which checks run, and how strict they are."""

    tools: Annotated[
        str, typer.Option("--tools", metavar=TOOLS, help="Which checks run (default: all).")
    ] = TOOLS
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Report undefined reads, double writes and unused GM, too."),
    ] = False

    def names(self) -> tuple[str, ...]:
        """Return the names of the checks."""
        names = tuple(name.strip() for name in self.tools.split(",") if name.strip())
        if not names:
            raise RequestError(f"--tools {self.tools!r}: name some of {TOOLS}")
        return names


@takes_groups
def check(
    request: Request, data: Data, choices: Choices, tools: Tools, orders: Orders, show: Show
) -> None:
    """Check OP on the simulated chip: memory, undefined values, races, synchronisation.

    Without --input the data is random. The exit code is 1 when there are errors.
    """
    orders.check()
    run, subject = _checked(request, _data(data), choices, tools)
    answers = Answers()
    if (orders.schedules or orders.minimize_sync) and _stopped(run):
        warn("the kernel does not end, so no other orders of its calls were tried")
    else:
        answers = orders.answers(*subject)
    document = {"findings": [finding_json(each) for each in run.findings]} | answers.to_json()
    show.result(document, lambda: "\n".join([_readable(run, subject[1]), *answers.texts()]))
    if answers.wrong or any(each.severity == "error" for each in run.findings):
        raise typer.Exit(1)


def finding_json(finding: Any) -> dict[str, Any]:
    """Return a finding as the document has it."""
    where = finding.where
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "core": finding.core,
        "seq": finding.seq,
        "other_seq": finding.other_seq,
        "where": None if where is None else {"file": where[0], "line": where[1]},
        "bytes": None if finding.bytes is None else list(finding.bytes),
        "count": finding.count,
        "instruction": finding.instruction,
        "partner": finding.partner,
        "memory": finding.memory,
        "way_out": finding.way_out,
        "buffer": finding.buffer,
    }


def _data(data: Data) -> Data:
    """Return where the inputs come from: random ones when nothing is said."""
    return data if data.input is not None else replace(data, random=True)


def _checked(request: Request, data: Data, choices: Choices, tools: Tools) -> Any:
    """Return the run with its findings, and what ran: op, arrays, tiling, seed, options.

    Warnings of the launch go to standard error.
    """
    from ascendsim.api import launch

    data.check()
    options, names = choices.options(), tools.names()
    op = request.kernel.load()
    request.chip.checked()
    arrays = data.arrays(request, op)
    made = request.tiled(op, {name: array.shape for name, array in arrays.items()})
    with progress(op.name) as tick:
        run = launch(
            op, arrays, made, checks=names, strict=tools.strict, seed=data.seed,
            options=options, progress=tick,
        )  # fmt: skip
    for warning in (*request.chip.beyond(made.soc), *run.warnings):
        if not warning.startswith(STOPPED):  # the finding says it
            warn(warning)
    return run, (op, arrays, made, data.seed, options)


def _stopped(run: Any) -> bool:
    return any(text.startswith(STOPPED) for text in run.warnings)


def _readable(run: Any, arrays: dict[str, Any]) -> str:
    from ascendsim.view.findings import findings_text

    shape = next((array.shape for array in arrays.values()), None)
    return findings_text(run, shape, _stopped(run))
