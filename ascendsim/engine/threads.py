"""Work without the GIL on several threads, where that is worth the start of the threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

#: bytes of GM traffic below which one thread is faster (starting them takes about 0.2 ms)
PARALLEL_BYTES = 4 << 20
THREADS_VARIABLE = "ASCENDSIM_THREADS"


def threads_for(traffic: int) -> int:
    """Return how many threads a launch of `traffic` bytes gets; ASCENDSIM_THREADS limits it."""
    if traffic < PARALLEL_BYTES:
        return 1
    asked = os.environ.get(THREADS_VARIABLE, "")
    limit = int(asked) if asked.isdecimal() and int(asked) else machine_threads()
    return min(limit, machine_threads())


def machine_threads() -> int:
    """Return how many threads this process may use at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(work: Callable[..., None], parts: Sequence[tuple[Any, ...]]) -> None:
    """Call `work` with each of `parts`, at once; one part runs on this thread alone."""
    waiting = [_pool().submit(work, *part) for part in parts[1:]]
    work(*parts[0])
    for each in waiting:
        each.result()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(machine_threads(), "ascendsim")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)
