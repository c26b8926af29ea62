"""ascendsim: a bit-accurate simulator of the Ascend NPU's vector core.

import ascendsim as asim
op = asim.load("name of a kernel, or a folder")
til = op.tiling(x.shape, "float16", soc="ascend950")
run = asim.launch(op, {"grad": grad, "x": x}, til)
run.out
"""

import sys

# the command line begins here: whatever is imported before its own guard, ctrl-c would show
TYPE_CHECKING = False  # type checkers take it for true
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ascendsim.api import Run, launch, time
    from ascendsim.api.saved import open_run as open
    from ascendsim.host import load
    from ascendsim.options import Options

__version__ = "0.1.0"
__all__ = ["Options", "Run", "__version__", "launch", "load", "open", "time"]
_HOMES = {
    "Options": "ascendsim.options",
    "Run": "ascendsim.api",
    "launch": "ascendsim.api",
    "load": "ascendsim.host",
    "open": "ascendsim.api.saved",
    "time": "ascendsim.api",
}

_CALLED = {"open": "open_run"}  # where the name would hide one of Python's own


def __getattr__(name: str) -> "Any":
    """Import a public name when it is first used: the command line starts without numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), _CALLED.get(name, name))
    globals()[name] = value
    return value


if not TYPE_CHECKING:
    ModuleType = type(sys)


class _Package(ModuleType):
    """The package, where the name `launch` means the function and never the module."""

    def __setattr__(self, name: str, value: "Any") -> None:
        # the import system binds a loaded submodule as an attribute of its package
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
