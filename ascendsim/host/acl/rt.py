"""`acl.rt`: device, contexts, streams and memory, with pyACL's names and return conventions.

A call gives its return code, or a tuple that ends in it. Pointers and streams are integers.
"""

from __future__ import annotations

from typing import Any

from ascendsim.host.acl import codes
from ascendsim.host.acl.device import DEVICE_BYTES, AclError, Stream, Task
from ascendsim.host.acl.runtime import DEVICE_COUNT, RUNTIME, reports, whole

KINDS = {
    codes.ACL_MEMCPY_HOST_TO_HOST: ("host", "host"),
    codes.ACL_MEMCPY_HOST_TO_DEVICE: ("host", "device"),
    codes.ACL_MEMCPY_DEVICE_TO_HOST: ("device", "host"),
    codes.ACL_MEMCPY_DEVICE_TO_DEVICE: ("device", "device"),
}
POLICIES = (
    codes.ACL_MEM_MALLOC_HUGE_FIRST,
    codes.ACL_MEM_MALLOC_HUGE_ONLY,
    codes.ACL_MEM_MALLOC_NORMAL_ONLY,
)


@reports()
def set_device(device_id: int) -> None:
    """Make the device current; there is one, number 0."""
    RUNTIME.need_init()
    RUNTIME.device = _device(device_id)


@reports()
def reset_device(device_id: int) -> None:
    """Finish all streams, destroy them and release all device memory.

    The code of a task that failed meanwhile is returned; the device is reset all the same.
    """
    RUNTIME.need_device()
    _device(device_id)
    RUNTIME.reset_device("acl.rt.reset_device")


@reports(1)
def get_device() -> int:
    """Return (device, code)."""
    RUNTIME.need_device()
    assert RUNTIME.device is not None
    return RUNTIME.device


@reports(1)
def get_device_count() -> int:
    """Return (number of devices, code)."""
    return DEVICE_COUNT


@reports(1)
def get_run_mode() -> int:
    """Return (ACL_HOST, code): the program runs on the host."""
    RUNTIME.need_init()
    return codes.ACL_HOST


@reports(1)
def create_context(device_id: int) -> int:
    """Return (context, code) and make its device current."""
    RUNTIME.need_init()
    RUNTIME.device = _device(device_id)
    RUNTIME.contexts.append(RUNTIME.new_handle())
    return RUNTIME.contexts[-1]


@reports()
def set_context(context: int) -> None:
    """Make the context current; all contexts of a device share its memory here."""
    _context(context)


@reports(1)
def get_context() -> int:
    """Return (newest context, code)."""
    RUNTIME.need_device()
    return RUNTIME.contexts[-1] if RUNTIME.contexts else 0


@reports()
def destroy_context(context: int) -> None:
    """Destroy the context; memory and streams live until reset_device."""
    RUNTIME.contexts.remove(_context(context))


@reports(1)
def create_stream() -> int:
    """Return (stream, code)."""
    RUNTIME.need_device()
    stream = Stream(RUNTIME.new_handle())
    RUNTIME.streams[stream.handle] = stream
    return stream.handle


@reports()
def destroy_stream(stream: int) -> None:
    """Finish the stream's tasks, then destroy it; the code tells whether a task failed."""
    RUNTIME.need_device()
    found = RUNTIME.stream(stream)
    try:
        found.synchronize()
    finally:
        del RUNTIME.streams[found.handle]


@reports()
def synchronize_stream(stream: int) -> None:
    """Run what waits in the stream, in order; the code and reason tell what failed."""
    RUNTIME.need_device()
    RUNTIME.stream(stream).synchronize()


@reports()
def synchronize_device() -> None:
    """Run what waits in every stream."""
    RUNTIME.need_device()
    RUNTIME.synchronize()


@reports(1)
def malloc(size: int, policy: int = codes.ACL_MEM_MALLOC_HUGE_FIRST) -> int:
    """Return (device pointer, code) of `size` new bytes, aligned to 512.

    Their content is the fill of the option `gm_slack_fill`, not zero.
    """
    RUNTIME.need_device()
    if whole(policy, "policy") not in POLICIES:
        raise AclError(
            codes.ACL_ERROR_RT_PARAM_INVALID, f"policy {policy} is unknown; use one of {POLICIES}"
        )
    return RUNTIME.memory.malloc(whole(size, "size"), RUNTIME.machine.options)


@reports()
def free(dev_ptr: int) -> None:
    """Give back what malloc gave."""
    RUNTIME.need_device()
    RUNTIME.memory.free(whole(dev_ptr, "dev_ptr"))


@reports(1)
def malloc_host(size: int) -> int:
    """Return (host pointer, code) of `size` new bytes."""
    RUNTIME.need_device()
    return RUNTIME.host.malloc(whole(size, "size"))


@reports()
def free_host(host_ptr: int) -> None:
    """Give back what malloc_host gave."""
    RUNTIME.need_device()
    RUNTIME.host.free(whole(host_ptr, "host_ptr"))


@reports(2)
def get_mem_info(attr: int = codes.ACL_HBM_MEM) -> tuple[int, int]:
    """Return (free bytes, all bytes, code)."""
    RUNTIME.need_device()
    return DEVICE_BYTES - RUNTIME.memory.used, DEVICE_BYTES


@reports()
def memset(dev_ptr: int, max_count: int, value: int, count: int) -> None:
    """Set `count` bytes, of the `max_count` that the caller has, to `value`."""
    RUNTIME.need_device()
    count = _fitting(count, max_count)
    target = RUNTIME.memory.bytes_at(whole(dev_ptr, "dev_ptr"), count, "memset")
    target[:] = whole(value, "value") & 0xFF


@reports()
def memcpy(dst: int, dest_max: int, src: int, count: int, kind: int) -> None:
    """Copy `count` bytes at once; it does not wait for streams.

    dst, src : device pointers, or host pointers of acl.util or malloc_host; `kind` says which.
    dest_max : bytes that dst has room for.
    """
    RUNTIME.need_device()
    _copy(dst, dest_max, src, count, kind)


@reports()
def memcpy_async(
    dst: int, dest_max: int, src: int, count: int, kind: int, stream: int
) -> None:  # pyACL's own argument list
    """Copy when the stream comes to it; pointers are checked now and again then."""
    RUNTIME.need_device()
    target = RUNTIME.stream(stream)
    _sides(dst, dest_max, src, count, kind)
    held = _owners((dst, src), count, kind)  # alive until the copy is done
    target.tasks.append(Task("memcpy_async", lambda: _copy(dst, dest_max, src, count, kind, held)))


def _copy(dst: Any, dest_max: Any, src: Any, count: Any, kind: Any, _held: Any = None) -> None:
    target, source = _sides(dst, dest_max, src, count, kind)
    target[:] = source.copy()  # the two may overlap


def _sides(dst: Any, dest_max: Any, src: Any, count: Any, kind: Any) -> tuple[Any, Any]:
    """Return the bytes of both sides."""
    sides = KINDS.get(whole(kind, "kind"))
    if sides is None:
        raise AclError(codes.ACL_ERROR_RT_PARAM_INVALID, f"kind {kind} is unknown; use 0 to 3")
    count = _fitting(count, dest_max)
    found = []
    for name, pointer, side in (("dst", dst, sides[1]), ("src", src, sides[0])):
        address, what = whole(pointer, name), f"memcpy {name} ({side})"
        if side == "device":
            found.append(RUNTIME.memory.bytes_at(address, count, what))
        else:
            found.append(RUNTIME.host.bytes_at(address, count, what, write=name == "dst"))
    return found[0], found[1]


def _owners(pointers: tuple[Any, Any], count: Any, kind: int) -> list[Any]:
    sides = (KINDS[kind][1], KINDS[kind][0])
    return [
        RUNTIME.host.owner_of(int(pointer), int(count))
        for pointer, side in zip(pointers, sides, strict=True)
        if side == "host"
    ]


def _fitting(count: Any, limit: Any) -> int:
    """Return `count`, which is above 0 and not above `limit`."""
    count, limit = whole(count, "count"), whole(limit, "destMax")
    if not 0 < count <= limit:
        raise AclError(
            codes.ACL_ERROR_RT_PARAM_INVALID,
            f"count is {count} and the destination holds {limit}: 0 < count <= that is needed",
        )
    return count


def _device(device_id: Any) -> int:
    number = whole(device_id, "device_id")
    if number not in range(DEVICE_COUNT):
        raise AclError(
            codes.ACL_ERROR_RT_INVALID_DEVICEID, f"device {device_id} does not exist; there is 0"
        )
    return number


def _context(context: Any) -> int:
    RUNTIME.need_init()
    if not isinstance(context, int) or context not in RUNTIME.contexts:
        raise AclError(
            codes.ACL_ERROR_RT_CONTEXT_NULL,
            f"context {context!r} does not exist: never created, or destroyed before",
        )
    return int(context)
