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
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ascendsim.cli.show import ReaderGoneError, complain, print_json
from ascendsim.errors import AscendError, RequestError, TilingError

REFUSED, BAD_REQUEST, INTERNAL, INTERRUPTED = 1, 2, 70, 130
_TERMINATED = 128 + signal.SIGTERM
_KERNEL_FILES = ("op_def.py", "op_host.py", "op_kernel.py", "op_api.py", "op_aclnn.py", "demo.py")


def guarded(command: Callable[[], Any], json: bool) -> int:
    """Run `command` and return its exit code; whatever it raises becomes one line."""
    signal_before = _exit_on_terminate()
    try:
        result = command()
        code = result if isinstance(result, int) else 0
        if code == INTERRUPTED:  # typer's answer to ctrl-c
            complain("interrupted; no output file was written")
        return code
    except KeyboardInterrupt:
        complain("interrupted; no output file was written")
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else REFUSED
    except ReaderGoneError:
        _flush_or_drop()
        return 0
    except Exception as error:
        return _reported(error, json)
    finally:
        if signal_before is not None:
            signal.signal(signal.SIGTERM, signal_before)


def _reported(error: Exception, json: bool) -> int:
    code, text = _told(error)
    complain(text)
    if os.environ.get("ASCENDSIM_DEBUG") == "1":
        traceback.print_exception(error)
    if json:
        with suppress(ReaderGoneError, RequestError):
            print_json(_document(error, code, text))
    _flush_or_drop()
    return code


def _told(error: Exception) -> tuple[int, str]:
    """Return exit code and text of an error."""
    if isinstance(error, AscendError):
        return error.exit_code, str(error)
    if hasattr(error, "format_message"):  # typer's own: unknown option, missing argument ...
        return BAD_REQUEST, _usage(error)
    if isinstance(error, MemoryError):
        return BAD_REQUEST, "not enough memory for this request; ask for fewer elements"
    kind = type(error).__name__
    own = _kernel_line(error)
    if own is not None:
        return REFUSED, f"{own[0]}:{own[1]}: {kind}: {error}"
    return INTERNAL, (
        f"internal error, please report it: {kind}: {error} "
        "(ASCENDSIM_DEBUG=1 shows where it happened)"
    )


def _document(error: Exception, code: int, text: str) -> dict[str, Any]:
    if isinstance(error, TilingError):
        return {"status": "FAILED", "reason": error.reason}
    return {"error": " ".join(text.split()), "exit": code}


def _usage(error: Any) -> str:
    text = error.format_message()
    context = getattr(error, "ctx", None)
    if context is not None:
        text = f"{text.rstrip('.')}; see '{context.command_path} --help'"
    return text


def _kernel_line(error: Exception) -> tuple[str, int] | None:
    """Return file and line of a kernel folder where `error` was raised, if it was there."""
    if isinstance(error, SyntaxError) and os.path.basename(error.filename or "") in _KERNEL_FILES:
        return str(error.filename), error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    if frames and os.path.basename(frames[-1].filename) in _KERNEL_FILES:
        return frames[-1].filename, frames[-1].lineno or 0
    return None


def _exit_on_terminate() -> Any:
    """Let SIGTERM unwind like any exit, so that no hidden output file stays behind."""

    def stop(_number: int, _frame: Any) -> None:
        raise SystemExit(_TERMINATED)

    try:
        return signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread
        return None


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
