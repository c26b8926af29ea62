"""Write a file whole or not at all, from Python: to a hidden file beside it, then moved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ascendsim.errors import RequestError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to that takes the place of `path` at the end; on errors nothing is left.

    Raises
    ------
    RequestError
        When it cannot be written.
    """
    try:
        target = Path(os.path.realpath(os.fsdecode(path)))
    except TypeError:
        raise RequestError(f"{path!r:.80} is no path: write to the name of a file") from None
    hidden = ""
    try:
        number, hidden = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
        with open(number, "wb") as file:
            yield file
        os.chmod(hidden, 0o644)
        os.replace(hidden, target)
    except OSError as error:
        raise RequestError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            os.unlink(hidden)
