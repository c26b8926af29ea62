"""What the functions of a kernel folder must take, checked before they are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.host.definition import OpDef
from ascendsim.launch.blocks import short_name


def check_kernel(file: Path, kernel: Callable[..., Any], definition: OpDef) -> None:
    """Check that `kernel` takes the inputs, the outputs, the workspace and the tiling.

    Raises
    ------
    RequestError
        When it does not; the text says what is passed.
    """
    passed = (*definition.tensors, "workspace", "tiling")
    if not takes(kernel, len(passed)):
        place, own = origin_of(file, kernel)
        raise RequestError(
            f"{place}: the kernel is {own}, but it is called as "
            f"{definition.name}({', '.join(passed)})"
        )


def takes(function: Callable[..., Any], count: int) -> bool:
    """Say whether `function` can be called with `count` arguments by position."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # no Python function: only the call can tell
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def place_of(file: Path, function: Callable[..., Any]) -> str:
    """Return the place of `function` as file and line."""
    code = getattr(function, "__code__", None)
    name = short_name(str(file))
    return f"{name}:{code.co_firstlineno}" if code else name


def origin_of(file: Path, function: Callable[..., Any]) -> tuple[str, str]:
    """Return the place of `function` as file and line, and its name with its parameters."""
    place = place_of(file, function)
    return place, f"{getattr(function, '__name__', function)}{inspect.signature(function)}"
