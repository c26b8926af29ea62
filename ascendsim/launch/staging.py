"""Run one block of a job with data and keep it on its core, to be executed in other orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ascendsim.engine.schedules import Stage, Tape
from ascendsim.errors import UnsupportedError
from ascendsim.launch.blocks import end_block, prepared_core, run_block
from ascendsim.launch.job import Job


class _Alone:
    """Stands where the other blocks would be: a block that waits for them cannot run here."""

    def _refuse(self) -> UnsupportedError:
        return UnsupportedError(
            "blocks of this kernel wait for one another; other orders are tried within one block "
            "only: launch it with one block"
        )

    def meet(self, block: int) -> None:
        raise self._refuse()

    def soft_count(self, block: int, address: int) -> int:
        raise self._refuse()

    def wait(self, block: int, ready: Callable[[], bool], text: str) -> None:
        raise self._refuse()


@contextmanager
def staged(job: Job, block: int) -> Iterator[Stage]:
    """Give the stage of `block`, which ran once in program order, as if it were the only one.

    Raises
    ------
    AscendError
        When the kernel breaks a rule.
    UnsupportedError
        When the block waits for others, or has too many records.
    """
    with prepared_core(job, executing=True) as (core, arguments):
        start = {name: each.memory.copy() for name, each in core.gm.allocations.items()}
        tape = Tape()
        core.begin_block(block, (tape,))
        core.turns = _Alone() if job.block_dim > 1 else None
        try:
            run_block(job, core, block, arguments)
            end_block(core)
        finally:
            core.turns = None
        yield Stage(core, tape.records, tape.scalars, start)
        core.gm.inputs.clear()  # records hold on to them, so their bytes are not used again
