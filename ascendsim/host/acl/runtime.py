"""The state behind the ACL calls of this process: chip, device, streams, memory, last error.

ACL is an interface of one process, so there is one Runtime; everything that a call changes is in
it, and `acl.finalize` leaves nothing but the chip that was chosen.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import index
from typing import Any

from ascendsim import soc as socs
from ascendsim.host.acl import codes
from ascendsim.host.acl.device import AclError, DeviceMemory, Stream
from ascendsim.host.acl.hostmem import HostMemory
from ascendsim.options import Options
from ascendsim.soc import Soc

DEFAULT_SOC = "ascend910b1"
DEVICE_COUNT = 1


@dataclass(frozen=True, slots=True)
class Machine:
    """What is simulated: the chip, and what tiling code is told in place of its own sizes."""

    soc: Soc
    cores: int | None = None
    ub: int | None = None
    options: Options = field(default_factory=Options)
    seed: int = 0


@dataclass(slots=True, eq=False)
class Runtime:
    """See the head of this file. `device` is None until set_device; handles count up for ever."""

    machine: Machine = field(default_factory=lambda: Machine(socs.load(DEFAULT_SOC)))
    initialized: bool = False
    device: int | None = None
    memory: DeviceMemory = field(default_factory=DeviceMemory)
    host: HostMemory = field(default_factory=HostMemory)
    streams: dict[int, Stream] = field(default_factory=dict)
    contexts: list[int] = field(default_factory=list)
    handles: int = 0
    message: str = ""

    def fail(self, name: str, error: AclError) -> int:
        """Keep the reason of a failed call; return its code."""
        self.message = f"{name}: {error.code}: {error}"
        return error.code

    def new_handle(self) -> int:
        """Return a number that no handle had before; 0 is null."""
        self.handles += 1
        return self.handles

    def need_init(self, code: int = codes.ACL_ERROR_UNINITIALIZE) -> None:
        """Refuse a call before `acl.init` or after `acl.finalize`."""
        if not self.initialized:
            raise AclError(code, "acl is not initialised; call acl.init() first")

    def need_device(self) -> None:
        """Refuse a call before `acl.rt.set_device`."""
        self.need_init()
        if self.device is None:
            raise AclError(
                codes.ACL_ERROR_RT_CONTEXT_NULL, "no device is set; call acl.rt.set_device(0) first"
            )

    def stream(self, handle: Any, code: int = codes.ACL_ERROR_RT_STREAM_CONTEXT) -> Stream:
        """Return the living stream called `handle`."""
        found = self.streams.get(handle) if isinstance(handle, int) else None
        if found is None:
            raise AclError(
                code, f"stream {handle!r} does not exist: never created, or destroyed before"
            )
        return found

    def synchronize(self) -> None:
        """Run what waits in every stream, oldest stream first.

        Raises
        ------
        AclError
            With the code of the first failure and all reasons, after all streams have run.
        """
        failed: list[AclError] = []
        for stream in list(self.streams.values()):
            try:
                stream.synchronize()
            except AclError as error:
                failed.append(error)
        if failed:
            raise AclError(failed[0].code, "; ".join(str(each) for each in failed))

    def reset_device(self, by: str) -> None:
        """Finish the streams, then release them and all device memory."""
        try:
            self.synchronize()
        finally:
            self.streams.clear()
            self.contexts.clear()
            self.memory.release(by)
            self.device = None


RUNTIME = Runtime()


def reports(values: int = 0, prefix: str = "acl.rt") -> Callable[[Any], Callable[..., Any]]:
    """Make a function end in a return code, as ACL calls do.

    The function returns None or its `values` values and raises AclError; callers get the code, or
    a tuple of the values (0 each on failure) and the code.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{prefix}.{function.__name__}"

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = function(*args, **kwargs)
                code = codes.ACL_SUCCESS
            except AclError as error:
                result, code = (0,) * values if values > 1 else 0, RUNTIME.fail(name, error)
            if values == 0:
                return code
            return (result, code) if values == 1 else (*result, code)

        return call

    return decorate


def whole(value: Any, what: str) -> int:
    """Return `value` as an int; None is the null pointer 0.

    Raises
    ------
    AclError
        When it is no integer.
    """
    if value is None:
        return 0
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)
    except TypeError:
        raise AclError(
            codes.ACL_ERROR_RT_PARAM_INVALID, f"{what} is {value!r}: an integer is needed"
        ) from None
