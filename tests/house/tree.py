"""Where the repository's files are, and running a module of this interpreter on them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ascendsim", "kernels", "tests", "notebooks", ".ci")
FILES = ("README.md", "LICENSE", "pyproject.toml", ".gitignore")


def sources(*folders: str) -> Iterator[Path]:
    """Yield the Python files of `folders` (default: all that hold any)."""
    for folder in folders or ("ascendsim", "kernels", "tests"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def texts() -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every file of the repository that is text."""
    paths = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        paths += sorted(p for p in (ROOT / folder).rglob("*") if p.is_file())
    for path in paths:
        if "__pycache__" in path.parts or not path.exists():
            continue
        try:
            yield relative(path), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def relative(path: Path) -> str:
    """Return `path` as seen from the repository's top, with forward slashes."""
    return path.relative_to(ROOT).as_posix()


def run_python(*arguments: str, cwd: Path = ROOT, **kwargs: object) -> str:
    """Run this interpreter and return what it printed; fail with that text unless it exits 0."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **kwargs,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout}"
    return done.stdout
