"""`ascendsim time`: what a launch takes on the chip, where it waits, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Choices, Request
from ascendsim.cli.files import Outputs, svg_name, text_file, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, warn
from ascendsim.errors import RequestError
from ascendsim.options import Options


@dataclass(frozen=True, slots=True)
class Variant:
    """Which variant of the kernel, and which choices of the model."""

    choices: Choices
    buffer_num: Annotated[
        int | None,
        typer.Option("--buffer-num", metavar="N", help="Replace BUFFER_NUM of op_kernel.py."),
    ] = None
    seed: Annotated[int, typer.Option(metavar="S", help="Has no effect on time.")] = 0

    def kernel(self, op: Any) -> Any:
        """Return `op` with the number of buffers that was asked for."""
        if self.buffer_num is None:
            return op
        if self.buffer_num < 1:
            raise RequestError(f"--buffer-num {self.buffer_num}: must be at least 1")
        return op.variant(constants={"BUFFER_NUM": self.buffer_num})


@dataclass(frozen=True, slots=True)
class Files:
    """What to write."""

    trace: Annotated[
        str | None,
        typer.Option(metavar="trace.json[.gz]", help="A trace for Perfetto or MindStudio Insight."),
    ] = None
    all_blocks: Annotated[
        bool,
        typer.Option("--all-blocks", help="Trace every block, not one of each kind."),
    ] = False
    profile_csv: Annotated[
        str | None,
        typer.Option(
            "--profile-csv",
            metavar="DIR",
            help="Write PipeUtilization.csv and ResourceConflictRatio.csv.",
        ),
    ] = None
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.svg", help="A picture of the slowest block.")
    ] = None

    @property
    def detailed(self) -> bool:
        """Whether slices have to know their instruction."""
        return self.trace is not None or self.plot is not None


@takes_groups
def time(request: Request, variant: Variant, files: Files, show: Show) -> None:
    """Predict the time of OP on the chip: pipes, stalls, bytes, conflicts, what limits it."""
    options = variant.choices.options()
    op = variant.kernel(request.kernel.load())
    request.chip.checked()
    shape = request.size.asked()
    if shape is None:
        raise RequestError("give the size: --n 1000000 or --shape 7,3")
    if files.all_blocks and files.trace is None:
        raise RequestError("--all-blocks goes with --trace FILE")
    with Outputs() as outputs:
        write = _writers(outputs, files)
        made = request.tiled(op, shape)
        timeline = _timed(op, made, options, files.detailed)
        for each in write:
            each(timeline, f"{op.name} {made.dtype} on {made.soc},")
        outputs.commit()
    left_out = [f"sync-time: {text}" for text in timeline.not_predicted]
    for warning in (*request.chip.beyond(made.soc), *_what_if(op, made), *left_out):
        warn(warning)
    document = timeline.to_json()
    title = f"time of {op.name} {made.dtype} on {made.soc} (predicted)"
    show.result(document, lambda: readable(title, document, timeline))


def _timed(op: Any, made: Any, options: Options, keep: bool) -> Any:
    from ascendsim.api import time as api_time

    return api_time(op, made, options=options, keep=keep)


def _what_if(op: Any, made: Any) -> list[str]:
    text = op.soc_warning(made.soc)
    return [f"what-if: {text}"] if text else []


def _writers(outputs: Outputs, files: Files) -> list[Callable[[Any, str], None]]:
    """Reserve the files before the work; return what writes each of them."""
    found: list[Callable[[Any, str], None]] = []
    if files.trace is not None:
        found.append(_trace_writer(outputs.reserve(files.trace, "--trace"), files))
    if files.profile_csv is not None:
        found.append(_csv_writer(outputs, files.profile_csv))
    if files.plot is not None:
        name = svg_name(files.plot, "--plot")
        found.append(_plot_writer(outputs.reserve(name, "--plot"), name))
    return found


def _trace_writer(path: Path, files: Files) -> Callable[[Any, str], None]:
    def write(timeline: Any, _: str) -> None:
        from ascendsim.view.chrome_trace import write_trace
        from ascendsim.view.lanes import block_starts

        blocks = sorted(block_starts(timeline)) if files.all_blocks else None
        zipped = str(files.trace).endswith(".gz")
        with writing("--trace", files.trace), text_file(path, zipped) as file:
            write_trace(timeline, file, blocks)

    return write


def _csv_writer(outputs: Outputs, name: str) -> Callable[[Any, str], None]:
    from ascendsim.view.profile_csv import NAMES, write_profile

    directory = outputs.directory(name, "--profile-csv")
    paths = [outputs.reserve(str(directory / file), "--profile-csv") for file in NAMES]

    def write(timeline: Any, _: str) -> None:
        with writing("--profile-csv", name):
            write_profile(timeline, *paths)

    return write


def _plot_writer(path: Path, name: str) -> Callable[[Any, str], None]:
    def write(timeline: Any, title: str) -> None:
        from ascendsim.view.timeline_svg import timeline_svg

        block = timeline.launch.blocks[timeline.launch.slowest].stream.blocks[0]
        with writing("--plot", name):
            path.write_text(timeline_svg(timeline, title, block), encoding="utf-8")

    return write


def readable(title: str, document: dict[str, Any], timeline: Any) -> str:
    """Return a timeline as text."""
    from ascendsim.view.time_text import time_text

    return time_text(title, document, timeline)
