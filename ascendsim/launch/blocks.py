"""Run the blocks of a job, one after another, and turn what goes wrong into clear errors."""

from __future__ import annotations

import gc
import os
import sysconfig
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import Enum
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ascendsim.core import AivCore
from ascendsim.dtypes import uint8
from ascendsim.errors import AscendError, KernelError, UnsupportedError
from ascendsim.launch.job import Job, Readers, Result
from ascendsim.launch.report import evidence, stored_spans, touches_slack, warnings_of
from ascendsim.launch.turns import Turns
from ascendsim.record import CURRENT
from ascendsim.tensor import GmAddress

if TYPE_CHECKING:
    from ascendsim.observe.checks import Checks

PACKAGE = str(Path(__file__).parents[1])
_LIBRARIES = tuple(
    sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
MAX_IDLE_CORES = 8


def launch(job: Job, readers: Readers) -> Result:
    """Run all blocks of `job` and return its result.

    Raises
    ------
    AscendError
        At the first rule that the kernel breaks; `where` is the kernel's own line.
    """
    collection = no_collection() if readers.observers or readers.checks else nullcontext()
    with prepared_core(job, readers.executing) as (core, arguments), collection:
        start = time.perf_counter()
        done = count(1)

        def run_one(core: AivCore, block: int) -> None:
            core.begin_block(block, readers.of(block))
            core.on_hang = None if readers.checks is None else readers.checks.hangs
            run_block(job, core, block, arguments, readers.checks)
            end_block(core)
            if readers.checks is not None:
                readers.checks.end_block(core)
            if readers.ub_sink is not None:
                readers.ub_sink(block, core.ub.array)
            if readers.images is not None:
                readers.images[block] = core.image()
            if readers.progress is not None:
                readers.progress(next(done), job.block_dim)

        with _findings(readers.checks, core):
            Turns(core, job.block_dim, run_one).run()
        seconds = time.perf_counter() - start
        outputs = {name: core.gm.allocations[name] for name in job.outputs}
        stored = {n: stored_spans(a) for n, a in outputs.items() if readers.executing}
        told = frozenset[str]() if readers.checks is None else readers.checks.told
        if "stopped" in core.warnings:
            stored = {}  # what was not reached says nothing
        warnings = warnings_of(job, core.warnings, core.gm.allocations, stored, told)
        slack = any(map(touches_slack, core.gm.allocations.values()))
        arrays = {name: a.array for name, a in outputs.items() if readers.executing}
        if readers.observers or readers.checks:
            core.gm.inputs.clear()  # records hold on to them, so their bytes are not used again
        return Result(arrays, warnings, evidence(core, slack), seconds)


@contextmanager
def _findings(checks: Checks | None, core: AivCore) -> Iterator[None]:
    """End a launch that the checks stopped as any other; its core is not used again."""
    try:
        yield
    except AscendError as error:
        if checks is None or not error.taken:
            raise
        core.trusted = False
        core.warnings["stopped"] = f"the launch ended at a finding: {error}"
    if checks is not None:
        checks.end_launch(stopped="stopped" in core.warnings)
        core.warnings.update(checks.findings.limits)
        for code in checks.told:
            core.warnings.pop(code, None)


@contextmanager
def prepared_core(job: Job, executing: bool) -> Iterator[tuple[AivCore, list[GmAddress]]]:
    """Give a core with the job's arrays in GM, current until the end, and the kernel's arguments.

    A core whose block failed is not kept: its state is not trusted.
    """
    key = (job.identity, job.soc, job.ub_bytes, job.options)
    core = _CORES.take(key) or AivCore(job.soc, job.ub_bytes, job.options)
    arguments = _upload(job, core) if executing else _imagine(job, core)
    core.block_num, core.executing = job.block_dim, executing
    core.warnings = dict(core.bound_warnings)
    core.ub.set_fill(job.options.ub_fill, job.seed)
    token = CURRENT.set(core)
    try:
        yield core, arguments
    finally:
        CURRENT.reset(token)
        core.gm.release()
        core.observers, core.readers, core.tape = (), False, None
    if core.trusted:
        _CORES.put(key, core)


@contextmanager
def no_collection() -> Iterator[None]:
    """Hold the garbage collector: it would look through all records again and again for cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _upload(job: Job, core: AivCore) -> list[GmAddress]:
    """Place inputs, outputs and workspace in GM; return the kernel's arguments."""
    for name, array in job.inputs.items():
        core.gm.upload(name, job.input_types[name], array)
    for name, (shape, dtype) in job.outputs.items():
        reserved = core.gm.reserve(name, dtype, shape)
        if name in job.initial:
            reserved.array[...] = job.initial[name]
    core.gm.reserve("workspace", uint8, (job.workspace,))
    return [GmAddress(allocation) for allocation in core.gm.allocations.values()]


def _imagine(job: Job, core: AivCore) -> list[GmAddress]:
    """Give the arrays their sizes only: records need no data, so no byte of them is touched."""
    for name, array in job.inputs.items():
        core.gm.imagine(name, job.input_types[name], array.shape)
    for name, (shape, dtype) in job.outputs.items():
        core.gm.imagine(name, dtype, shape)
    core.gm.imagine("workspace", uint8, (job.workspace,))
    return [GmAddress(allocation) for allocation in core.gm.allocations.values()]


def run_block(
    job: Job,
    core: AivCore,
    block: int,
    arguments: list[GmAddress],
    checks: Checks | None = None,
) -> None:
    """Run one block of the kernel; errors that `checks` know become findings.

    Raises
    ------
    AscendError
        With the kernel's own line and the block.
    """
    try:
        job.kernel(*arguments, job.tiling)
    except AscendError as error:
        if not getattr(error, "located", False):  # not the kernel's: a sink could not be written
            error.where = error.where or _kernel_line(error.__traceback__)
            error.block = block
            error.taken = checks is not None and checks.takes(error, core)
        raise
    except (Exception, SystemExit) as error:
        wrapped = _kernel_error(error)
        wrapped.where, wrapped.block = _kernel_line(error.__traceback__), block
        raise wrapped from error


def _kernel_error(error: BaseException) -> AscendError:
    """Return what the user is told of a Python error in the kernel."""
    if isinstance(error, NameError) and error.name:
        return UnsupportedError(
            f"{error.name} is neither defined in the kernel nor modelled here; `ascendsim isa` "
            f"lists the Ascend C names that are"
        )
    if isinstance(error, AttributeError) and isinstance(error.obj, type(Enum)):
        names = ", ".join(member.name for member in error.obj)  # type: ignore[var-annotated]
        return KernelError(f"{error.obj.__name__} has no {error.name}: it has {names}")
    if isinstance(error, AttributeError) and error.obj is not None and error.name:
        fields = getattr(error.obj, "__dict__", None)
        if type(error.obj).__name__ == "SimpleNamespace" and fields:
            return KernelError(f"the tiling has no field {error.name}: it has {', '.join(fields)}")
    text = str(error)
    return KernelError(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def _kernel_line(traceback: TracebackType | None) -> tuple[str, int] | None:
    """Return file and line of the innermost frame that is not the simulator's."""
    found = None
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_kernel_file(file):
            found = (short_name(file), traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def is_kernel_file(file: str) -> bool:
    """Tell whether a source file is neither the simulator's nor a library's."""
    inside = file.startswith((PACKAGE + os.sep, "<ascendsim", "<frozen ", *_LIBRARIES))
    return not inside or "_kernels" in file


def short_name(file: str) -> str:
    """Return `file` relative to the working directory when it lies below it."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def end_block(core: AivCore) -> None:
    """Note what the block that just ended left behind."""
    if core.atomic is not None:
        core.warnings.setdefault(
            "atomic-left-on",
            f"block {core.block} ends with {core.atomic[0]} on; it lasts into the next kernel on "
            f"hardware; add SetAtomicNone()",
        )
    for event, number in core.events.flags:
        core.warnings.setdefault(
            "flag-left-set",
            f"{event}({number}) is still set when block {core.block} ends; on hardware it stays "
            f"set for the next kernel; add the WaitFlag",
        )
    leaked = _leaked(core)
    if leaked:
        core.warnings.setdefault(
            "leak",
            f"block {core.block} ends with tensors of {', '.join(leaked)} not freed; on hardware "
            f"their flags stay set for the next kernel; add the FreeTensor",
        )


def _leaked(core: AivCore) -> list[str]:
    """Return the queues that still hold allocated tensors."""
    return [h.name for h in core.holders if h.allocated]


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
