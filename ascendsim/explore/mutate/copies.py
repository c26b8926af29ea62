"""A copy of a kernel's folder that stands where its tests expect it, with one mutant in it.

The folders above it are made again and hold links to what the real ones hold: packages, data and
the configuration of pytest are found, `from kernels.NAME import ...` and `load("NAME")` lead to
the copy, and nothing is written beside the real kernel.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascendsim.explore.mutate.source import Mutant, spliced
from ascendsim.host.loader import PATH_VARIABLE

TESTS = "test_*.py"
_PROJECT = ("pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "setup.py")
_COPIED = (".py", ".toml", ".ini", ".cfg")  # small, and pytest asks where they lie
_LEFT_OUT = ("__pycache__", ".git", ".pytest_cache", ".hypothesis")
_SIMULATOR = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a kernel's folder stands.

    root : the highest folder that is made again: the project, or where Python finds the package
    importable : the folder that Python imports the kernel's package from
    here : where its tests run, the working directory if the kernel lies below it
    """

    folder: Path
    root: Path
    importable: Path
    here: Path
    kernels: tuple[Path, ...] = ()

    @classmethod
    def of(cls, folder: Path, kernels: Sequence[str | os.PathLike[str]] = ()) -> Layout:
        """Find out; `kernels` are further directories of kernels (--kernels)."""
        found = tuple(Path(each).resolve() for each in kernels)
        if not any(folder.glob(TESTS)):  # nobody asks where the copy stands
            return cls(folder, folder.parent, folder.parent, folder.parent, found)
        importable = folder.parent
        while (importable / "__init__.py").is_file() and importable != _SIMULATOR:
            importable = importable.parent
        roots = [importable]
        for above in folder.parents:
            if any((above / name).is_file() for name in _PROJECT):
                roots.append(above)
                break
        here = Path.cwd()
        below = here in (folder, *folder.parents) and here != Path(here.anchor)
        roots += [here] if below else []
        root = min((each for each in roots if each != folder), key=lambda each: len(each.parts))
        return cls(folder, root, importable, here if below else root, found)

    def tests(self) -> list[str]:
        """Return the names of the kernel's own test files."""
        return sorted(path.name for path in self.folder.glob(TESTS))

    def inside(self, base: Path, path: Path) -> Path:
        """Return what stands for `path` in the copy below `base`."""
        return base / path.relative_to(self.root) if path.is_relative_to(self.root) else path

    def made(self, base: Path, changed: dict[str, bytes]) -> Path:
        """Make the copy below `base` and return its folder; `changed` replaces files of it."""
        level = self.root
        for part in self.folder.relative_to(self.root).parts:
            target = self.inside(base, level)
            target.mkdir(parents=True)
            for entry in os.scandir(level):
                if entry.name != part and entry.name not in _LEFT_OUT:
                    _stand_in(Path(entry.path), target / entry.name)
            level = level / part
        copy = self.inside(base, self.folder)
        shutil.copytree(self.folder, copy, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        for name, data in changed.items():
            (copy / name).write_bytes(data)
        return copy

    def environment(self, base: Path) -> dict[str, str]:
        """Return the variables with which Python and `load` find the copy first."""
        kernels = [self.folder.parent, *self.kernels]
        return {
            PATH_VARIABLE: _joined(self._moved(base, kernels), os.environ.get(PATH_VARIABLE)),
            "PYTHONPATH": _joined(self.path(base), os.environ.get("PYTHONPATH")),
        }

    def path(self, base: Path) -> list[str]:
        """Return the folders that modules are imported from first."""
        return list(self._moved(base, [self.here, self.importable]))

    def _moved(self, base: Path, paths: Sequence[Path]) -> Iterator[str]:
        yield from dict.fromkeys(str(self.inside(base, path)) for path in paths)


def mutated(folder: Path, mutant: Mutant) -> dict[str, bytes]:
    """Return the file that a mutant changes, changed."""
    return {mutant.file: spliced((folder / mutant.file).read_bytes(), mutant.edits)}


def _stand_in(entry: Path, target: Path) -> None:
    """Let `target` stand for an entry beside the kernel: a copy of small files, a link to others.

    The simulator itself is not among them: its modules keep their own place.
    """
    if entry.resolve() == _SIMULATOR:
        return
    if entry.suffix in _COPIED and entry.is_file() and os.access(entry, os.R_OK):
        shutil.copyfile(entry, target)
    else:
        target.symlink_to(entry)


def _joined(first: Iterator[str] | list[str], rest: str | None) -> str:
    return os.pathsep.join([*first, *([rest] if rest else [])])
