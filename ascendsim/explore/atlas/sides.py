"""What an atlas compares: a kernel, the operator's definition, or torch.

A side is a small description that travels to workers; `open` makes the source that gives patterns.
A source has `bits(start, count)` for a stretch of indices and `at(indices)` for any.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ascendsim.dtypes import dtype as find_dtype
from ascendsim.engine.sweep import SweepLoop
from ascendsim.errors import RequestError, UnsupportedError
from ascendsim.explore.atlas.space import PAIRED_BITS, Space
from ascendsim.host import Op, Tiling, load
from ascendsim.host.job import make_job
from ascendsim.host.lists import with_counts
from ascendsim.launch import Job, Readers, run, sweep_loop
from ascendsim.options import Options

FASTEST = "fused"  # or the next slower way that the kernel can be run in
LOOP_CHECKS, LOOP_SAMPLE = 16, 512  # stretches of x on which the loop is held against launches
SAMPLE = 4099  # inputs on which independence of position is tried; no multiple of any tile


class Source(Protocol):
    """Gives the patterns (uint32) of results."""

    #: a definition's: inputs that went to exact arithmetic
    exact: int
    #: whether its zeros have a sign
    signed_zero: bool

    def bits(self, start: int, count: int) -> np.ndarray:
        """Return the results of indices start, start + 1, ..."""

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the results of any indices (uint64)."""

    def checksum(self, start: int, count: int) -> int | None:
        """Return the checksum of a stretch, or None when there is no short way to it."""


class Side(Protocol):
    """Describes a source."""

    def open(self, space: Space) -> Source:
        """Return the source."""

    def describe(self) -> dict[str, Any]:
        """Return what the document and the report say about it."""


@dataclass(frozen=True, slots=True)
class KernelSide:
    """A kernel with its attributes, as `Op.tiling` takes them."""

    folder: str
    soc: str | None = None
    cores: int | None = None
    ub: int | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    lists: Mapping[str, int] = field(default_factory=dict)

    def op(self) -> Op:
        """Return the kernel, its tensor lists with as many tensors as asked for."""
        return with_counts(load(self.folder), self.lists)

    def open(self, space: Space) -> KernelSource:
        """Return the kernel, ready to run."""
        return KernelSource(self, space)

    def tiling(self, space: Space, count: int) -> Tiling:
        """Return the tiling for `count` inputs."""
        op = self.op()
        unlike = [name for name in op.definition.tensors if name not in space.types]
        if unlike:
            known = ", ".join(space.types)
            raise RequestError(
                f"{op.name} has {unlike[0]}, not among the tensors compared ({known}): an atlas "
                f"compares kernels whose inputs and outputs have the same names"
            )
        types = {name: space.types[name] for name in op.definition.tensors}
        place = self.soc, self.cores, self.ub
        return op.tiling((count,), types, *place, None, **self.attrs)

    def describe(self) -> dict[str, Any]:
        """Return kind, name and attributes."""
        op = self.op()
        shown = {attr.name: op.definition.attr_values(self.attrs)[attr.name] for attr in _attrs(op)}
        attrs = {name: _shown(value) for name, value in shown.items()}
        return {"kind": "kernel", "name": op.name, "attrs": attrs}


class KernelSource:
    """Runs a kernel on generated inputs."""

    exact = 0
    signed_zero = True

    def __init__(self, side: KernelSide, space: Space) -> None:
        self.side, self.space = side, space
        self.op = side.op()
        self._tilings: dict[int, Tiling] = {}
        self._job: Job | None = None  # of the last stretch, its arrays to be filled again

    def bits(self, start: int, count: int) -> np.ndarray:
        """Return the results of indices start, start + 1, ..."""
        if self.loop is not None:
            out = np.empty(count, self.loop.bits)
            self.loop.fill(start, out, self.space.fixed)
            return out.astype(np.uint32, copy=False)
        return self._launched(start, count)

    def checksum(self, start: int, count: int) -> int | None:
        """Return the checksum of a stretch; None where it has to be made from the results."""
        if self.loop is None:
            return None
        return self.loop.checksum(start, count, self.space.fixed)

    @cached_property
    def loop(self) -> SweepLoop | None:
        """The compiled loop that makes x itself; None for a kernel that only launches can run."""
        swept = {self.space.sweep: 0}
        if self.space.every:
            swept[self.space.every] = PAIRED_BITS
        try:
            loop = sweep_loop(self._made(np.arange(SAMPLE, dtype=np.uint64)), swept)
        except UnsupportedError:
            return None
        for start in range(0, self.space.size, self.space.size // LOOP_CHECKS):
            found = np.empty(LOOP_SAMPLE, loop.bits)
            loop.fill(start, found, self.space.fixed)
            wanted = self._launched(start, LOOP_SAMPLE)
            assert (found == wanted).all(), f"the loop over patterns is wrong from {start:#x} on"
        return loop

    def _launched(self, start: int, count: int) -> np.ndarray:
        if self._job is None or self._job.inputs[self.space.sweep].size != count:
            self._job = self._made(np.arange(start, start + count, dtype=np.uint64))
        self.space.fill(self._job.inputs, start)
        return self._results(self._job)

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the results of any indices."""
        return self._results(self._made(indices))

    def _made(self, indices: np.ndarray) -> Job:
        tiling = self._tiling(indices.size)
        return make_job(self.op, self.space.arrays(indices), tiling, None, 0, self.side.options)

    def _results(self, job: Job) -> np.ndarray:
        result = run(job, Readers(), FASTEST).result
        gap = next((text for text in result.warnings if text.startswith("coverage")), None)
        if gap is not None:
            raise RequestError(f"{self.op.name} does not write its output once: {gap}")
        out = result.outputs[self.space.output].reshape(-1)
        return out.view(find_dtype(self.space.types[self.space.output]).bits).astype(
            np.uint32, copy=False
        )

    def check(self) -> None:
        """Refuse a kernel whose lanes depend on their place or on their neighbours.

        Raises
        ------
        RequestError
            When a sample, permuted or shifted, gives other results.
        """
        shape = self._tiling(SAMPLE).output_shapes[self.space.output]
        if tuple(shape) != (SAMPLE,):
            raise RequestError(
                f"{self.op.name} makes {self.space.output} of shape {tuple(shape)} from inputs of "
                f"shape ({SAMPLE},): an atlas needs an elementwise kernel"
            )
        generator = np.random.default_rng(0)
        indices = generator.integers(0, self.space.size, SAMPLE, np.uint64)
        order = generator.permutation(SAMPLE)
        straight = self._known(indices)
        permuted, shifted = self._known(indices[order]), self._known(indices[1:])
        wrong = np.flatnonzero((permuted != straight[order])[1:] | (shifted != straight[1:])[:])
        if wrong.size:
            raise RequestError(
                f"{self.op.name} is not elementwise: {wrong.size} of {SAMPLE} results change when "
                f"the inputs are permuted or shifted by one; an atlas needs results that depend "
                f"on their own input alone"
            )

    def _known(self, indices: np.ndarray) -> np.ndarray:
        """Return the results with one pattern for NaN."""
        fmt, bits = self.space.out, self.at(indices)
        bits[(bits & (fmt.sign_bits - 1)) > fmt.inf_bits] = fmt.nan_bits(False)
        return bits

    def _tiling(self, count: int) -> Tiling:
        if count not in self._tilings:
            if len(self._tilings) > 8:
                self._tilings.clear()
            self._tilings[count] = self.side.tiling(self.space, count)
        return self._tilings[count]


@dataclass(frozen=True, slots=True)
class TorchSide:
    """`torch(torch, *inputs, **attrs)` of op_ref.py, on tensors of the kernel's types."""

    folder: str
    attrs: Mapping[str, Any]

    def open(self, space: Space) -> TorchSource:
        """Return the source.

        Raises
        ------
        RequestError
            When torch is not installed, or op_ref.py has no function for it.
        """
        op = load(self.folder)
        if not hasattr(op.ref, "torch"):
            raise RequestError(f"{op.name} has no torch(torch, ...) in op_ref.py to compare with")
        try:
            return TorchSource(op, importlib.import_module("torch"), self.attrs, space)
        except ImportError as error:
            raise RequestError("torch is not installed: pip install torch") from error

    def describe(self) -> dict[str, Any]:
        """Return kind and name."""
        return {"kind": "torch", "name": "torch", "attrs": {}}


class TorchSource:
    """Runs torch on the CPU."""

    exact = 0
    signed_zero = True

    def __init__(self, op: Op, torch: Any, attrs: Mapping[str, Any], space: Space) -> None:
        self.op, self.torch, self.space = op, torch, space
        values = op.definition.attr_values(attrs)
        self.attrs = {k: float(v) if hasattr(v, "dtype") else v for k, v in values.items()}

    def bits(self, start: int, count: int) -> np.ndarray:
        """Return the results of indices start, start + 1, ..."""
        return self.at(np.arange(start, start + count, dtype=np.uint64))

    def checksum(self, start: int, count: int) -> int | None:
        """Return None: it is made from the results."""
        return None

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the results of any indices."""
        signed = {4: np.int32, 2: np.int16}
        arrays = self.space.arrays(indices)
        tensors = []
        for name in self.op.definition.inputs:
            dtype = find_dtype(self.space.types[name])
            plain = self.torch.from_numpy(arrays[name].view(signed[dtype.nbytes]))
            tensors.append(plain.view(getattr(self.torch, dtype.name)))
        out = self.op.ref.torch(self.torch, *tensors, **self.attrs)  # type: ignore[union-attr]
        out_type = find_dtype(self.space.types[self.space.output])
        whole = out.contiguous().view(getattr(self.torch, signed[out_type.nbytes].__name__))
        return whole.numpy().view(out_type.bits).astype(np.uint32)


def _attrs(op: Op) -> tuple[Any, ...]:
    return op.definition.attrs


def _shown(value: Any) -> Any:
    """Return an attribute's value as text: of a float its bits too."""
    if isinstance(value, np.float32):
        return f"{value:.9g} ({int(value.view(np.uint32)):#010x})"
    return value
