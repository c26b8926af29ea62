"""Programs in processes forked from one that has imported ascendsim, which saves them a second.

Each has a folder, environment, `__main__`, standard streams and exit code of its own, as a program
started afresh has. What the start itself does is for tests that start Python.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
#: this tree, whatever the environment installed
HERE = os.environ | {"PYTHONPATH": str(ROOT)}
COMMAND = Path(sys.executable).with_name("ascendsim")
START = "from tests.warm import serve; serve()"


def python(code: str, cwd: Path) -> tuple[int, str]:
    """Run `python -c CODE`; return its exit code and what it printed."""
    return _asked({"code": code}, cwd)


def ascendsim(words: Sequence[str], cwd: Path) -> tuple[int, str]:
    """Run the installed command line; return its exit code and what it printed."""
    return _asked({"words": [str(COMMAND), *words]}, cwd)


def _asked(request: dict[str, Any], cwd: Path) -> tuple[int, str]:
    server = _server()
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as printed:
        request |= {"cwd": str(cwd), "output": printed.name}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return code, printed.read()


@cache
def _server() -> Any:
    """Start the process to fork from; it ends when this one closes its standard input."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", START], cwd=ROOT, env=HERE, **pipes)


def serve() -> None:
    """Import all of ascendsim, then run each request of standard input in a fork."""
    with suppress(ImportError):  # notebooks need it
        importlib.import_module("IPython.core.interactiveshell")
    package = importlib.import_module("ascendsim")
    for each in pkgutil.walk_packages(package.__path__, "ascendsim."):
        if "._kernels" not in each.name and not each.name.endswith("__main__"):
            with suppress(ImportError):  # of a package that is not installed
                importlib.import_module(each.name)
    answers = os.dup(1)
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            os.close(answers)
            _run(**json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(answers, f"{code}\n".encode())


def _run(cwd: str, output: str, code: str = "", words: Sequence[str] = ()) -> NoReturn:
    """Be the program, with nothing on standard input, and end."""
    for path, flags, numbers in ((os.devnull, os.O_RDONLY, [0]), (output, os.O_WRONLY, [1, 2])):
        opened = os.open(path, flags | os.O_APPEND)
        for number in numbers:
            os.dup2(opened, number)
    os.chdir(cwd)
    try:
        if words:
            sys.argv, sys.path[0] = list(words), str(Path(words[0]).parent)
            runpy.run_path(words[0], run_name="__main__")
        else:
            sys.argv, sys.path[0] = ["-c"], ""
            main = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), main.__dict__)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
