"""Launch an operator and look at its run: the surface of `import ascendsim`.

run : the Run that comes back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ascendsim.api.given import checked_options, checks_of, unlocated
from ascendsim.api.run import Run
from ascendsim.errors import RequestError
from ascendsim.host import Op, Tiling, load
from ascendsim.host.job import make_job, timing_job
from ascendsim.launch import Job, Ran, Readers, blocks_of
from ascendsim.launch import run as run_job
from ascendsim.memory import UbImage
from ascendsim.observe.calls import CallLog
from ascendsim.observe.recorder import Recorder
from ascendsim.options import Options
from ascendsim.view.defined import Defined

if TYPE_CHECKING:
    from ascendsim.observe.timeline import Timeline

MODES = ("auto", "step", "replay", "fused")
RECORDS = ("none", "calls", "bytes")
__all__ = ["Run", "launch", "load", "time"]


def launch(
    op: Op | str,
    arrays: Mapping[str, np.ndarray],
    tiling: Tiling,
    *,
    soc: str | None = None,
    mode: str = "auto",
    record: str = "none",
    checks: Iterable[str] = (),
    strict: bool = False,
    execute: bool = True,
    blocks: Iterable[int] | None = None,
    last: int | None = None,
    seed: int = 0,
    options: Options | None = None,
    call_sink: Callable[[dict[str, Any]], None] | None = None,
    ub_sink: Callable[[int, np.ndarray], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Run `op` on `arrays` as `tiling` says; attributes, SoC and UB size travel in the tiling.

    Parameters
    ----------
    arrays : one array per input of the operator, of its dtype, any strides; never changed
    record : "none"; "calls" to keep the call log and UB images; "bytes" to step through blocks
        forwards and back (`last` keeps the newest calls only)
    checks : which of memcheck, initcheck, racecheck, synccheck read along; what they find is in
        `findings`, also what would be raised without them, and the run ends there
    strict : let initcheck report every read of undefined bytes, not only what comes of it
    execute : False makes records without touching bytes
    blocks : the blocks to record, default all
    call_sink, ub_sink : take one dict per call, and (core, UB bytes) per block, as they come
    progress : takes (blocks done, blocks)

    Raises
    ------
    RequestError
        When the request is wrong: a missing array, an unknown mode.
    ShapeError
        When shapes or dtypes do not agree with the tiling.
    AscendError
        When the kernel breaks a rule; `where` is its own line.
    """
    _check_request(mode, record, last)
    job = make_job(op := load(op), arrays, tiling, soc, seed, checked_options(options))
    checking = checks_of(job, checks, strict, execute)
    call_sink, ub_sink = map(unlocated, (call_sink, ub_sink))
    recorder = Recorder(last) if record == "bytes" else None
    log = CallLog(last=last) if record == "calls" and call_sink is None else None
    images: dict[int, UbImage] | None = {} if record != "none" and ub_sink is None else None
    seen = tuple(each for each in (recorder, log) if each is not None)
    sinks = call_sink, ub_sink, progress
    readers = Readers(seen, *sinks, blocks_of(blocks), execute, images, checking)
    run = _run_of(op, job, tiling, run_job(job, readers, mode))
    run.log, run.ub_images = None if log is None else log.calls, images or {}
    run.recordings = {} if recorder is None else recorder.blocks
    if checking is not None:
        run.checks, run.findings = checking.tools, checking.all()
    run.wanted = Defined(lambda: op, tiling.origin)
    run.timed = lambda: time(op, tiling, soc=soc, options=options, keep=True)
    return run


def time(
    op: Op | str,
    tiling: Tiling,
    *,
    soc: str | None = None,
    options: Options | None = None,
    keep: bool = False,
    share: bool = True,
) -> Timeline:
    """Return the timeline of a launch, from records made without data.

    Parameters
    ----------
    keep : keep the records, so that slices know their instruction and line (traces, pictures)
    share : False records every block instead of one per class (the slow truth)

    Raises
    ------
    UnsupportedError
        When the SoC has no costs, or the kernel reads data as scalars.
    AscendError
        When the kernel breaks a rule.
    """
    from ascendsim.launch import recorded, scheduled
    from ascendsim.observe.timeline import timeline_of

    op = load(op)
    job = timing_job(op, tiling, checked_options(options), soc)
    cores = tiling.origin.cores if tiling.origin else None
    found = timeline_of(scheduled(job, recorded(job, keep, share), cores), job.ub_bytes)
    return replace(found, drawn=partial(_drawn, title=f"{op.name} on {job.soc.name}"))


def _drawn(timeline: Timeline, title: str) -> str:
    from ascendsim.view.html.timeline import timeline_html

    return timeline_html(timeline, title)


def _run_of(
    op: Op,
    job: Job,
    tiling: Tiling,
    ran: Ran,
) -> Run:
    what_if = op.soc_warning(job.soc.name)
    warnings = [f"what-if: {what_if}"] if what_if else []
    if job.soc.name != tiling.soc:
        warnings.append(f"soc: tiling was made for {tiling.soc}, run on {job.soc.name}")
    warnings += ran.result.warnings
    first_input = next(iter(job.input_types.values()))
    return Run(
        op=op.name,
        dtype=first_input.name,
        n=math.prod(next(iter(job.outputs.values()))[0]),
        soc=job.soc.name,
        block_dim=job.block_dim,
        tiling=tiling.to_json(),
        mode=ran.mode,
        fallback=ran.fallback,
        seconds=ran.result.seconds,
        outputs=ran.result.outputs,
        warnings=warnings,
        evidence=ran.result.evidence,
    )


def _check_request(mode: str, record: str, last: int | None) -> None:
    if mode not in MODES:
        raise RequestError(f"mode {mode!r} is unknown; use one of {', '.join(MODES)}")
    if record not in RECORDS:
        raise RequestError(f"record {record!r} is unknown; use one of {', '.join(RECORDS)}")
    if last is not None and not (isinstance(last, int) and last >= 0):
        raise RequestError(f"last={last!r}: a number of calls not below 0 is needed, or None")
