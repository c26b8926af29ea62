"""The device's memory and streams.

A device pointer is an integer that stands for no address of this machine: every use is looked up
among the allocations. Addresses are never given out twice, so a pointer that was freed is known
as such for ever.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ascendsim.errors import AscendError
from ascendsim.host.acl import codes
from ascendsim.memory import GM_ALIGNMENT, pattern
from ascendsim.options import Options

FIRST_ADDRESS = 0x12C0_4000_0000
GUARD_BYTES = 512  # between allocations, so that a pointer past one does not lie in the next
DEVICE_BYTES = 64 << 30  # assumed: HBM of the larger 910B cuts
MACHINE_SHARE = 0.8  # of the free memory of this machine that simulated memory may take


class AclError(AscendError):
    """A call of the host interface says no; `code` is what it returns.

    freed : the reason is memory that was freed before.
    """

    def __init__(self, code: int, reason: str, freed: bool = False) -> None:
        super().__init__(reason)
        self.code, self.freed = code, freed


@dataclass(slots=True, eq=False)
class Block:
    """One allocation; `memory` is None once it was freed, `freed` then says by whom."""

    number: int
    address: int
    nbytes: int
    memory: np.ndarray | None
    freed: str = ""

    def __str__(self) -> str:
        return f"allocation {self.number} ({self.nbytes} bytes at {self.address:#x})"


class DeviceMemory:
    """Allocations by address. New memory holds the fill of the option `gm_slack_fill`."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.starts: list[int] = []
        self.used = 0

    def malloc(self, nbytes: int, options: Options) -> int:
        """Return the address of `nbytes` new bytes, a multiple of 512.

        Raises
        ------
        AclError
            When `nbytes` is not above 0, or more than the device or this machine has.
        """
        if nbytes <= 0:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID, f"malloc of {nbytes} bytes: 1 or more are needed"
            )
        room = min(DEVICE_BYTES - self.used, _machine_bytes())
        if nbytes > room:
            raise AclError(
                codes.ACL_ERROR_RT_MEMORY_ALLOCATION,
                f"malloc of {nbytes} bytes: {max(room, 0)} are free",
            )
        last = self.blocks[-1] if self.blocks else None
        start = FIRST_ADDRESS if last is None else last.address + last.nbytes + GUARD_BYTES
        address = -(-start // GM_ALIGNMENT) * GM_ALIGNMENT
        try:
            memory = pattern(options.gm_slack_fill, nbytes)
        except MemoryError:
            raise AclError(
                codes.ACL_ERROR_RT_MEMORY_ALLOCATION, f"malloc of {nbytes} bytes: no memory left"
            ) from None
        self.blocks.append(Block(len(self.blocks) + 1, address, nbytes, memory))
        self.starts.append(address)
        self.used += nbytes
        return address

    def free(self, address: int) -> None:
        """Give back the allocation that starts at `address`."""
        block = self._at(address)
        if block is None or block.address != address:
            inside = "" if block is None else f": it lies inside {block}"
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"free of {address:#x}, where no allocation starts{inside}",
            )
        if block.memory is None:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"free of {address:#x}: {block} was freed before, by {block.freed}",
            )
        self._drop(block, "acl.rt.free")

    def release(self, by: str) -> None:
        """Give back everything."""
        for block in self.blocks:
            if block.memory is not None:
                self._drop(block, by)

    def bytes_at(self, address: int, nbytes: int, what: str) -> np.ndarray:
        """Return the `nbytes` bytes at `address` as a view on the memory.

        Raises
        ------
        AclError
            When they do not lie inside one living allocation; `what` begins the reason.
        """
        block = self.block_at(address, what)
        assert block.memory is not None
        first = address - block.address
        if nbytes < 0 or first + nbytes > block.nbytes:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"{what}: {nbytes} bytes at {address:#x} reach past the end of {block}",
            )
        return block.memory[first : first + nbytes]

    def block_at(self, address: int, what: str) -> Block:
        """Return the living allocation that `address` lies in."""
        block = self._at(address)
        if block is None:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID, f"{what}: {address:#x} is no device memory"
            )
        if block.memory is None:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"{what}: {address:#x} lies in {block}, which was freed by {block.freed}",
                freed=True,
            )
        return block

    def _at(self, address: int) -> Block | None:
        """Return the last allocation, living or freed, that starts at or below `address`."""
        place = bisect_right(self.starts, address) - 1
        if place < 0:
            return None
        block = self.blocks[place]
        return block if address < block.address + block.nbytes + GUARD_BYTES else None

    def _drop(self, block: Block, by: str) -> None:
        block.memory, block.freed = None, by
        self.used -= block.nbytes


def _machine_bytes() -> int:
    """Return how much memory of this machine may be taken; a refusal is better than a crash."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return DEVICE_BYTES
    return int(free * MACHINE_SHARE)


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work of a stream; `run` raises an AscendError when it fails."""

    name: str
    run: Callable[[], None]


@dataclass(slots=True, eq=False)
class Stream:
    """Tasks in their order. They run when the stream is synchronised, and not before.

    So whoever reads a result too early sees that it is not there yet, as may happen on a device.
    """

    handle: int
    tasks: deque[Task] = field(default_factory=deque)
    done: int = 0

    def synchronize(self) -> None:
        """Run all waiting tasks; a task that fails does not stop those behind it.

        Raises
        ------
        AclError
            With the code of the first that failed and the reasons of all.
        """
        failed: list[AclError] = []
        while self.tasks:
            task = self.tasks.popleft()
            self.done += 1
            try:
                task.run()
            except AscendError as error:
                code = getattr(error, "code", codes.ACLNN_ERR_RUNTIME_ERROR)
                where = f"stream {self.handle}, task {self.done} ({task.name})"
                failed.append(AclError(code, f"{where}: {error}"))
        if failed:
            raise AclError(failed[0].code, "; ".join(str(each) for each in failed))
