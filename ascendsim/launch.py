"""Run a kernel on a simulated chip: blocks one after another, each on a fresh core.

The order of blocks is owned here, as are the observers, the cores kept between launches, and the
translation of whatever goes wrong into an error at the kernel's own line.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ascendsim.core import AivCore
from ascendsim.dtypes import DType, uint8
from ascendsim.errors import AscendError, KernelError, UnsupportedError
from ascendsim.isa.rules import RULES, weakest
from ascendsim.memory import Allocation
from ascendsim.observe.calls import CallLog
from ascendsim.options import Options
from ascendsim.record import CURRENT, Observer
from ascendsim.soc import Soc
from ascendsim.tensor import GmAddress

PACKAGE = str(Path(__file__).parent)
MAX_IDLE_CORES = 8


@dataclass(frozen=True, slots=True)
class Job:
    """All that a launch needs to know.

    `inputs` are host arrays by name, `outputs` shape and dtype by name, `tiling` the object that
    the kernel reads its fields from. `identity` names what the cores are kept for.
    """

    name: str
    kernel: Callable[..., None]
    inputs: Mapping[str, np.ndarray]
    input_types: Mapping[str, DType]
    outputs: Mapping[str, tuple[tuple[int, ...], DType]]
    tiling: Any
    block_dim: int
    workspace: int
    soc: Soc
    ub_bytes: int
    options: Options
    seed: int
    identity: tuple[Any, ...]


@dataclass(slots=True)
class Readers:
    """Who reads along, and how blocks report.

    `call_sink` gets one dict per call; `ub_sink` the block's number and its whole UB at the end;
    `progress` the number of blocks done. `blocks` limits the records to these blocks.
    """

    observers: tuple[Observer, ...] = ()
    call_sink: Callable[[dict[str, Any]], None] | None = None
    ub_sink: Callable[[int, np.ndarray], None] | None = None
    progress: Callable[[int, int], None] | None = None
    blocks: frozenset[int] | None = None
    executing: bool = True

    def of(self, block: int) -> tuple[Observer, ...]:
        """Return the observers of `block`."""
        if self.blocks is not None and block not in self.blocks:
            return ()
        log = () if self.call_sink is None else (CallLog(self.call_sink),)
        return (*self.observers, *log)


@dataclass(slots=True)
class Result:
    """What a launch leaves: the outputs, what the user must be told, and what it relied on."""

    outputs: dict[str, np.ndarray]
    warnings: list[str]
    evidence: dict[str, Any]
    seconds: float


def launch(job: Job, readers: Readers) -> Result:
    """Run all blocks of `job` and return its result.

    Raises
    ------
    AscendError
        At the first rule that the kernel breaks; `where` is the kernel's own line.
    """
    key = (job.identity, job.soc.name, job.ub_bytes, job.options)
    core = _CORES.take(key) or AivCore(job.soc, job.ub_bytes, job.options)
    try:
        result = _run(job, readers, core)
    finally:
        core.gm.release()
        core.observers, core.readers = (), False
    _CORES.put(key, core)
    return result


def _run(job: Job, readers: Readers, core: AivCore) -> Result:
    arguments = _upload(job, core)
    core.block_num, core.executing = job.block_dim, readers.executing
    core.warnings.clear()
    core.ub.set_fill(job.options.ub_fill, job.seed)
    token = CURRENT.set(core)
    start = time.perf_counter()
    try:
        for block in range(job.block_dim):
            core.begin_block(block, readers.of(block))
            _run_block(job, core, block, arguments)
            _end_block(core)
            if readers.ub_sink is not None:
                readers.ub_sink(block, core.ub.array)
            if readers.progress is not None:
                readers.progress(block + 1, job.block_dim)
    finally:
        CURRENT.reset(token)
    seconds = time.perf_counter() - start
    outputs = {name: core.gm.allocations[name] for name in job.outputs}
    warnings = _warnings(job, core, outputs, readers.executing)
    arrays = {name: allocation.array for name, allocation in outputs.items()}
    return Result(arrays, warnings, evidence(core), seconds)


def evidence(core: AivCore) -> dict[str, Any]:
    """Return the rules that the core's calls relied on, weakest first."""
    arch = core.soc.arch
    rows: list[dict[str, Any]] = []
    for rule_id, instructions in core.rules.items():
        rule = RULES[rule_id]
        rows.append(
            {
                "rule": rule.id,
                "grade": rule.grade(arch),
                "text": rule.text,
                "source": rule.source,
                "instructions": sorted(instructions),
            }
        )
    grades = [row["grade"] for row in rows]
    order = ("assumed", "report", "code", "documented")
    rows.sort(key=lambda row: (order.index(row["grade"]), row["rule"]))
    return {"weakest": weakest(grades), "rules": rows}


def _upload(job: Job, core: AivCore) -> list[GmAddress]:
    """Place inputs, outputs and workspace in GM; return the kernel's arguments."""
    for name, array in job.inputs.items():
        core.gm.upload(name, job.input_types[name], array)
    for name, (shape, dtype) in job.outputs.items():
        core.gm.reserve(name, dtype, shape)
    core.gm.reserve("workspace", uint8, (job.workspace,))
    return [GmAddress(allocation) for allocation in core.gm.allocations.values()]


def _run_block(job: Job, core: AivCore, block: int, arguments: list[GmAddress]) -> None:
    try:
        job.kernel(*arguments, job.tiling)
    except AscendError as error:
        error.where = error.where or _kernel_line(error.__traceback__)
        error.block = block
        raise
    except Exception as error:
        wrapped = _kernel_error(error)
        wrapped.where, wrapped.block = _kernel_line(error.__traceback__), block
        raise wrapped from error


def _kernel_error(error: Exception) -> AscendError:
    """Return what the user is told of a Python error in the kernel."""
    if isinstance(error, NameError) and error.name:
        return UnsupportedError(
            f"{error.name} is neither defined in the kernel nor modelled here; `ascendsim isa` "
            f"lists the Ascend C names that are"
        )
    return KernelError(f"{type(error).__name__}: {error}")


def _kernel_line(traceback: TracebackType | None) -> tuple[str, int] | None:
    """Return file and line of the innermost frame that is not the simulator's."""
    found = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        inside = file.startswith((PACKAGE + os.sep, "<ascendsim"))
        if not inside or "_kernels" in file:
            found = (_short(file), traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def _short(file: str) -> str:
    """Return `file` relative to the working directory when it lies below it."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def _end_block(core: AivCore) -> None:
    for event, number in core.events.flags:
        core.warnings.setdefault(
            "flag-left-set",
            f"{event}({number}) is still set when block {core.block} ends; on hardware it stays "
            f"set for the next kernel; add the WaitFlag",
        )


def _warnings(
    job: Job, core: AivCore, outputs: Mapping[str, Allocation], executing: bool
) -> list[str]:
    found = dict(core.warnings)
    cores = job.soc.aiv_cores
    if job.block_dim > cores:
        found["blocks"] = f"{job.block_dim} blocks on {cores} cores of {job.soc.name}: in rounds"
    if job.ub_bytes > job.soc.ub_physical_bytes:
        found["ub"] = (
            f"a UB of {job.ub_bytes} bytes; {job.soc.name} has {job.soc.ub_physical_bytes}"
        )
    touched = [a for a in core.gm.allocations.values() if a.slack_read or a.slack_written]
    if touched:
        core.relied_on(("gm-slack",), "launch")
        parts = (
            f"{a.name} ({a.slack_read} bytes read, {a.slack_written} written)" for a in touched
        )
        found["gm-slack"] = f"touched past the end of {', '.join(parts)}; inside the slack"
    gaps = [text for a in outputs.values() if (text := _coverage(a))]
    if gaps and executing:
        found["coverage"] = "; ".join(gaps)
    return [f"{code}: {text}" for code, text in found.items()]


def _coverage(allocation: Allocation) -> str:
    """Say which bytes of an output were not written exactly once ("" when all were)."""
    if not allocation.nbytes:
        return ""
    if not allocation.writes:
        return f"{allocation.name} was never written"
    spans = np.array(allocation.writes, np.int64)
    spans = np.minimum(spans[np.argsort(spans[:, 0], kind="stable")], allocation.nbytes)
    spans = spans[spans[:, 1] > spans[:, 0]]
    reach = np.maximum.accumulate(spans[:, 1])
    before = np.concatenate(([0], reach[:-1]))
    missing = int(np.maximum(spans[:, 0] - before, 0).sum()) + allocation.nbytes - int(reach[-1])
    twice = int(np.maximum(np.minimum(before, spans[:, 1]) - spans[:, 0], 0).sum())
    if not missing and not twice:
        return ""
    return (
        f"{allocation.name}: {missing} bytes never written, {twice} written more than once "
        f"(of {allocation.nbytes}); the blocks do not cover the tensor exactly once"
    )


class _CoreTable:
    """Cores between launches: their tensors and bound calls stay valid for the same kernel."""

    def __init__(self) -> None:
        self.idle: OrderedDict[tuple[Any, ...], AivCore] = OrderedDict()

    def take(self, key: tuple[Any, ...]) -> AivCore | None:
        return self.idle.pop(key, None)

    def put(self, key: tuple[Any, ...], core: AivCore) -> None:
        self.idle[key] = core
        while len(self.idle) > MAX_IDLE_CORES:
            self.idle.popitem(last=False)


_CORES = _CoreTable()


def blocks_of(blocks: Iterable[int] | None) -> frozenset[int] | None:
    """Return the set of blocks to record, None for all."""
    return None if blocks is None else frozenset(blocks)
