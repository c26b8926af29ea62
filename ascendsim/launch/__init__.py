"""Run a kernel on a simulated chip: blocks one after another, each on a fresh core.

The order of blocks is owned here, as are the observers and the cores kept between launches.
"""

from typing import TYPE_CHECKING, Any

from ascendsim.launch.blocks import launch
from ascendsim.launch.classes import BlockClass, block_classes
from ascendsim.launch.engines import run
from ascendsim.launch.job import Job, Ran, Readers, Result, blocks_of

if TYPE_CHECKING:
    from ascendsim.launch.plans import plan_of, sweep_loop
    from ascendsim.launch.timing import recorded, scheduled

__all__ = [
    "BlockClass",
    "Job",
    "Ran",
    "Readers",
    "Result",
    "block_classes",
    "blocks_of",
    "launch",
    "plan_of",
    "recorded",
    "run",
    "scheduled",
    "sweep_loop",
]
_LATER = {"plan_of": "plans", "sweep_loop": "plans", "recorded": "timing", "scheduled": "timing"}


def __getattr__(name: str) -> Any:
    """Import plans and times when they are first asked for: a launch that steps needs neither."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ascendsim.launch.{_LATER[name]}"), name)
