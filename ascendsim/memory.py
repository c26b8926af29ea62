"""The two memories a vector core works on, as plain bytes: UB of a core and global memory.

GM is a set of named allocations with slack behind each, since kernels that copy whole 32-byte
blocks touch up to 31 bytes past a tensor. UB is one aligned byte array; its content before the
first write is undefined on hardware and follows the option `ub_fill` here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.options import fill_byte

POISON = np.frombuffer(b"\xef\xbe\xad\xde", np.uint8)  # little-endian 0xDEADBEEF
GM_ALIGNMENT = 512
GM_FAST_START = 32  # copies from other starts are slower (timing)
UB_ALIGNMENT = 4096


def aligned_bytes(nbytes: int, alignment: int) -> np.ndarray:
    """Return `nbytes` uninitialised bytes whose address is a multiple of `alignment`."""
    raw = np.empty(nbytes + alignment, np.uint8)
    shift = -raw.ctypes.data % alignment
    return raw[shift : shift + nbytes]


def pattern(fill: str, nbytes: int, seed: int = 0) -> np.ndarray:
    """Return `nbytes` of fill: poison, random (by `seed`) or one byte like 0xa5."""
    if fill == "random":
        return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)
    byte = fill_byte(fill)
    if byte is not None:
        return np.full(nbytes, byte, np.uint8)
    return np.full(-(-nbytes // POISON.size), POISON.view(np.uint32)[0]).view(np.uint8)[:nbytes]


@lru_cache(maxsize=256)
def _slack(fill: str, nbytes: int) -> np.ndarray:
    return pattern(fill, nbytes)


class Allocation:
    """One named piece of global memory: the tensor's bytes and the slack behind them.

    `writes` lists the byte ranges that copies stored, for the coverage check of outputs;
    `shared_writes` those that may well be stored more than once: initial values, atomic copies.
    `slack_touched` counts the bytes beyond the tensor that were read or written.
    """

    __slots__ = (
        "address",
        "dtype",
        "memory",
        "name",
        "nbytes",
        "shape",
        "shared_writes",
        "size",
        "slack",
        "slack_read",
        "slack_written",
        "writes",
    )

    def __init__(
        self, name: str, dtype: DType, shape: Sequence[int], fill: str, spare: SpareMemory | None
    ) -> None:
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)
        self.size = math.prod(self.shape)
        self.nbytes = self.size * dtype.nbytes
        self.slack = -self.nbytes % DATABLOCK_BYTES + DATABLOCK_BYTES
        self.address = 0
        if spare is not None:
            self.memory = spare.take(self.nbytes + self.slack)
            self.address = self.memory.ctypes.data
            self.memory[self.nbytes :] = _slack(fill, self.slack)
        self.writes: list[tuple[int, int]] = []
        self.shared_writes: list[tuple[int, int]] = []
        self.slack_read = self.slack_written = 0

    @property
    def array(self) -> np.ndarray:
        """The tensor as an array of its dtype and shape (a view, not a copy)."""
        return self.memory[: self.nbytes].view(self.dtype.numpy).reshape(self.shape)

    def __repr__(self) -> str:
        return f"GM {self.name}"


class SpareMemory:
    """Bytes of earlier launches, kept since fresh pages cost more than the copy into them."""

    LIMIT = 64 << 20  # bytes kept at most

    def __init__(self) -> None:
        self.kept: list[np.ndarray] = []

    def take(self, nbytes: int) -> np.ndarray:
        """Return `nbytes` aligned for GM, of unspecified content."""
        for position, memory in enumerate(self.kept):
            if memory.size == nbytes:
                return self.kept.pop(position)
        return aligned_bytes(nbytes, GM_ALIGNMENT)

    def give(self, memory: np.ndarray) -> None:
        """Keep `memory`, which nobody else holds, for a later launch."""
        self.kept.append(memory)
        while sum(m.size for m in self.kept) > self.LIMIT:
            self.kept.pop(0)


class GlobalMemory:
    """All GM allocations of one launch, by name, in the order of the kernel's arguments."""

    def __init__(self, fill: str, spare: SpareMemory | None = None) -> None:
        self.fill, self.spare = fill, spare or SpareMemory()
        self.allocations: dict[str, Allocation] = {}
        self.inputs: list[Allocation] = []

    def upload(self, name: str, dtype: DType, array: np.ndarray) -> Allocation:
        """Copy a host array (any strides) into a new allocation."""
        new = self._add(name, dtype, array.shape)
        self.inputs.append(new)
        new.array[...] = array
        return new

    def reserve(self, name: str, dtype: DType, shape: Sequence[int]) -> Allocation:
        """Make an allocation whose content is the fill, as an output before the run."""
        new = self._add(name, dtype, shape)
        byte = fill_byte(self.fill)
        if byte is not None:
            new.memory[: new.nbytes] = byte
        else:
            whole = new.nbytes // POISON.size * POISON.size
            new.memory[:whole].view(np.uint32)[...] = POISON.view(np.uint32)[0]
            new.memory[whole : new.nbytes] = POISON[: new.nbytes - whole]
        return new

    def imagine(self, name: str, dtype: DType, shape: Sequence[int]) -> Allocation:
        """Make an allocation whose bytes nobody will touch (records without data)."""
        new = self.allocations[name] = Allocation(name, dtype, shape, self.fill, None)
        return new

    def release(self) -> None:
        """End the launch: outputs belong to the caller, the bytes of inputs are kept."""
        for allocation in self.inputs:
            self.spare.give(allocation.memory)
        self.allocations, self.inputs = {}, []

    def _add(self, name: str, dtype: DType, shape: Sequence[int]) -> Allocation:
        new = self.allocations[name] = Allocation(name, dtype, shape, self.fill, self.spare)
        return new


class UnifiedBuffer:
    """UB of one core: `nbytes` bytes at the absolute address `base`, in units of bytes.

    `template` at address `fresh` is what it holds before a kernel writes; `stale` says that none of
    it may be trusted to be so.
    """

    __slots__ = ("array", "base", "fill", "fresh", "nbytes", "stale", "template")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.array = aligned_bytes(nbytes, UB_ALIGNMENT)
        self.base = self.array.ctypes.data
        self.stale = True
        self.fill: tuple[str, int] | None = None
        self.template, self.fresh = self.array, self.base

    def set_fill(self, fill: str, seed: int) -> None:
        """Choose what UB holds before a kernel writes to it; the whole UB becomes stale."""
        wanted = (fill, seed if fill == "random" else 0)
        if wanted != self.fill:
            self.fill, self.template = wanted, pattern(fill, self.nbytes, seed)
            self.fresh = self.template.ctypes.data
            self.stale = True

    def refill(self) -> None:
        """Give every byte its fill."""
        self.array[:] = self.template
        self.stale = False


@dataclass(slots=True, eq=False)
class Place:
    """A part of UB that instructions write beside the buffers: `reach` bytes from `start`."""

    start: int
    reach: int


@dataclass(slots=True, eq=False)
class UbImage:
    """What a UB held once: its fill, and the (start, bytes) that calls may have written."""

    fill: np.ndarray
    written: list[tuple[int, np.ndarray]]
    _whole: np.ndarray | None = field(default=None, init=False)

    @property
    def array(self) -> np.ndarray:
        """All its bytes; put together when first asked for."""
        if self._whole is None:
            self._whole = self.fill.copy()
            for start, part in self.written:
                self._whole[start : start + part.size] = part
        return self._whole
