"""What a launch is given and what it leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.memory import UbImage
from ascendsim.observe.calls import CallLog
from ascendsim.options import Options
from ascendsim.record import Observer
from ascendsim.soc import Soc

if TYPE_CHECKING:
    from ascendsim.observe.checks import Checks


@dataclass(frozen=True, slots=True)
class Job:
    """All that a launch needs to know.

    `inputs` are host arrays by name, `outputs` shape and dtype by name, `tiling` the object that
    the kernel reads its fields from. `identity` names what the cores are kept for. `initial` holds
    what outputs contain before the run, where they are not to hold the fill.
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
    initial: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(slots=True)
class Readers:
    """Who reads along, and how blocks report.

    `call_sink` gets one dict per call; `ub_sink` the block's number and its whole UB at the end;
    `progress` the number of blocks done; `images` the UB of each block at its end. `blocks` limits
    the records to these blocks. `checks` read along too, and take the errors that they know: such a
    run ends with a finding instead.
    """

    observers: tuple[Observer, ...] = ()
    call_sink: Callable[[dict[str, Any]], None] | None = None
    ub_sink: Callable[[int, np.ndarray], None] | None = None
    progress: Callable[[int, int], None] | None = None
    blocks: frozenset[int] | None = None
    executing: bool = True
    images: dict[int, UbImage] | None = None
    checks: Checks | None = None

    @property
    def quiet(self) -> bool:
        """True when only the outputs are wanted."""
        sinks = self.call_sink or self.ub_sink or self.images is not None
        return not (self.observers or sinks or self.checks) and self.executing

    def of(self, block: int) -> tuple[Observer, ...]:
        """Return the observers of `block`."""
        if self.blocks is not None and block not in self.blocks:
            return ()
        log = () if self.call_sink is None else (CallLog(self.call_sink),)
        checks = () if self.checks is None else (self.checks,)
        return (*checks, *self.observers, *log)


@dataclass(slots=True)
class Result:
    """What a launch leaves: the outputs, what the user must be told, and what it relied on."""

    outputs: dict[str, np.ndarray]
    warnings: list[str]
    evidence: dict[str, Any]
    seconds: float


def blocks_of(blocks: Iterable[int] | None) -> frozenset[int] | None:
    """Return the set of blocks to record, None for all."""
    return None if blocks is None else frozenset(blocks)


class Ran(NamedTuple):
    """A result, how it was made, and why not as asked ("" when as asked)."""

    result: Result
    mode: str
    fallback: str


def sizes_of(job: Job) -> dict[str, int]:
    """Return the bytes of inputs, outputs and workspace, by name."""
    sizes = {name: a.size * job.input_types[name].nbytes for name, a in job.inputs.items()}
    sizes |= {n: dtype.nbytes * math.prod(shape) for n, (shape, dtype) in job.outputs.items()}
    return sizes | {"workspace": job.workspace}


def key_of(job: Job) -> Hashable:
    """Return all that steers a launch but its data and what the kernel reads from its module."""
    inputs = tuple((n, a.shape, job.input_types[n]) for n, a in job.inputs.items())
    outputs = tuple(job.outputs.items())
    where = (job.soc, job.ub_bytes, job.options, job.block_dim, job.workspace)
    return job.identity, inputs, outputs, where
