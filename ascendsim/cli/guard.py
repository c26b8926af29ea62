"""From what went wrong to an exit code and one line.

Exit codes: 0 done; 1 the operator or kernel says no, or a finding of severity error; 2 the request
is wrong; 70 a mistake of the simulator; 130 and 143 stopped by a signal. With `--json` the one JSON
document on standard output says the same as the line on standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ascendsim.cli.show import ReaderGoneError, complain, print_json
from ascendsim.errors import AscendError, RequestError, TilingError

REFUSED, BAD_REQUEST, INTERNAL, INTERRUPTED = 1, 2, 70, 130
_TERMINATED = 128 + signal.SIGTERM
_KERNEL_FILES = ("op_def.py", "op_host.py", "op_kernel.py", "op_api.py", "op_aclnn.py", "demo.py")

_HERE = os.path.dirname(__file__) + os.sep


class StoppedError(Exception):
    """A command was interrupted and has more to say of it than that."""


def guarded(command: Callable[[], Any], json: bool) -> int:
    """Run `command` and return its exit code; whatever it raises becomes one line."""
    with _unwinding_on_terminate() as terminated:
        try:
            result = command()
            code = result if isinstance(result, int) else 0
        except KeyboardInterrupt:
            code = INTERRUPTED
        except StoppedError as stopped:
            complain(str(stopped))
            return _TERMINATED if terminated else INTERRUPTED
        except ReaderGoneError:
            _flush_or_drop()
            return 0
        except SystemExit as error:
            if not isinstance(error.__context__, BrokenPipeError):
                return _reported(error, json)
            _flush_or_drop()  # the reader of a help page is gone
            return 0
        except BaseException as error:  # a kernel folder may raise anything
            return _reported(error, json)
        if code != INTERRUPTED:  # which is typer's answer to KeyboardInterrupt, too
            return code
        if terminated:
            return _TERMINATED
        complain("interrupted; no output file was written")
        return INTERRUPTED


def _reported(error: BaseException, json: bool) -> int:
    code, text = _told(error)
    complain(text)
    if os.environ.get("ASCENDSIM_DEBUG") == "1":
        traceback.print_exception(error)
    if json:
        with suppress(ReaderGoneError, RequestError):
            print_json(_document(error, code, text))
    _flush_or_drop()
    return code


def _told(error: BaseException) -> tuple[int, str]:
    """Return exit code and text of an error."""
    if isinstance(error, AscendError):
        return error.exit_code, str(error)
    if hasattr(error, "format_message"):  # typer's own: unknown option, missing argument ...
        return BAD_REQUEST, _usage(error)
    if isinstance(error, MemoryError):
        return BAD_REQUEST, "not enough memory for this request; ask for fewer elements"
    own = _kernel_line(error)
    if own is not None:
        return REFUSED, f"{own[0]}:{own[1]}: {named(error)}"
    return INTERNAL, (
        f"internal error, please report it: {named(error)} "
        "(ASCENDSIM_DEBUG=1 shows where it happened)"
    )


def named(error: BaseException) -> str:
    """Return the class of an error and its text, where it has one."""
    kind, text = type(error).__name__, str(error)
    return f"{kind}: {text}" if text else kind


def _document(error: BaseException, code: int, text: str) -> dict[str, Any]:
    if isinstance(error, TilingError):
        return {"status": "FAILED", "reason": error.reason}
    return {"error": " ".join(text.split()), "exit": code}


def _usage(error: Any) -> str:
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if context is not None:
        text = f"{text.rstrip('.')}; see '{context.command_path} --help'"
    return text


def _kernel_line(error: BaseException) -> tuple[str, int] | None:
    """Return file and line of a kernel folder where `error` was raised, if it was there."""
    if isinstance(error, SyntaxError) and os.path.basename(error.filename or "") in _KERNEL_FILES:
        return str(error.filename), error.lineno or 0
    trace = traceback.extract_tb(error.__traceback__)
    frames = [each for each in trace if not each.filename.startswith("<frozen ")]  # of exit()
    file = frames[-1].filename if frames else ""
    if os.path.basename(file) in _KERNEL_FILES and not file.startswith(_HERE):
        return file, frames[-1].lineno or 0
    return None


@contextmanager
def _unwinding_on_terminate() -> Iterator[list[int]]:
    """Let SIGTERM unwind like ctrl-c, so that no hidden output file stays behind.

    Not as SystemExit: a kernel that raises that is an error of the kernel.
    """
    terminated: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        terminated.append(number)
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread
        yield terminated
        return
    try:
        yield terminated
    finally:
        signal.signal(signal.SIGTERM, before)


def _flush_or_drop() -> None:
    """Send what is still buffered to nowhere when nobody can take it, so that exit is quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def wants_json(arguments: Sequence[str]) -> bool:
    """Say whether the command line asks for JSON, also when it cannot be parsed."""
    return "--json" in arguments
