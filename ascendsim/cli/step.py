"""`ascendsim step`: run OP once, then go through one block forwards and back, by commands.

Commands come from `--do "u name=Add; v xBuf 0"`, else from standard input, a line each: with a
prompt on a terminal, else as a script. A wrong command is one line on standard error and the
session goes on; one in `--do` makes the exit code 2. `--json` takes `--do` only.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Request
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.guard import BAD_REQUEST
from ascendsim.cli.run import Data, Model
from ascendsim.cli.show import Show, complain, print_text, progress, warn
from ascendsim.errors import AscendError, RequestError

_QUIT = ("q", "quit", "exit")


@dataclass(frozen=True, slots=True)
class Session:
    """Which block, and what to do there."""

    block: Annotated[int, typer.Option(metavar="K", help="The block to step through.")] = 0
    do: Annotated[
        str | None,
        typer.Option(
            "--do",
            metavar="'COMMAND; ...'",
            help="Do these commands and end, instead of reading standard input ("
            "which --json never does).",
        ),
    ] = None


@takes_groups
def step(request: Request, data: Data, model: Model, session: Session, show: Show) -> None:
    """Step through one block of OP: what stands in a buffer, who wrote it, and why."""
    data.check()
    if show.json and session.do is None:
        session = Session(session.block, "")
    run, warnings = _recorded(request, data, model, session.block)
    for warning in warnings:
        warn(warning)

    def other(block: int) -> Any:
        return _stepper(_recorded(request, data, model, block, "block ")[0], block)

    stage = Stage(session.block, _stepper(run, session.block), other)
    wrong, answers = _talk(stage, session.do, quiet=show.json)
    if show.json:
        from ascendsim.cli.verbs import where

        at = stage.at
        head = {"op": run.op, "dtype": run.dtype, "n": run.n, "soc": run.soc}
        place = {"block": stage.block, **where(at).document}
        state = {"queues": at.queues(), "buffers": [p._asdict() for p in at.buffers().values()]}
        held = {"registers": at.registers().to_json()}
        show.result({**head, **place, **state, **held, "answers": answers}, str)
    if wrong and session.do is not None:
        raise typer.Exit(BAD_REQUEST)


@dataclass(slots=True)
class Stage:
    """The block that is stepped through, and how to get at another one."""

    block: int
    at: Any
    other: Callable[[int], Any]

    def do(self, line: str) -> Any:
        """Do one command; `block K` goes to the start of another block."""
        from ascendsim.cli.verbs import do, where
        from ascendsim.cli.words import number

        name, *words = line.split()
        if name != "block":
            return do(self.at, line)
        if len(words) != 1:
            raise RequestError(f"{line!r}: write it as block K; this is block {self.block}")
        block = number(words[0], "a block")
        self.at = self.other(block)
        self.block = block
        stands = where(self.at)
        return stands._replace(document={"block": block, **stands.document})


def _recorded(
    request: Request, data: Data, model: Model, block: int, asked: str = "--block "
) -> tuple[Any, list[str]]:
    from ascendsim.api import launch

    options, op = model.options(), request.kernel.load()
    request.chip.checked()
    arrays = data.arrays(request, op)
    made = request.tiled(op, {name: array.shape for name, array in arrays.items()})
    if not 0 <= block < made.block_dim:
        raise RequestError(f"{asked}{block}: this launch has blocks 0..{made.block_dim - 1}")
    choices: dict[str, Any] = {"mode": model.mode, "seed": data.seed, "options": options}
    with progress(op.name) as tick:
        run = launch(op, arrays, made, record="bytes", blocks=[block], progress=tick, **choices)
    return run, [*request.chip.beyond(made.soc), *run.warnings]


def _stepper(run: Any, block: int) -> Any:
    if block in run.recordings:
        return run.stepper(block)
    import numpy as np

    from ascendsim.observe.recorder import BlockRecording
    from ascendsim.view.stepper import Stepper

    warn(f"block {block} made no call: there is nothing to step through")
    return Stepper(BlockRecording(np.empty(0, np.uint8), None))


def _talk(stage: Stage, script: str | None, quiet: bool) -> tuple[int, list[dict[str, Any]]]:
    """Do all commands; return how many were wrong, and the documents of all."""
    from ascendsim.cli.verbs import where

    def say(text: str) -> None:
        if not quiet:
            print_text(_coloured(text) if sys.stdout.isatty() else text)

    wrong, answers, last = 0, [], ""
    if script is None:
        say(where(stage.at).text)
    for line in _lines(stage, script):
        last = line.strip() or last
        if last in _QUIT:
            break
        if not last:
            continue
        try:
            answer = stage.do(last)
        except AscendError as error:
            complain(str(error))
            wrong += 1
            answers.append({"command": last, "error": str(error)})
        else:
            say(answer.text)
            answers.append({"command": last, **answer.document})
    return wrong, answers


def _lines(stage: Stage, script: str | None) -> Iterator[str]:
    """Yield the commands of `script`, else those of standard input up to its end."""
    if script is not None:
        yield from (word for word in script.split(";") if word.strip())
    elif sys.stdin is None:  # started without one
        return
    elif not sys.stdin.isatty():
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        yield from sys.stdin
    else:
        import readline  # noqa: F401  (input() gets a history from it)

        while True:
            try:
                here = f"{stage.at.position}/{len(stage.at)}> "
                yield input(here if sys.stdout.isatty() else "")
            except EOFError:
                print_text("")
                return


def _coloured(shown: str) -> str:
    from rich.highlighter import ReprHighlighter
    from rich.text import Text

    from ascendsim.view import text

    return text.rendered(ReprHighlighter()(Text.from_ansi(shown)))
