"""The commands of `ascendsim`, and what runs one command line.

Importing this loads typer and nothing of the simulator. Of the commands only the one that is asked
for is imported, and it imports what it needs.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from ascendsim.cli.guard import guarded, wants_json

#: in the order of the help: the module of each command, which is a function of that name in it
COMMANDS = {
    **{name: name for name in ("run", "tiling", "tile", "time", "step", "check", "museum")},
    **{name: name for name in ("mutate", "atlas", "bench", "compare", "capsule")},
    **dict.fromkeys(("ops", "soc", "isa"), "info"),
    "explain": "explain",
    **dict.fromkeys(("demo", "warmup"), "demo"),
}


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("ascendsim")
        except PackageNotFoundError:
            number = "unknown (not installed)"
        print(f"ascendsim {number}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the application: with the one command that is asked for, with all where none is."""
    asked = arguments[0] if arguments and arguments[0] in COMMANDS else None
    app = typer.Typer(
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Bit-accurate simulator of the Ascend NPU vector core: run a kernel, see its exact "
        "bits.",
    )
    app.callback(invoke_without_command=True)(_root)
    for name in COMMANDS if asked is None else (asked,):
        module = import_module(f"ascendsim.cli.{COMMANDS[name]}")
        app.command()(getattr(module, name))
    return app


def execute(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""

    def command() -> object:
        return app_for(arguments)(list(arguments), prog_name="ascendsim", standalone_mode=False)

    return guarded(command, wants_json(arguments))


def prepare_streams() -> None:
    """Give the process streams that can be printed to, whatever it was started with."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without box characters gets "?"
            stream.reconfigure(errors="replace")
