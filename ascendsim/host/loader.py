"""Find kernel folders and load their modules.

A folder becomes a package of its own under a private name, so that two folders may both have an
op_kernel.py and relative imports work inside one. Its `__init__.py` is not run. No byte code is
written into anybody's folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ascendsim.errors import AscendError, RequestError

PATH_VARIABLE = "ASCENDSIM_KERNELS"
DEFINITION = "op_def.py"
_PACKAGES = "_ascendsim_kernels"
_HERE = Path(__file__).resolve().parents[1]


def search_path(kernels: Iterable[str | os.PathLike[str]] = ()) -> list[Path]:
    """Return the directories that hold kernel folders, first wins.

    `kernels` (the command line's --kernels), $ASCENDSIM_KERNELS, the checkout, the wheel's copy.

    Raises
    ------
    RequestError
        When one of `kernels` is no directory.
    """
    asked = [Path(k) for k in ([kernels] if isinstance(kernels, (str, os.PathLike)) else kernels)]
    for path in asked:
        if not path.is_dir():
            raise RequestError(f"--kernels {path}: no such directory")
    named = [Path(p) for p in os.environ.get(PATH_VARIABLE, "").split(os.pathsep) if p]
    checkout = _HERE.parent
    ours = [checkout / "kernels"] if (checkout / "pyproject.toml").is_file() else []
    shipped = [*ours, _HERE / "_kernels"]
    return [p for p in (*asked, *named, *shipped) if p.is_dir()]


def find_ops(kernels: Iterable[str | os.PathLike[str]] = ()) -> dict[str, Path]:
    """Return {folder name: folder} of every kernel on the search path."""
    found: dict[str, Path] = {}
    for base in search_path(kernels):
        for folder in (base, *sorted(base.iterdir())):
            if (folder / DEFINITION).is_file():
                found.setdefault(folder.resolve().name, folder.resolve())
    return found


def find_folder(name: object, kernels: Iterable[str | os.PathLike[str]] = ()) -> Path:
    """Return the folder of a kernel given by name, folder, dotted module name or module.

    Raises
    ------
    RequestError
        When there is none; the text lists the known names.
    """
    if isinstance(name, types.ModuleType):
        return _module_folder(name.__name__, getattr(name, "__path__", None))
    text = os.fspath(name) if isinstance(name, os.PathLike) else str(name)
    known = find_ops(kernels)
    if isinstance(name, str) and text in known:
        return known[text]
    path = Path(text)
    if path.is_dir():
        if not (path / DEFINITION).is_file():
            raise RequestError(f"{path} has no {DEFINITION}, so it is no kernel folder")
        return path.resolve()
    if "." in text and os.sep not in text:
        try:
            spec = importlib.util.find_spec(text)
        except (ImportError, ValueError):
            spec = None
        if spec is not None:
            return _module_folder(text, spec.submodule_search_locations)
    names = ", ".join(sorted(known)) or "none"
    raise RequestError(f"op {text!r} is unknown: no folder, no module; known ops: {names}")


def _module_folder(name: str, locations: Iterable[str] | None) -> Path:
    for location in locations or ():
        if (Path(location) / DEFINITION).is_file():
            return Path(location).resolve()
    raise RequestError(f"module {name} has no {DEFINITION}, so it is no kernel folder")


def fingerprint(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of the folder's sources; an edit changes it."""
    stats = ((entry.name, entry.stat()) for entry in os.scandir(folder) if entry.name[-3:] == ".py")
    return tuple(sorted((name, s.st_mtime_ns, s.st_size) for name, s in stats))


def make_package(folder: Path, salt: object = "") -> str:
    """Create an empty package whose modules are the folder's; return its name."""
    digest = hashlib.sha256(f"{folder}{fingerprint(folder)}{salt}".encode()).hexdigest()[:16]
    name = f"{_PACKAGES}.{folder.name.replace('.', '_')}_{digest}"
    for package, path in ((_PACKAGES, []), (name, [str(folder)])):
        if package not in sys.modules:
            module = types.ModuleType(package)
            module.__path__ = path
            sys.modules[package] = module
    return name


def load_module(
    package: str, file: Path, source: str | None = None, constants: dict[str, object] | None = None
) -> types.ModuleType:
    """Run `file` (or `source` in its place) as a module of `package`, then set `constants`.

    Raises
    ------
    RequestError
        When the file is missing, has a syntax error or fails while it is loaded.
    """
    module_name = f"{package}.{file.stem}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    module = types.ModuleType(module_name)
    module.__file__, module.__package__ = str(file), package
    sys.modules[module_name] = module
    try:
        text = file.read_text(encoding="utf-8") if source is None else source
        with _no_bytecode():
            exec(compile(text, str(file), "exec"), module.__dict__)
        for name, value in (constants or {}).items():
            if name not in module.__dict__:
                raise RequestError(f"{file} has no constant {name}")
            setattr(module, name, value)
    except KeyboardInterrupt:
        del sys.modules[module_name]
        raise
    except BaseException as error:  # somebody's code: SystemExit, too, is an error of the file
        del sys.modules[module_name]
        raise RequestError(complaint(file, error, "cannot be loaded")) from error
    return module


def complaint(file: Path, error: BaseException, what: str) -> str:
    """Return one line that says where in `file` somebody's code raised `error`."""
    if isinstance(error, FileNotFoundError) and not file.exists():
        return f"{file.parent} has no {file.name}"
    if isinstance(error, SyntaxError):
        place = _place(error.filename or str(file), error.lineno)
        return f"{place}: syntax error: {error.msg}"
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, AscendError):
        return str(error) if str(file) in str(error) else f"{_place(str(file), line)}: {error}"
    kind, text = type(error).__name__, str(error)
    return f"{_place(str(file), line)}: {what}: {kind}" + (f": {text}" if text else "")


def _place(file: str, line: int | None) -> str:
    return f"{file}:{line}" if line else file


@contextmanager
def _no_bytecode() -> Iterator[None]:
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
