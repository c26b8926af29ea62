"""Build the tensors of a two-phase call on a simulated device, run it, look at all the bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ascendsim.host import acl, aclnn

NUMPY = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "int32": np.dtype(np.int32),
    "int8": np.dtype(np.int8),
    "double": np.dtype(np.float64),
    "bool": np.dtype(bool),
}
NUMBER = {
    "float32": acl.ACL_FLOAT,
    "float16": acl.ACL_FLOAT16,
    "bfloat16": acl.ACL_BF16,
    "int32": acl.ACL_INT32,
    "int8": acl.ACL_INT8,
    "double": acl.ACL_DOUBLE,
    "bool": acl.ACL_BOOL,
}
FORMATS = {
    "ND": acl.ACL_FORMAT_ND,
    "NCHW": acl.ACL_FORMAT_NCHW,
    "NC1HWC0": acl.ACL_FORMAT_NC1HWC0,
    "FRACTAL_NZ": acl.ACL_FORMAT_FRACTAL_NZ,
}
EDGES = (-3.0, 3.0, 0.0, -0.0, 2.5, -2.5, 1e-3, 40.0)


@dataclass(frozen=True)
class T:
    """A tensor to make; `storage` in elements, by default what the view reaches."""

    shape: tuple[int, ...] = (4, 2)
    dtype: str = "float32"
    strides: tuple[int, ...] | None = None
    offset: int = 0
    storage: tuple[int, ...] | None = None
    format: str = "ND"
    room: int | None = None  # elements really allocated
    null: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        if self.strides is not None:
            return self.strides
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def reach(self) -> int:
        if 0 in self.shape:
            return 0
        pairs = zip(self.shape, self.steps, strict=True)
        return self.offset + 1 + sum((n - 1) * max(s, 0) for n, s in pairs)

    @property
    def dense(self) -> bool:
        plain = T(self.shape).steps
        rows = zip(self.shape, self.steps, plain, strict=True)
        return math.prod(self.shape) <= 1 or all(n == 1 or a == b for n, a, b in rows)


class Tensor:
    """A tensor on the device: its handle, its memory, and what is in it."""

    def __init__(self, spec: T, seed: int) -> None:
        self.spec = spec
        self.handle: Any = None
        if spec.null:
            return
        dims = (spec.reach,) if spec.storage is None else spec.storage
        count = spec.room if spec.room is not None else min(math.prod(dims), 1 << 20)
        kind = NUMPY[spec.dtype]
        rng = np.random.default_rng(seed)
        values = np.concatenate([EDGES, rng.standard_normal(max(count, 1)) * 3])
        self.before = rng.permutation(values)[: max(count, 1)].astype(kind)
        self.address = upload(self.before)
        self.handle = aclnn.aclCreateTensor(
            spec.shape,
            NUMBER[spec.dtype],
            spec.strides,
            spec.offset,
            FORMATS[spec.format],
            dims,
            self.address,
        )
        assert self.handle is not None, acl.get_recent_err_msg()

    def view(self, array: np.ndarray) -> np.ndarray:
        """Return the tensor's elements in `array`, an image of its memory."""
        spec, size = self.spec, array.itemsize
        strides = [step * size for step in spec.steps]
        return np.ndarray(
            spec.shape, array.dtype, array.view(np.uint8).data, spec.offset * size, strides
        )

    def after(self) -> np.ndarray:
        """Return what its memory holds now."""
        return download(self.address, self.before)


def upload(array: np.ndarray) -> int:
    address, code = acl.rt.malloc(array.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    assert code == 0, acl.get_recent_err_msg()
    host = acl.util.numpy_to_ptr(array)
    code = acl.rt.memcpy(address, array.nbytes, host, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    assert code == 0, acl.get_recent_err_msg()
    return address


def download(address: int, like: np.ndarray) -> np.ndarray:
    array = np.empty_like(like)
    host = acl.util.numpy_to_ptr(array)
    code = acl.rt.memcpy(host, array.nbytes, address, array.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    assert code == 0, acl.get_recent_err_msg()
    return array


def start(soc: str, **machine: Any) -> int:
    """Begin anew on a chip; return a stream."""
    acl.finalize()
    acl.simulate(soc, **machine)
    assert (acl.init(), acl.rt.set_device(0)) == (0, 0)
    stream, code = acl.rt.create_stream()
    assert code == 0
    return stream


def first_phase(name: str, *handles: Any) -> tuple[int, int, Any]:
    return getattr(aclnn, f"aclnn{name}GetWorkspaceSize")(*handles)


def second_phase(name: str, size: int, executor: Any, stream: int) -> int:
    """Run a planned call to its end; return the first code that is not 0."""
    workspace = acl.rt.malloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)[0] if size else 0
    code = getattr(aclnn, f"aclnn{name}")(workspace, size, executor, stream)
    return code or acl.rt.synchronize_stream(stream)


def said(code: int, want: int, *words: str) -> bool:
    """Check a code, and that the message has it and `words`."""
    message = acl.get_recent_err_msg()
    assert code == want, message
    for word in (str(want), *words):
        assert word in message
    return True


def rounded_up(count: int, dtype: str) -> int:
    """Return the workspace that an intermediate takes."""
    return -(-count * NUMPY[dtype].itemsize // 512) * 512
