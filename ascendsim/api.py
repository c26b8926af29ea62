"""Launch an operator and look at its run: the surface of `import ascendsim`."""

from __future__ import annotations

import math
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendsim import soc as socs
from ascendsim.dtypes import DType
from ascendsim.errors import RequestError, ShapeError, UnsupportedError
from ascendsim.host import Op, Tiling, load
from ascendsim.launch import Job, Readers, Result, block_classes, blocks_of
from ascendsim.launch import launch as launch_job
from ascendsim.observe.timeline import (
    StepRecorder,
    Timeline,
    check_costs,
    same_stream,
    schedule_launch,
    timeline_of,
)
from ascendsim.observe.timeline.steps import shared_tensors
from ascendsim.options import Options

MODES = ("auto", "step", "replay", "fused")
RECORDS = ("none", "calls", "bytes")
__all__ = ["Run", "launch", "load", "time"]


@dataclass(slots=True)
class Run:
    """The data of a run.

    outputs : output arrays by name, `out` the first; calls : the call log when it was recorded;
    warnings : `code: text` each; evidence : the rules it relied on and the weakest grade;
    mode : how it really ran, `fallback` why not as asked ("" when as asked); seconds : wall time
    of the blocks.
    """

    op: str
    dtype: str
    n: int
    soc: str
    block_dim: int
    tiling: dict[str, Any]
    mode: str
    fallback: str
    seconds: float
    outputs: dict[str, np.ndarray]
    warnings: list[str]
    evidence: dict[str, Any]
    calls: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Any] = field(default_factory=list)
    ub_images: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def out(self) -> np.ndarray:
        """The first output.

        Raises
        ------
        RequestError
            When the run made records only (execute=False).
        """
        if not self.outputs:
            raise RequestError("this run made records only; launch it with execute=True")
        return next(iter(self.outputs.values()))

    def ub(self, core: int) -> np.ndarray:
        """Return the whole UB of `core` when its block ended (with record="calls").

        Raises
        ------
        RequestError
            When UB images were not kept, or there is no such core.
        """
        if core not in self.ub_images:
            raise RequestError(f'no UB image of core {core}: launch with record="calls"')
        return self.ub_images[core]

    def to_json(self) -> dict[str, Any]:
        """Return the document that `ascendsim run --json` prints."""
        crcs = {name: zlib.crc32(_raw(array)) for name, array in self.outputs.items()}
        rate = self.n / self.seconds if self.seconds > 0 else 0.0
        document = {
            "op": self.op,
            "dtype": self.dtype,
            "n": self.n,
            "soc": self.soc,
            "block_dim": self.block_dim,
            "tiling": self.tiling,
            "mode": self.mode,
            "fallback": self.fallback,
            "out_crc32": next(iter(crcs.values())),
            "seconds": self.seconds,
            "elements_per_second": rate,
            "warnings": self.warnings,
            "evidence": self.evidence,
        }
        return document if len(crcs) == 1 else document | {"outputs": crcs}

    def __repr__(self) -> str:
        return (
            f"Run({self.op} {self.dtype} n={self.n} on {self.soc}, {self.block_dim} blocks, "
            f"{self.mode}, weakest evidence {self.evidence['weakest']})"
        )


def launch(
    op: Op | str,
    arrays: Mapping[str, np.ndarray],
    tiling: Tiling,
    *,
    soc: str | None = None,
    mode: str = "auto",
    record: str = "none",
    checks: Iterable[str] = (),
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
    record : "none", or "calls" to keep the call log and UB images (`last` keeps the newest only)
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
    op = load(op)
    _check_request(mode, record, checks)
    job = _job(op, arrays, tiling, soc, seed, options or Options())
    kept: deque[dict[str, Any]] = deque(maxlen=last)
    images: dict[int, np.ndarray] = {}
    if record == "calls" and call_sink is None:
        call_sink = kept.append
    if record == "calls" and ub_sink is None:
        ub_sink = lambda core, ub: images.__setitem__(core, ub.copy())  # noqa: E731
    readers = Readers((), call_sink, ub_sink, progress, blocks_of(blocks), execute)
    result = launch_job(job, readers)
    return _run_of(op, job, tiling, mode, result, list(kept), images)


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
    op = load(op)
    chosen = options or Options()
    job = _job(op, _shapes_only(op, tiling), tiling, soc, 0, chosen)
    check_costs(job.soc)
    found = block_classes(
        job,
        lambda: StepRecorder(job.soc, chosen.auto_sync == "on", keep),
        same_stream,
        share,
    )
    streams = [(c.stream, c.blocks) for c in found]
    cores = (tiling.origin.cores if tiling.origin else None) or job.soc.aiv_cores
    launched = schedule_launch(streams, shared_tensors(found), job.soc, cores)
    return timeline_of(launched, job.ub_bytes)


def _shapes_only(op: Op, tiling: Tiling) -> dict[str, np.ndarray]:
    """Return arrays that have a shape and a dtype but no bytes of their own."""
    return {
        name: np.broadcast_to(np.zeros((), tiling.dtypes[name].numpy), tiling.shapes[name])
        for name in op.definition.inputs
    }


def _run_of(
    op: Op,
    job: Job,
    tiling: Tiling,
    mode: str,
    result: Result,
    calls: list[dict[str, Any]],
    images: dict[int, np.ndarray],
) -> Run:
    missing = mode in ("replay", "fused")
    fallback = f"{mode} is not available in this version; ran as step" if missing else ""
    what_if = op.soc_warning(job.soc.name)
    warnings = ([f"what-if: {what_if}"] if what_if else []) + result.warnings
    first_input = next(iter(job.input_types.values()))
    return Run(
        op=op.name,
        dtype=first_input.name,
        n=math.prod(next(iter(job.outputs.values()))[0]),
        soc=job.soc.name,
        block_dim=job.block_dim,
        tiling=tiling.to_json(),
        mode="step",
        fallback=fallback,
        seconds=result.seconds,
        outputs=result.outputs,
        warnings=warnings,
        evidence=result.evidence,
        calls=calls,
        ub_images=images,
    )


def _check_request(mode: str, record: str, checks: Iterable[str]) -> None:
    if mode not in MODES:
        raise RequestError(f"mode {mode!r} is unknown; use one of {', '.join(MODES)}")
    if record not in RECORDS:
        raise RequestError(f"record {record!r} is unknown; use one of {', '.join(RECORDS)}")
    if record == "bytes":
        raise UnsupportedError('record="bytes" is not available; record="calls" is')
    if tuple(checks):
        raise UnsupportedError("checks are not available in this version; run without them")


def _job(
    op: Op,
    arrays: Mapping[str, np.ndarray],
    tiling: Tiling,
    soc: str | None,
    seed: int,
    options: Options,
) -> Job:
    if not isinstance(tiling, Tiling) or tiling.origin is None:
        raise RequestError("tiling must come from op.tiling(...)")
    chip = socs.load(soc or tiling.origin.soc)
    inputs, types = _checked_inputs(op, arrays, tiling)
    outputs = {
        name: (tuple(tiling.output_shapes[name]), tiling.dtypes[name])
        for name in op.definition.outputs
    }
    types_key = tuple(t.name for t in tiling.dtypes.values())
    return Job(
        name=op.name,
        kernel=op.kernel,
        inputs=inputs,
        input_types=types,
        outputs=outputs,
        tiling=tiling.kernel_view(),
        block_dim=tiling.block_dim,
        workspace=sum(tiling.workspace),
        soc=chip,
        ub_bytes=tiling.ub or chip.ub_bytes,
        options=options,
        seed=seed,
        identity=(op.kernel, tiling.key, types_key),
    )


def _checked_inputs(
    op: Op, arrays: Mapping[str, np.ndarray], tiling: Tiling
) -> tuple[dict[str, np.ndarray], dict[str, DType]]:
    inputs, types = {}, {}
    for name in op.definition.inputs:
        if name not in arrays:
            raise RequestError(
                f"input {name!r} is missing; {op.name} needs {', '.join(op.definition.inputs)}"
            )
        array, wanted = np.asarray(arrays[name]), tiling.dtypes[name]
        shape = tuple(tiling.shapes[name])
        if array.dtype != wanted.numpy and not (array.dtype == bool and wanted.name == "uint8"):
            raise ShapeError(
                f"input {name} is {array.dtype}, but the tiling was made for {wanted}; convert it "
                f"with .astype, or make the tiling for its type"
            )
        if array.shape != shape and (math.prod(shape) != array.size or array.shape != (1,)):
            raise ShapeError(
                f"input {name} has shape {array.shape}, but the tiling was made for {shape}"
            )
        inputs[name], types[name] = array, wanted
    for extra in set(arrays) - set(inputs):
        raise RequestError(f"{op.name} has no input {extra!r}: {', '.join(op.definition.inputs)}")
    return inputs, types


def _raw(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
