"""Run a kernel on a simulated chip: blocks one after another, each on a fresh core.

The order of blocks is owned here, as are the observers and the cores kept between launches.
"""

from typing import Any

from ascendsim.launch.blocks import launch
from ascendsim.launch.classes import BlockClass, block_classes
from ascendsim.launch.job import Job, Readers, Result, blocks_of
from ascendsim.launch.timing import recorded, scheduled

__all__ = [
    "BlockClass",
    "Job",
    "Readers",
    "Result",
    "block_classes",
    "blocks_of",
    "launch",
    "recorded",
    "scheduled",
]


def __getattr__(name: str) -> Any:
    """Import the engines when they are first asked for: llvmlite comes with them."""
    if name not in ("Ran", "plan_of", "run", "sweep_loop"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ascendsim.launch import engines

    return getattr(engines, name)
