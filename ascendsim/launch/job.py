"""What a launch is given and what it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.observe.calls import CallLog
from ascendsim.options import Options
from ascendsim.record import Observer
from ascendsim.soc import Soc


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

    @property
    def quiet(self) -> bool:
        """True when only the outputs are wanted."""
        return not (self.observers or self.call_sink or self.ub_sink) and self.executing

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


def blocks_of(blocks: Iterable[int] | None) -> frozenset[int] | None:
    """Return the set of blocks to record, None for all."""
    return None if blocks is None else frozenset(blocks)
