"""Run a kernel on a simulated chip: blocks one after another, each on a fresh core.

The order of blocks is owned here, as are the observers and the cores kept between launches.
"""

from ascendsim.launch.blocks import launch
from ascendsim.launch.classes import BlockClass, block_classes
from ascendsim.launch.engines import Ran, plan_of, run, sweep_loop
from ascendsim.launch.job import Job, Readers, Result, blocks_of
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
