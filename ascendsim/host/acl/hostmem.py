"""Host memory that calls may touch: what `acl.util` and `acl.rt.malloc_host` gave pointers to.

An address is followed only while the array or bytes object that it was taken from is alive and
still lies there, so an arbitrary integer is refused and never dereferenced.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.host.acl import codes
from ascendsim.host.acl.device import AclError
from ascendsim.memory import aligned_bytes

SHARED_BYTES = 1  # Python shares bytes objects of this length or less: they are not written to


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes of the host; `owner` gives the object that they belong to, None once it is gone."""

    address: int
    nbytes: int
    writable: bool
    owner: Callable[[], Any]

    def holds(self, address: int, nbytes: int) -> bool:
        """Say whether the bytes lie in here, and the owner is still where it was."""
        if not self.address <= address <= address + nbytes <= self.address + self.nbytes:
            return False
        owner = self.owner()
        if owner is None:
            return False
        low, high = extent(owner)
        return low <= self.address and self.address + self.nbytes <= high


class HostMemory:
    """The regions by address."""

    def __init__(self) -> None:
        self.regions: dict[int, list[Region]] = {}
        self.pinned: dict[int, np.ndarray] = {}

    def register_array(self, array: np.ndarray) -> int:
        """Return the address of `array`, which must stay alive while the address is used."""
        if not isinstance(array, np.ndarray):
            raise AclError(
                codes.ACL_ERROR_INVALID_PARAM, f"numpy_to_ptr: {type(array)} is no numpy array"
            )
        if array.dtype.hasobject:
            raise AclError(
                codes.ACL_ERROR_INVALID_PARAM,
                "numpy_to_ptr: an array of objects has no plain bytes",
            )
        if not array.flags.c_contiguous:
            raise AclError(
                codes.ACL_ERROR_INVALID_PARAM,
                f"numpy_to_ptr: an array of strides {array.strides} does not lie in one piece; "
                f"use np.ascontiguousarray first",
            )
        base: Any = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        address = int(array.ctypes.data)

        def gone(_: Any) -> None:
            self._forget(address)

        owner = weakref.ref(base, gone)
        return self._add(Region(address, array.nbytes, array.flags.writeable, owner))

    def register_bytes(self, data: Any) -> int:
        """Return the address of a bytes or bytearray object, which is kept alive."""
        if not isinstance(data, (bytes, bytearray)) or not data:
            what = "is empty" if isinstance(data, (bytes, bytearray)) else "is no bytes object"
            raise AclError(codes.ACL_ERROR_INVALID_PARAM, f"bytes_to_ptr: {type(data)} {what}")
        low, high = extent(data)
        writable = isinstance(data, bytearray) or len(data) > SHARED_BYTES
        return self._add(Region(low, high - low, writable, lambda: data))

    def malloc(self, nbytes: int) -> int:
        """Return the address of `nbytes` bytes that live until `free`."""
        if nbytes <= 0:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"malloc_host of {nbytes} bytes: 1 or more are needed",
            )
        try:
            array = aligned_bytes(nbytes, 64)
        except (MemoryError, ValueError, OverflowError):
            raise AclError(
                codes.ACL_ERROR_RT_MEMORY_ALLOCATION, f"malloc_host of {nbytes} bytes: no room"
            ) from None
        address = self.register_array(array)
        self.pinned[address] = array
        return address

    def free(self, address: int) -> None:
        """Give back what `malloc` gave."""
        if self.pinned.pop(address, None) is None:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"free_host of {address:#x}: malloc_host did not give it, or it was freed before",
            )
        self.regions.pop(address, None)

    def bytes_at(self, address: int, nbytes: int, what: str, write: bool = False) -> np.ndarray:
        """Return the bytes as an array that shares them.

        Raises
        ------
        AclError
            When they belong to no living registered object, or are read-only and `write` is set.
        """
        found = self._find(address, nbytes)
        if found is None:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID,
                f"{what}: {nbytes} bytes at {address:#x} do not lie in known host memory; take "
                f"the pointer from acl.util or malloc_host, and keep the array alive",
            )
        if write and not found.writable:
            raise AclError(
                codes.ACL_ERROR_RT_PARAM_INVALID, f"{what}: the host memory is read-only"
            )
        if nbytes == 0:
            return np.empty(0, np.uint8)
        return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))

    def owner_of(self, address: int, nbytes: int) -> Any:
        """Return the object that the bytes belong to, None for none."""
        found = self._find(address, nbytes)
        return None if found is None else found.owner()

    def release(self) -> None:
        """Forget everything."""
        self.regions.clear()
        self.pinned.clear()

    def _find(self, address: int, nbytes: int) -> Region | None:
        near = self.regions.get(address, [])
        rest = (r for regions in list(self.regions.values()) for r in regions)
        for region in (*near, *rest):
            if region.holds(address, nbytes):
                return region
        return None

    def _add(self, region: Region) -> int:
        same = [r for r in self.regions.get(region.address, []) if r.nbytes != region.nbytes]
        alive = [r for r in same if r.owner() is not None]
        self.regions[region.address] = [region, *alive]
        return region.address

    def _forget(self, address: int) -> None:
        """Drop the regions at `address` whose owner is gone."""
        alive = [r for r in self.regions.pop(address, []) if r.owner() is not None]
        if alive:
            self.regions[address] = alive


def extent(owner: Any) -> tuple[int, int]:
    """Return where the bytes of an array or bytes object start and end."""
    if isinstance(owner, np.ndarray):
        return np.lib.array_utils.byte_bounds(owner)
    if not owner:
        return 0, 0
    flat = np.frombuffer(owner, np.uint8)
    return int(flat.ctypes.data), int(flat.ctypes.data) + flat.size
