"""Who computes the points of a sweep: this process, local processes, or a dask cluster.

All three call the same function on the same points, so the rows do not depend on who did.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.explore.study import Row, Study, evaluate, evaluate_all
from ascendsim.host import Op

LOCAL = "local"
CONNECT_SECONDS = 10
ALONE_SECONDS = 0.5  # what takes longer is worth the start of worker processes
CHUNKS_PER_WORKER = 16  # enough that the workers end together
MAX_CHUNK = 8  # points; progress is told and a stop is heard at least that often
_ADDRESS = re.compile(r"tcp://[^\s/:]+:\d{1,5}")

Point = Mapping[str, Any]
Progress = Callable[[int, int], None]


def check_scheduler(scheduler: str, workers: int | None) -> None:
    """Refuse a scheduler that is neither `local` nor an address, and fewer workers than one."""
    if scheduler != LOCAL and not _ADDRESS.fullmatch(scheduler):
        raise RequestError(f"scheduler {scheduler!r} is unknown; use local or tcp://HOST:PORT")
    if workers is not None and workers < 1:
        raise RequestError(f"workers = {workers}: use 1 or more")


def run_points(
    study: Study,
    points: Sequence[Point],
    scheduler: str = LOCAL,
    workers: int | None = None,
    progress: Progress | None = None,
    own: Op | None = None,
) -> list[Row]:
    """Return the rows of `points`, in their order.

    Parameters
    ----------
    workers : local processes, default one per CPU; 1 stays in this process
    progress : takes (points done, points)
    own : an operator that only this process has (a variant), so that only it can compute

    Raises
    ------
    RequestError
        When the cluster cannot be reached or used, or local processes die.
    """
    tick = progress or (lambda done, total: None)
    if scheduler != LOCAL:
        if own is not None:
            raise RequestError(f"{own.name} exists in this process only; use scheduler 'local'")
        return _on_cluster(study, points, scheduler, tick)
    count = (workers or os.cpu_count() or 1) if _can_spawn() else 1
    rows: list[Row] = []
    started = time.monotonic()
    for point in points:
        late = time.monotonic() - started > ALONE_SECONDS and len(points) - len(rows) > 1
        if late and count > 1 and own is None:
            break
        rows.append(evaluate(study, point, own))
        tick(len(rows), len(points))
    rest = points[len(rows) :]
    done = len(rows)
    return rows + _in_processes(study, rest, count, lambda n, _: tick(done + n, len(points)))


def _can_spawn() -> bool:
    """Return False when a new process could not load this one's main module (a piped script)."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    return getattr(main, "__spec__", None) is not None or path is None or Path(path).exists()


def _in_processes(study: Study, points: Sequence[Point], workers: int, tick: Progress) -> list[Row]:
    if not points:
        return []
    chunks = _chunks(points, workers)
    try:
        with _pool(min(workers, len(chunks))) as pool:
            futures = {pool.submit(evaluate_all, study, chunk): k for k, chunk in enumerate(chunks)}
            return _collected(as_completed(futures), futures, len(points), tick)
    except BrokenProcessPool as error:
        raise RequestError(
            "the worker processes ended early: a script that sweeps needs its code under "
            "`if __name__ == '__main__':`, or workers=1"
        ) from error


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of new processes; when the work is given up they end at once."""
    before = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _leave_to_the_parent)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown()


def _leave_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # prints of a kernel: standard output is the parent's, for results


def _on_cluster(study: Study, points: Sequence[Point], address: str, tick: Progress) -> list[Row]:
    with cluster(address) as (client, completed):
        chunks = _chunks(points, sum(client.nthreads().values()))
        futures = client.map(evaluate_all, [study] * len(chunks), chunks, pure=False)
        order = {future: k for k, future in enumerate(futures)}
        try:
            return _collected(completed(futures), order, len(points), tick)
        finally:
            client.cancel(futures)


@contextmanager
def cluster(address: str) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """Give the client of a dask scheduler that has workers, and its `as_completed`.

    Raises
    ------
    RequestError
        When dask.distributed is missing, the scheduler cannot be reached or has no workers, or a
        worker lacks ascendsim.
    """
    try:
        from distributed import Client
        from distributed import as_completed as completed
    except ImportError as error:
        raise RequestError(
            f"scheduler {address} needs dask.distributed: pip install 'ascendsim[sweep]'"
        ) from error
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise RequestError(
            f"scheduler {address} cannot be reached within {CONNECT_SECONDS} s; start it with "
            f"`dask scheduler`, or use local"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            raise RequestError(f"scheduler {address} has no workers; add `dask worker`") from error
        try:
            yield client, lambda futures: completed(futures, loop=client.loop)
        except ImportError as error:
            raise RequestError(f"a worker of {address} lacks ascendsim: {error}") from error


def _chunks(points: Sequence[Point], workers: int) -> list[Sequence[Point]]:
    size = min(max(len(points) // (workers * CHUNKS_PER_WORKER), 1), MAX_CHUNK)
    return [points[k : k + size] for k in range(0, len(points), size)]


def _collected(finished: Any, order: Mapping[Any, int], total: int, tick: Progress) -> list[Row]:
    """Return the rows of all chunks in the order of the chunks; `finished` gives them as done."""
    parts: dict[int, list[Row]] = {}
    for future in finished:
        parts[order[future]] = future.result()
        tick(sum(map(len, parts.values())), total)
    return [row for number in range(len(order)) for row in parts[number]]
