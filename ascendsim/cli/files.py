"""Output files that are whole or absent.

`Outputs` reserves every file before the long work starts, which is also the check that it can be
written. What a command writes goes to a hidden file in the same directory, and only `commit` moves
it to its name; leaving the `with` block without `commit` removes it.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from ascendsim.errors import RequestError
from ascendsim.view.whole_file import mode_of, why_unwritable

_IMAGE = re.compile(r"core\d+\.bin")


class Outputs:
    """The output files of one command: reserve, write, commit; or nothing of them remains."""

    def __init__(self) -> None:
        self._moves: dict[Path, Path] = {}  # name of a file -> hidden file that will replace it
        self._directories: list[Path] = []  # made here, removed again on failure
        self._stale: list[Path] = []  # files of an earlier run that a commit removes

    def __enter__(self) -> Outputs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for hidden in self._moves.values():
            with suppress(OSError):
                hidden.unlink()
        for directory in reversed(self._directories):
            with suppress(OSError):
                directory.rmdir()

    def reserve(self, name: str, option: str) -> Path:
        """Return the path to write to for the file `name` that `option` asks for.

        A device or pipe (`/dev/stdout`) is returned as it is.

        Raises
        ------
        RequestError
            When the file cannot be written there, or two options name one file.
        """
        with _unwritable(option, name):
            special = _path(name, option)
            if special.is_dir():
                raise RequestError(f"{option} {name}: is a directory; give the name of a file")
            if special.exists() and not special.is_file():
                with special.open("ab"):
                    return special
            path = Path(os.path.realpath(name))
            if path in self._moves:
                raise RequestError(f"{option} {name}: another output goes to the same file")
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(13, "the file is write-protected")
            self._moves[path] = hidden = _hidden_beside(path)
            return hidden

    def directory(self, name: str, option: str, images: bool = False) -> Path:
        """Return the directory `name`, made where only its last level is missing.

        With `images`, its `core<k>.bin` of an earlier run are removed by `commit`: they would be
        taken for images of this one.
        """
        with _unwritable(option, name):
            path = _path(name, option)
            if not path.exists():
                path.mkdir()
                self._directories.append(path)
            _hidden_beside(path / "probe").unlink()
            if images:
                self._stale += [p for p in path.iterdir() if _IMAGE.fullmatch(p.name)]
            return path

    def commit(self) -> None:
        """Move every file to its name.

        Raises
        ------
        RequestError
            When one cannot be moved.
        """
        for path, hidden in self._moves.items():
            with _unwritable("output", str(path)):
                os.replace(hidden, path)
        for path in self._stale:
            if path.resolve() not in self._moves:
                path.unlink(missing_ok=True)
        self._moves.clear()
        self._directories.clear()


@contextmanager
def writing(option: str, name: str | None) -> Iterator[None]:
    """Turn a failed write (disk full, say) into a RequestError that names the option."""
    with _unwritable(option, str(name)):
        yield


@contextmanager
def text_file(path: Path, zipped: bool) -> Iterator[TextIO]:
    """Open `path` to write text on, compressed when `zipped`."""
    with ExitStack() as stack:
        raw: Any = stack.enter_context(path.open("wb"))
        if zipped:  # no name and no time inside: equal runs give equal files
            import gzip

            raw = stack.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(raw, "utf-8"))


@contextmanager
def _unwritable(option: str, name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        refusal = RequestError(f"{option} {name}: {why_unwritable(name, error)}")
        refusal.located = True  # files are written while the kernel runs
        raise refusal from error


def svg_name(name: str, option: str) -> str:
    """Return the name of a picture.

    Raises
    ------
    RequestError
        When the name promises another kind of file than SVG.
    """
    if not name.lower().endswith(".svg"):
        raise RequestError(f"{option} {name}: pictures are SVG; end the name in .svg")
    return name


def _path(name: str, option: str) -> Path:
    if not name.strip():
        raise RequestError(f"{option} '': the name is empty")
    return Path(name)


def _hidden_beside(path: Path) -> Path:
    """Create an empty hidden file in the directory of `path`, with the mode `path` would have."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part")
    os.close(number)
    os.chmod(name, mode_of(path))
    return Path(name)
