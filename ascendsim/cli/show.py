"""What a command prints: its result on standard output, everything else on standard error.

A result is one JSON document (`--json`) or text made by `ascendsim.view.text`, written at once.
Progress and warnings go to standard error; without a terminal there, progress is plain lines.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Annotated, Any, TextIO

import typer

from ascendsim.errors import RequestError

Tick = Callable[[int, int], None]
_PLAIN_SECONDS = 5.0  # between two plain progress lines
_results: list[TextIO] = []  # where results go while standard output is something else


class ReaderGoneError(Exception):
    """The reader of standard output has left; not an OSError, which typer would answer itself."""


@dataclass(frozen=True, slots=True)
class Show:
    """How the result is shown."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False

    def result(self, document: Any, readable: Callable[[], str]) -> None:
        """Print `document` as JSON, or what `readable()` returns."""
        if self.json:
            print_json(document)
        else:
            print_text(readable())


def print_json(document: Any) -> None:
    """Write one JSON document; a number that JSON lacks (NaN, infinity) becomes null."""
    print_text(json.dumps(_plain(document), allow_nan=False))


def print_text(text: str) -> None:
    """Write `text` to standard output, ending in one line feed.

    Raises
    ------
    RequestError
        When it cannot be written (a full disk, say).
    ReaderGoneError
        When it is a pipe that nobody reads any more.
    """
    stream = _results[-1] if _results else sys.stdout
    try:
        stream.write(text.rstrip("\n") + "\n")
        stream.flush()
    except BrokenPipeError:
        raise ReaderGoneError from None
    except OSError as error:
        raise RequestError(f"standard output cannot be written: {error.strerror}") from error


@contextmanager
def only_results() -> Iterator[None]:
    """Keep standard output for results: what a kernel folder prints goes to standard error."""
    _results.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _results.pop()


def complain(text: str) -> None:
    """Write the one line that says what went wrong."""
    _line(f"ascendsim: error: {text}")


def warn(text: str) -> None:
    """Write one warning line."""
    _line(f"ascendsim: warning: {text}")


def note(text: str) -> None:
    """Write one line about what is going on."""
    _line(f"ascendsim: {text}")


@contextmanager
def progress(title: str) -> Iterator[Tick]:
    """Show how far a long job is: a bar on a terminal, else a plain line now and then."""
    if not sys.stderr.isatty():
        yield _plain_progress(title)
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    # standard output stays what it is: rich would send it to the bar's console
    with Progress(
        console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task(title, total=None)

        def tick(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield tick


def _plain_progress(title: str) -> Tick:
    last = time.monotonic()

    def tick(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PLAIN_SECONDS:
            last = now
            note(f"{title}: {done} of {total}")

    return tick


def _line(text: str) -> None:
    printable = "".join(c if c.isprintable() else " " for c in text)
    with suppress(OSError, ValueError):  # the exit code says the same
        print(" ".join(printable.split()), file=sys.stderr, flush=True)


def _plain(value: Any) -> Any:
    """Return `value` with only what JSON has: numpy numbers become Python's, tuples lists."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return int(value) if isinstance(value, int) else str(value)
