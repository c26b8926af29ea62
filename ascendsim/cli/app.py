"""The commands of `ascendsim`, and what runs one command line.

Importing this loads typer and nothing of the simulator; a command imports what it needs.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from ascendsim.cli import (
    atlas,
    bench,
    capsule,
    check,
    compare,
    demo,
    explain,
    info,
    museum,
    mutate,
    run,
    step,
    tile,
    tiling,
)
from ascendsim.cli import time as timing
from ascendsim.cli.guard import guarded, wants_json

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Bit-accurate simulator of the Ascend NPU vector core: run a kernel, see its exact bits.",
)
for command in (
    run.run,
    tiling.tiling,
    tile.tile,
    timing.time,
    step.step,
    check.check,
    museum.museum,
    mutate.mutate,
    atlas.atlas,
    bench.bench,
    compare.compare,
    capsule.capsule,
    info.ops,
    info.soc,
    info.isa,
    explain.explain,
    demo.demo,
    demo.warmup,
):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("ascendsim")
        except PackageNotFoundError:
            number = "unknown (not installed)"
        print(f"ascendsim {number}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def execute(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    return guarded(
        lambda: app(list(arguments), prog_name="ascendsim", standalone_mode=False),
        wants_json(arguments),
    )


def prepare_streams() -> None:
    """Give the process streams that can be printed to, whatever it was started with."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without box characters gets "?"
            stream.reconfigure(errors="replace")
