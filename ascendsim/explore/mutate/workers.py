"""Several servers (server.py), and jobs given to whichever is free."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ascendsim.errors import AscendError
from ascendsim.explore.mutate.server import DONE

_START = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from ascendsim.explore.mutate.server import serve
serve(sys.argv[2])
"""
_TAIL = 2000  # characters of what a job printed
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended: "done" with its answer, "died" or "timeout"; `printed` is its last text."""

    how: str
    answer: Any
    printed: str


class Workers:
    """`count` servers, with a directory for their files. Leaving the context ends them all.

    testing : they will run tests
    """

    def __init__(self, count: int, base: Path, testing: bool) -> None:
        self._base, empty = base, base / "empty"
        empty.mkdir()
        self._free: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        self._servers = [_server(str(empty) if testing else "") for _ in range(count)]
        for server in self._servers:
            self._free.put(server)
        self._threads = ThreadPoolExecutor(count)
        self._number = iter(range(1 << 60))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:  # its end of input ends a server, and the job that it runs
            with suppress(OSError):
                server.stdin.close()  # type: ignore[union-attr]
        self._threads.shutdown(wait=True, cancel_futures=True)
        for server in self._servers:
            server.wait()
            server.stdout.close()  # type: ignore[union-attr]

    def each(self, work: Callable[[_T], Any], items: Iterable[_T]) -> Iterator[tuple[int, Any]]:
        """Yield (number of the item, what `work` returned) as they are done."""
        futures = {self._threads.submit(work, item): k for k, item in enumerate(items)}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def run(self, job: str, given: dict[str, Any], seconds: float) -> Ended:
        """Run one job (a name of jobs.JOBS) on a server that is free."""
        stem = self._base / f"job{next(self._number)}"
        answer, log = stem.with_suffix(".json"), stem.with_suffix(".log")
        request = {"job": job, "given": given, "seconds": seconds}
        server = self._free.get()
        try:
            how = _asked(server, request | {"answer": str(answer), "log": str(log)})
        finally:
            self._free.put(server)
        printed = log.read_text("utf-8", "replace")[-_TAIL:] if log.exists() else ""
        found = json.loads(answer.read_text("utf-8")) if how == DONE else None
        return Ended(how, found, printed)


def _server(empty: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _START, json.dumps(sys.path), empty],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # ctrl-c is for the command, which ends its servers
    )


def _asked(server: subprocess.Popen[str], request: dict[str, Any]) -> str:
    try:
        server.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
        server.stdin.flush()  # type: ignore[union-attr]
        reply = server.stdout.readline()  # type: ignore[union-attr]
    except (OSError, ValueError):  # its pipes are closed
        reply = ""
    if not reply:
        raise AscendError("a process that judges mutants has ended, for lack of memory perhaps")
    return json.loads(reply)["ended"]
