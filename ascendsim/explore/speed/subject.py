"""One operator with data of one type, and the ways to compute it that are timed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.engine.threads import THREADS_VARIABLE
from ascendsim.errors import RequestError
from ascendsim.explore.speed.c_loop import CLoop
from ascendsim.explore.speed.measure import Work
from ascendsim.host import Op, Tiling
from ascendsim.host.job import make_job
from ascendsim.launch import Readers, run
from ascendsim.observe.checks import Checks
from ascendsim.options import Options

MODES = ("step", "replay", "fused")


@dataclass(frozen=True, slots=True)
class Subject:
    """An operator and its data.

    arrays : inputs by name; ones of normal size, four times as wide for the swept one
    """

    op: Op
    dtype: DType
    arrays: Mapping[str, np.ndarray]
    tiling: Tiling

    @classmethod
    def of(cls, op: Op, dtype: DType, elements: int, cores: int | None = None) -> Subject:
        """Return a subject with `elements` random elements, the same each time."""
        generator = np.random.default_rng(0)
        arrays = {}
        for name in op.definition.inputs:
            width = 4 if name == op.definition.sweep_input else 1
            some = width * generator.standard_normal(min(elements, 1_000_000), np.float32)
            arrays[name] = np.resize(some.astype(dtype.numpy), elements)
        return cls(op, dtype, arrays, op.tiling((elements,), dtype.name, cores=cores))

    @property
    def label(self) -> str:
        """Name and type."""
        return f"{self.op.name} {self.dtype.name}"

    def launch(self, mode: str, readers: Readers | None = None) -> Any:
        """Run the kernel; returns what `launch.run` returns."""
        job = make_job(self.op, self.arrays, self.tiling, None, 0, Options())
        return run(job, readers or Readers(), mode)

    def checked(self, tools: Sequence[str]) -> Any:
        """Run the kernel in step mode with these checks; returns what `launch.run` returns."""
        checks = Checks(tools, Options(), defined=tuple(self.arrays))
        return self.launch("step", Readers(checks=checks))

    def loops(self) -> float:
        """Run fused; return the seconds of its loops, without the call around them."""
        return self.launch("fused").result.seconds

    def ways(self) -> tuple[dict[str, Work], dict[str, str]]:
        """Return what can be timed, by name, and why the rest cannot."""
        works: dict[str, Work] = {}
        skipped: dict[str, str] = {}
        for mode in MODES:
            ran = self.launch(mode)
            if ran.mode == mode:
                works[mode] = partial(self.launch, mode)
                if mode == "fused":
                    works["fused loop"] = self.loops
            else:
                skipped[mode] = f"ran as {ran.mode}: {ran.fallback}"
                if mode == "fused":
                    skipped["fused loop"] = skipped[mode]
        values = list(self.arrays.values())
        if hasattr(self.op.ref, "naive"):
            works["numpy"] = lambda: self.op.ref.naive(np, *values)  # type: ignore[union-attr]
        else:
            skipped["numpy"] = "no naive(...) in op_ref.py"
        try:
            works["C"] = partial(c_seconds, CLoop(self.op, self.dtype, {}).run, values)
        except RequestError as error:
            skipped["C"] = str(error)
        return works, skipped


def c_seconds(run: Callable[..., None], values: Sequence[np.ndarray]) -> float:
    """Run a C loop into a new array, as a launch does; return the seconds of the loop."""
    out = np.empty_like(values[0])
    start = time.perf_counter()
    run(values, out)
    return time.perf_counter() - start


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep launches on one thread."""
    before = os.environ.get(THREADS_VARIABLE)
    os.environ[THREADS_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS_VARIABLE]
        else:
            os.environ[THREADS_VARIABLE] = before
