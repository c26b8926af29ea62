"""Compile a program, or find it compiled, under a name made from its own text.

The source file that is compiled lies beside the machine code, for people to read, in the directory
that is named by a digest of all compiled sources. Equal programs are compiled once, by whichever
process comes first.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from ascendsim.numerics import jitcache

SIGNATURE = "void(int64, int64, int64, int64)"
TEMPLATE = '''\
"""One loop over elements, made from the records of a launch; see ascendsim/engine/program.py."""

from ascendsim.engine.{module} import {runner}

PROGRAM = """
{text}"""


def {name}({arguments}):
    {runner}(PROGRAM, {arguments})
'''
MODULES = {"run_program": "emit", "run_fill": "emit_sweep", "run_fold": "emit_sweep"}
_loaded: dict[tuple[str, str], Callable[..., None]] = {}


def loop_function(text: str) -> Callable[[int, int, int, int], None]:
    """Return the compiled loop `(bases, scalars, start, count)` of a program; see emit.py."""
    return compiled("run_program", text, "bases, scalars, start, count", SIGNATURE)


def is_ready(text: str) -> bool:
    """Tell whether the loop of a program is compiled already, here or on disk."""
    if ("run_program", text) in _loaded:
        return True
    place = jitcache.directory()
    name = _name("run_program", text)
    return place is not None and (place / f"{name}.o").is_file()


def compiled(runner: str, text: str, arguments: str, signature: str) -> Callable[..., None]:
    """Return the compiled function that hands a program and its arguments to `emit.<runner>`."""
    key = (runner, text)
    if key not in _loaded:
        name = _name(runner, text)

        def make() -> Callable[..., None]:
            from ascendsim.engine.emit import try_loop

            if runner == "run_program":
                try_loop(text)
            parts = {"module": MODULES[runner], "runner": runner, "arguments": arguments}
            return _function(name, TEMPLATE.format(text=text, name=name, **parts))

        _loaded[key] = jitcache.unit(name, signature, make, nogil=True).call
    return _loaded[key]


def _name(runner: str, text: str) -> str:
    return f"fused_{hashlib.sha256(f'{runner} {text}'.encode()).hexdigest()[:24]}"


def _function(name: str, source: str) -> Callable[..., None]:
    place = jitcache.directory()
    file = Path(f"<ascendsim {name}>")
    if place is not None:
        file = place / f"{name}.py"
        if not file.exists():
            _write(file, source)
    space: dict[str, object] = {"__name__": name, "__file__": str(file)}
    exec(compile(source, str(file), "exec"), space)
    return space[name]  # type: ignore[return-value]


def _write(file: Path, source: str) -> None:
    """Write a file that is whole or absent, whoever else writes it now."""
    try:
        handle, made = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(source)
        os.replace(made, file)
    except OSError:
        pass  # compiled code is then not kept, which costs time only
