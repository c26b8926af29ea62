"""`ascendsim run`: take inputs, tile them, run the kernel on the simulated chip, give the bits."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Choices, Request
from ascendsim.cli.files import Outputs, text_file, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.show import Show, progress, warn
from ascendsim.errors import RequestError
from ascendsim.options import Options

MODES = ("auto", "step", "replay", "fused")


@dataclass(frozen=True, slots=True)
class Data:
    """Where the inputs come from."""

    input: Annotated[
        str | None,
        typer.Option(metavar="in.npz", help="Arrays by name; 16-bit floats as raw bits in uint16."),
    ] = None
    random: Annotated[bool, typer.Option("--random", help="Random inputs (needs --n).")] = False
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of everything random.")] = 0

    def check(self) -> None:
        """Refuse what makes no sense together."""
        if self.random and self.input is not None:
            raise RequestError("--input and --random both give the inputs: choose one")
        if self.seed < 0:
            raise RequestError(f"--seed {self.seed}: must not be negative")
        if not self.random and self.input is None:
            raise RequestError("give the inputs: --input FILE.npz, or --random with --n or --shape")

    def arrays(self, request: Request, op: Any) -> dict[str, Any]:
        """Return the inputs of `op`, as asked for."""
        dtypes = op.definition.choose_dtypes(request.kernel.dtypes(op.definition))
        wanted = {name: dtypes[name] for name in op.definition.inputs}
        return _inputs(self, wanted, request.size.asked())


@dataclass(frozen=True, slots=True)
class Model:
    """Which choices of the model, and how to execute."""

    choices: Choices
    mode: Annotated[str, typer.Option(metavar="|".join(MODES), help="How to execute.")] = "auto"

    def options(self) -> Options:
        """Return the options; refuses an unknown mode too."""
        if self.mode not in MODES:
            raise RequestError(f"--mode {self.mode!r} is unknown; use one of {', '.join(MODES)}")
        return self.choices.options()


@dataclass(frozen=True, slots=True)
class Files:
    """What to write."""

    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="out.npz", help="Write the outputs as raw bits."),
    ] = None
    calls: Annotated[
        str | None,
        typer.Option(metavar="calls.jsonl[.gz]", help="Write one JSON object per call."),
    ] = None
    ub_images: Annotated[
        str | None,
        typer.Option(
            "--ub-images",
            metavar="DIR",
            help="Write core<k>.bin, the UB of each block at its end, replacing those of DIR.",
        ),
    ] = None


@takes_groups
def run(request: Request, data: Data, model: Model, files: Files, show: Show) -> None:
    """Run OP on a simulated chip; the outputs are exact to the bit where the rules are known."""
    data.check()
    options, op = model.options(), request.kernel.load()
    request.chip.checked()
    with Outputs() as outputs, ExitStack() as stack:
        sinks = _Sinks(outputs, files)
        stack.callback(sinks.abandon)
        arrays = data.arrays(request, op)
        made = request.tiled(op, {name: array.shape for name, array in arrays.items()})
        choices = {"mode": model.mode, "seed": data.seed, "options": options}
        done = _launched(op, arrays, made, sinks, choices)
        del arrays
        sinks.finish(done.outputs)
        outputs.commit()
    for warning in (*request.chip.beyond(made.soc), *done.warnings):
        warn(warning)
    document = done.to_json()
    show.result(document, lambda: readable(document))


def _launched(op: Any, arrays: Any, made: Any, sinks: _Sinks, choices: dict[str, Any]) -> Any:
    from ascendsim.api import launch

    with progress(op.name) as tick:
        return launch(
            op,
            arrays,
            made,
            call_sink=sinks.call,
            ub_sink=sinks.image,
            progress=tick,
            **choices,
        )


def _inputs(data: Data, wanted: Any, asked: tuple[int, ...] | None) -> dict[str, Any]:
    from ascendsim.cli.arrays import read_inputs
    from ascendsim.explore.inputs import random_inputs

    if data.input is None:
        if asked is None:
            raise RequestError("--random needs the size: --n 1000 or --shape 7,3")
        try:
            return random_inputs(wanted, asked, data.seed)
        except ValueError as error:
            raise RequestError(f"shape {asked}: {error}") from error
    arrays = read_inputs(data.input, wanted)
    first = next(iter(arrays.values()))
    agrees = asked in (None, first.shape) or asked == (first.size,)
    if not agrees:
        raise RequestError(
            f"--n or --shape says {asked}, the arrays of {data.input} have shape {first.shape}; "
            "leave the option away"
        )
    return arrays


class _Sinks:
    """The files of a run: the call log and the images grow with it, the outputs come at the end."""

    def __init__(self, outputs: Outputs, files: Files) -> None:
        self._outputs, self._files = outputs, files
        self._output_path: Path | None = None
        if files.output is not None:
            self._output_path = outputs.reserve(files.output, "--output")
        self._images: dict[int, Path] = {}
        self._log: ExitStack | None = None
        self.call: Callable[[dict[str, Any]], None] | None = None
        self.image: Callable[[int, Any], None] | None = None
        if files.ub_images is not None:
            self._directory = outputs.directory(files.ub_images, "--ub-images", images=True)
            self.image = self._write_image
        if files.calls is not None:  # last: from here on a file is open
            path = outputs.reserve(files.calls, "--calls")
            self._log = ExitStack()
            log = self._log.enter_context(text_file(path, files.calls.endswith(".gz")))
            self.call = self._logger(log)

    def finish(self, arrays: Any) -> None:
        """Complete the call log and write the outputs to the file reserved for them."""
        from ascendsim.cli.arrays import write_outputs

        if self._log is not None:
            with writing("--calls", self._files.calls):
                self._log.close()
        if self._output_path is not None:
            with writing("--output", self._files.output):
                write_outputs(self._output_path, arrays)

    def abandon(self) -> None:
        """Close what is open, after a failure whatever it was."""
        if self._log is not None:
            with suppress(OSError, ValueError):
                self._log.close()

    def _logger(self, log: Any) -> Callable[[dict[str, Any]], None]:
        encode = json.JSONEncoder(separators=(",", ":"), default=_number).encode

        def call(record: dict[str, Any]) -> None:
            with writing("--calls", self._files.calls):
                log.write(encode(record) + "\n")

        return call

    def _write_image(self, core: int, image: Any) -> None:
        name = str(self._directory / f"core{core}.bin")
        with writing("--ub-images", name):
            if core not in self._images:
                self._images[core] = self._outputs.reserve(name, "--ub-images")
            self._images[core].write_bytes(image)


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def readable(document: dict[str, Any]) -> str:
    """Return the result of a run as text."""
    from ascendsim.view import text

    evidence = document.get("evidence") or {}
    apart = ("warnings", "evidence", "tiling", "outputs")
    head = {key: value for key, value in document.items() if key not in apart}
    head["out_crc32"] = f"{document['out_crc32']:#010x}"
    rules = [
        (rule["grade"], rule["rule"], rule.get("instructions", ()), rule["text"])
        for rule in evidence.get("rules", ())
    ]
    return text.joined(
        text.facts(f"run of {document['op']}", head),
        text.facts("tiling", document["tiling"]),
        text.table(
            f"rules it stood on (weakest grade: {evidence.get('weakest', '-')})",
            ("grade", "rule", "instructions", "what it says"),
            rules,
        ),
    )
