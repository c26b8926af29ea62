"""Where compiled code is kept between runs, and the one place that calls numba's compiler.

`unit` keeps machine code and loads it without numba (objectcode.py).

The directory is named by a digest of everything that the machine code depends on: the sources that
are compiled, the versions of numba, llvmlite and numpy, and the host's CPU. numba's own cache does
not notice a change in a function that a cached function calls, which for a bit-accurate simulator
would be silently wrong arithmetic.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import llvmlite
import numpy as np
from llvmlite import binding

from ascendsim.errors import RequestError
from ascendsim.numerics.objectcode import Unit, emitted, linked

#: numba compiles one thing at a time
_LOCK = threading.RLock()
_CHECK_BYTES = hashlib.sha256().digest_size
CACHE_VARIABLE = "ASCENDSIM_CACHE"
PACKAGE = Path(__file__).resolve().parent.parent
COMPILED_SOURCES = (
    "dtypes.py",
    "engine/emit.py",
    "engine/emit_sweep.py",
    "engine/generated.py",
    "engine/program_text.py",
    "engine/table.py",
    "engine/table_loop.py",
    "engine/words.py",
    "enums.py",
    "numerics/ball.py",
    "numerics/bodies_arith.py",
    "numerics/bodies_cast.py",
    "numerics/bodies_cast_int.py",
    "numerics/bodies_compare.py",
    "numerics/bodies_exp.py",
    "numerics/bodies_fma.py",
    "numerics/bodies_int.py",
    "numerics/bodies_move.py",
    "numerics/bodies_reduce.py",
    "numerics/bodies_select.py",
    "numerics/bodies_sort.py",
    "numerics/differences.py",
    "numerics/elements.py",
    "numerics/families.py",
    "numerics/formats.py",
    "numerics/intrinsics.py",
    "numerics/jitcache.py",
    "numerics/lanes.py",
    "numerics/objectcode.py",
    "numerics/opcodes.py",
    "numerics/programs.py",
    "numerics/rounding.py",
    "numerics/sort_layout.py",
    "numerics/strided.py",
    "numerics/sweep.py",
    "numerics/units.py",
    "numerics/vexec.py",
)


def digest(package: Path = PACKAGE) -> str:
    """Return the name of the directory that fits these sources on this host."""
    # imported late: formats reads the environment variable that switches F16C off
    from ascendsim.numerics.formats import has_f16c

    state = hashlib.sha256()
    for name in COMPILED_SOURCES:
        state.update(name.encode() + b"\0" + (package / name).read_bytes() + b"\0")
    versions = (sys.implementation.cache_tag, llvmlite.__version__, np.__version__)
    host = (sys.platform, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    state.update(repr((versions, host, _numba_state(), has_f16c())).encode())
    return state.hexdigest()[:32]


def _numba_state() -> tuple[bytes, ...]:
    """Return numba's version and what it would be told, without importing it."""
    found = importlib.util.find_spec("numba")
    version = Path(str(found and found.origin)).with_name("_version.py")
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    files = [path for path in (version, Path(".numba_config.yaml")) if path.is_file()]
    return (repr(settings).encode(), *(path.read_bytes() for path in files))


def root() -> Path:
    """Return where the user wants caches: ASCENDSIM_CACHE, else the XDG directory."""
    asked = os.environ.get(CACHE_VARIABLE)
    if asked:
        return Path(asked).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path("~/.cache").expanduser()) / "ascendsim"


@cache
def directory() -> Path | None:
    """Return the directory for compiled code, or None when nothing can be written."""
    name = digest()
    for candidate in (root, _temporary_root):
        try:
            place = candidate() / name
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
        except (OSError, RuntimeError):
            continue
        return place
    return None


def unit(name: str, signature: str, make: Callable[[], Callable], nogil: bool = False) -> Unit:
    """Return the compiled function that `make` gives the source of, loaded if it was kept.

    Each unit is one file with its own digest, which appears at once and whole: processes may
    write it together, and one that is damaged is made anew.

    Parameters
    ----------
    signature : `void(...)` of int64 and float64
    nogil : let other Python threads run meanwhile, which costs each call a little

    Raises
    ------
    RequestError
        When it has to be compiled and numba's compiler is switched off.
    """
    place = directory()
    path = None if place is None else place / f"{name}.o"
    with _LOCK:
        code = _kept(path)
        if code is None:
            _require_compiler()
            function = make()
            # the name tells units apart in profiles
            function.__qualname__ = function.__name__ = name
            dispatcher = dispatcher_of(function, signature, nogil)
            code = emitted(dispatcher, name, signature, nogil)
            if code is None:
                return Unit(entry_point(dispatcher), address(dispatcher))
            _keep(path, code)
        return linked(code, name)


def _kept(path: Path | None) -> bytes | None:
    """Return the object code in a file, None when there is none or it is damaged."""
    try:
        content = b"" if path is None else path.read_bytes()
    except OSError:
        return None
    check, code = content[:_CHECK_BYTES], content[_CHECK_BYTES:]
    return code if hashlib.sha256(code).digest() == check else None


def _keep(path: Path | None, code: bytes) -> None:
    if path is None:
        return
    with suppress(OSError):  # a full disk costs time, never the result
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with open(number, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(name, path)
        except OSError:
            os.unlink(name)


def compiled(function: Callable, signature: str, unit: str) -> Callable:
    """Compile a function of arrays, or load it from numba's own cache; `unit` cannot hold it.

    Each has its own directory, so writers never meet.

    Returns the dispatcher, with its one signature ready. A cache that cannot be written or read
    back costs time, never the result; a damaged one is made anew.

    Raises
    ------
    RequestError
        When numba's compiler is switched off.
    """
    _require_compiler()
    # the name tells units apart in tracebacks and profiles
    function.__qualname__ = function.__name__ = unit
    place = directory()
    for _ in range(2 if place is not None else 0):
        own = place / unit  # type: ignore[operator]
        try:
            own.mkdir(exist_ok=True)
            with _LOCK, _numba_cache(own):
                return dispatcher_of(function, signature, cache=True)
        except Exception:  # what unpickling a damaged file raises can be anything
            shutil.rmtree(own, ignore_errors=True)
    return dispatcher_of(function, signature)


def _require_compiler() -> None:
    import numba

    if getattr(numba.config, "DISABLE_JIT", 0):
        error = RequestError(
            "NUMBA_DISABLE_JIT is set, but the simulator needs numba's compiler: unset it"
        )
        error.located = True  # the kernel that asked for compiled code is not to blame
        raise error


def dispatcher_of(
    function: Callable, signature: str, nogil: bool = False, cache: bool = False
) -> Callable:
    """Compile `function` and return numba's dispatcher, with its one signature ready."""
    import numba

    compiler = numba.njit(signature, cache=cache, nogil=nogil, error_model="numpy", fastmath=False)
    return compiler(function)


def entry_point(dispatcher: Callable) -> Callable:
    """Return the compiled function itself; calling it skips numba's dispatch and type checks."""
    return next(iter(dispatcher.overloads.values())).entry_point  # type: ignore[attr-defined]


def address(dispatcher: Callable) -> int:
    """Return the machine address of the compiled function under the C calling convention."""
    (result,) = dispatcher.overloads.values()  # type: ignore[attr-defined]
    return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)


@contextmanager
def _numba_cache(place: Path) -> Iterator[None]:
    """Point numba's cache elsewhere for a moment; the user's own settings come back after."""
    import numba

    changed = {"CACHE_DIR": str(place), "CACHE_LOCATOR_CLASSES": ""}
    before = {name: getattr(numba.config, name) for name in changed if hasattr(numba.config, name)}
    for name in before:
        setattr(numba.config, name, changed[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(numba.config, name, value)


def _temporary_root() -> Path:
    """Return a directory of this user alone under the system's temporary directory."""
    place = Path(tempfile.gettempdir()) / f"ascendsim-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    facts = place.lstat()
    # compiled code is executed: never take it from a directory that others can write to
    private = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()
    if not private or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return Path(tempfile.mkdtemp(prefix="ascendsim-"))
    return place
