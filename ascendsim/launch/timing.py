"""Record a launch without data and schedule it: what every question about time starts from."""

from __future__ import annotations

from collections.abc import Sequence

from ascendsim.launch.blocks import no_collection
from ascendsim.launch.classes import BlockClass, block_classes
from ascendsim.launch.job import Job
from ascendsim.observe.timeline import Launch, StepRecorder, check_costs, same_stream
from ascendsim.observe.timeline import schedule_launch as schedule
from ascendsim.observe.timeline.steps import shared_reads


def recorded(job: Job, keep: bool = False, share: bool = True) -> list[BlockClass]:
    """Return the classes of a job's blocks with their streams.

    Parameters
    ----------
    keep : keep the records too, for traces and pictures
    share : False records every block on its own (the slow truth)

    Raises
    ------
    UnsupportedError
        When the SoC has no costs, or the kernel reads data as scalars.
    AscendError
        When the kernel breaks a rule.
    """
    check_costs(job.soc)
    auto_sync = job.options.auto_sync == "on"
    with no_collection():
        return block_classes(
            job, lambda: StepRecorder(job.soc, auto_sync, keep), same_stream, share
        )


def scheduled(job: Job, classes: Sequence[BlockClass], cores: int | None = None) -> Launch:
    """Return the launch of recorded blocks on `cores` cores (default: the SoC's)."""
    streams = [(each.stream, each.blocks) for each in classes]
    return schedule(streams, shared_reads(classes), job.soc, cores or job.soc.aiv_cores)
