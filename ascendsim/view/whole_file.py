"""Write a file whole or not at all, from Python: to a hidden file beside it, then moved."""

from __future__ import annotations

import os
import stat
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
        os.chmod(hidden, mode_of(target))
        os.replace(hidden, target)
    except OSError as error:
        raise RequestError(f"{path}: {why_unwritable(path, error)}") from error
    finally:
        with suppress(OSError):
            os.unlink(hidden)


def mode_of(path: Path) -> int:
    """Return the mode of `path`: the one it has, else the one a new file gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def why_unwritable(path: str | os.PathLike[str], error: OSError | ValueError) -> str:
    """Return why a file cannot be written, and the way out."""
    parent = Path(path).parent
    if isinstance(error, FileNotFoundError):
        if not parent.exists():
            return f"there is no directory {parent}; make it first"
        reason = f"{parent} takes no new files"
    else:
        reason = getattr(error, "strerror", None) or str(error)
    return f"cannot be written: {reason}; name a file in a directory that exists and is writable"
