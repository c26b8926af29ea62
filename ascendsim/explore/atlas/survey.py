"""Go through every chunk of an atlas: here or on a dask cluster, resumable, in constant memory."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.explore.atlas.sides import Side, Source
from ascendsim.explore.atlas.space import Space
from ascendsim.explore.atlas.totals import Part, Totals, compared
from ascendsim.explore.schedulers import LOCAL, Progress, cluster
from ascendsim.view.whole_file import whole_file

SAVE_SECONDS = 5.0  # between two writes of the state
LONG_CHUNKS = 32
TASK_CHUNKS = 16  # that a worker computes at once
WAITING_TASKS = 4  # per worker's thread
_PACKAGE = Path(__file__).resolve().parents[2]
_opened: dict[str, tuple[Source, Source | None]] = {}


@dataclass(frozen=True, slots=True)
class Survey:
    """What is compared on which inputs; it travels to workers."""

    space: Space
    one: Side
    two: Side | None

    @property
    def chunk(self) -> int:
        """How many inputs are computed at a time: more where no results are kept."""
        source, _ = self.open()
        long = self.two is None and source.checksum(0, 0) is not None
        return min(self.space.chunk * (LONG_CHUNKS if long else 1), self.space.size)

    def open(self) -> tuple[Source, Source | None]:
        """Return both sources, kept for the next chunk."""
        key = repr(self)
        if key not in _opened:
            _opened.clear()
            two = None if self.two is None else self.two.open(self.space)
            _opened[key] = self.one.open(self.space), two
        return _opened[key]

    def close(self) -> None:
        """Forget the sources: a kernel's file may be edited before the next survey."""
        _opened.clear()


def measured(survey: Survey, start: int, stop: int) -> Part:
    """Return what the inputs start..stop-1 give."""
    space, totals = survey.space, Totals.fresh(start)
    for at in range(start, stop, survey.chunk):
        part = compared(space, *survey.open(), at, min(survey.chunk, stop - at))
        totals.add(part, space.row // 2)
    return totals


class State:
    """The totals of a survey with the file that holds them, if any."""

    def __init__(self, survey: Survey, file: str | None) -> None:
        self.survey, self.file = survey, None if file is None else Path(file)
        self.totals, self.seconds = Totals.fresh(), 0.0
        self._whole = True  # not in the middle of joining a part
        if self.file is not None:
            self._request = {"survey": repr(survey), "sources": _sources(survey)}
            if self.file.exists():
                self._load()
            self.save()
        self._began = self._saved = time.monotonic()
        self._before = self.seconds

    def add(self, part: Part) -> None:
        """Join the next part, and write the state now and then."""
        self._whole = False
        self.totals.add(part, self.survey.space.row // 2)
        now = time.monotonic()
        self.seconds = self._before + now - self._began
        self._whole = True
        if now - self._saved >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the state; the file is always a whole one.

        Raises
        ------
        RequestError
            When it cannot be written.
        """
        if self.file is None or not self._whole:
            return
        state = self._request | {"seconds": self.seconds, "totals": self.totals.to_state()}
        try:
            with whole_file(self.file) as stream:
                stream.write(json.dumps(state).encode())
        except RequestError as error:
            raise RequestError(f"--resume {error}") from error
        self._saved = time.monotonic()

    def _load(self) -> None:
        assert self.file is not None
        try:
            state = json.loads(self.file.read_text(encoding="utf-8"))
            known = {name: state[name] for name in self._request}
            totals, seconds = Totals.from_state(state["totals"]), float(state["seconds"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RequestError(
                f"--resume {self.file}: is no state of an atlas; name a new file, or delete it"
            ) from error
        if known != self._request:
            what = (
                "request" if known["survey"] != self._request["survey"] else "version of the code"
            )
            raise RequestError(
                f"--resume {self.file}: is the state of another {what}; name another file"
            )
        self.totals, self.seconds = totals, seconds


def surveyed(
    survey: Survey,
    scheduler: str = LOCAL,
    resume: str | None = None,
    progress: Progress | None = None,
) -> State:
    """Visit every input and return the state at the end; `resume` names the file of the state.

    Raises
    ------
    RequestError
        When the state cannot be used or written, or the cluster cannot.
    """
    state, size = State(survey, resume), survey.space.size
    tick = progress or (lambda done, total: None)
    tick(state.totals.stop, size)
    try:
        parts = _here(survey, state.totals.stop) if scheduler == LOCAL else None
        for part in parts or _there(survey, state.totals.stop, scheduler):
            state.add(part)
            tick(state.totals.stop, size)
    finally:
        state.save()
        survey.close()
    return state


def _here(survey: Survey, start: int) -> Iterator[Part]:
    space = survey.space
    for at in range(start, space.size, survey.chunk):
        yield measured(survey, at, min(at + survey.chunk, space.size))


def _there(survey: Survey, start: int, address: str) -> Iterator[Part]:
    """Yield the parts in order as a cluster computes them, few of them waiting at a time."""
    size, step = survey.space.size, survey.space.chunk * TASK_CHUNKS
    starts = iter(range(start, size, step))
    with cluster(address) as (client, completed):
        places: dict[Any, int] = {}

        def submit(count: int) -> list[Any]:
            futures = []
            for at in islice(starts, count):
                future = client.submit(measured, survey, at, min(at + step, size), pure=False)
                places[future] = at
                futures.append(future)
            return futures

        finished = completed(submit(WAITING_TASKS * sum(client.nthreads().values())))
        try:
            yield from _in_order(finished, places, submit, start)
        finally:
            client.cancel(list(places))


def _in_order(
    finished: Any, places: dict[Any, int], submit: Callable[[int], list[Any]], start: int
) -> Iterator[Part]:
    waiting: dict[int, Part] = {}
    for future in finished:
        waiting[places.pop(future)] = future.result()
        while start in waiting:
            part = waiting.pop(start)
            start = part.stop
            yield part
            for new in submit(1):
                finished.add(new)


def _sources(survey: Survey) -> str:
    """Return a digest of the simulator and of the kernels' folders."""
    folders = [_PACKAGE]
    folders += [Path(f) for f in {getattr(s, "folder", "") for s in (survey.one, survey.two)} if f]
    state = hashlib.sha256()
    for folder in sorted(folders):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".toml"):
                state.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return state.hexdigest()
