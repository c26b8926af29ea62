"""The command line `ascendsim`; `app.py` has the commands, each a few lines over the API.

Importing this package imports nothing: once the interpreter itself has started, ctrl-c is one line.
"""

import os
import sys

TYPE_CHECKING = False  # type checkers take it for true
if TYPE_CHECKING:
    from collections.abc import Sequence

_INTERRUPTED = 130


def execute(arguments: "Sequence[str]") -> int:
    """Run one command line and return its exit code."""
    from ascendsim.cli import app

    return app.execute(arguments)


def main() -> None:
    """Entry point of the console script."""
    try:
        from ascendsim.cli import app

        app.prepare_streams()
        code = app.execute(sys.argv[1:])
    except KeyboardInterrupt:  # before a command has begun
        os.write(2, b"ascendsim: error: interrupted; no output file was written\n")
        code = _INTERRUPTED
    sys.exit(code)
