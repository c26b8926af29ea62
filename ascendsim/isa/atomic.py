"""Atomic copies to GM, and initial values in GM.

SetAtomicAdd and its kin change what every later copy from UB to GM of this core does, until
SetAtomicNone: GM becomes the sum (larger, smaller) of what it held and what is copied.
Manual chapters: atomic operations; workspace (InitGlobalMemory).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.core import AivCore, observed
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import PIPE
from ascendsim.errors import AscendError, ContractError, RequestError
from ascendsim.isa.footprint import supported, whole
from ascendsim.isa.geometry import CopyShape
from ascendsim.isa.program import combining, program
from ascendsim.numerics import opcodes
from ascendsim.record import GM, Access, Call, current_core

MAX_SIZE = (1 << 62) - 1
_STEMS = ("add", "max", "min")


@program("atomic-op", "atomic-order")
def SetAtomicAdd(T: Any) -> None:
    """Make later copies to GM add: GM = GM + data, in elements of `T`, until SetAtomicNone.

    GM is not cleared first. The order of the additions of several blocks is not defined on
    hardware; here it is the order in which they run. A new TPipe ends it.
    """
    _set("SetAtomicAdd", T)


@program("atomic-op", "atomic-order")
def SetAtomicMax(T: Any) -> None:
    """Make later copies to GM keep the larger element, until SetAtomicNone."""
    _set("SetAtomicMax", T)


@program("atomic-op", "atomic-order")
def SetAtomicMin(T: Any) -> None:
    """Make later copies to GM keep the smaller element, until SetAtomicNone."""
    _set("SetAtomicMin", T)


@program()
def SetAtomicNone() -> None:
    """Make later copies to GM plain stores again."""
    core = current_core()
    core.store, core.atomic = core.move, None
    if core.readers:
        observed(core, Call("SetAtomicNone", PIPE.PIPE_S, core, (), sets=(("atomic", ""),)))


@program("count-form")
def InitGlobalMemory(gmWorkspaceAddr: Any, size: int, value: Any) -> None:
    """Store `value` in the first `size` elements of a GlobalTensor, on MTE3.

    Hardware fills a part of UB and copies it, which is not modelled; wait for MTE3 before the
    elements are read. Under SetAtomicAdd and its kin this copy is atomic too.
    """
    _fill("InitGlobalMemory", gmWorkspaceAddr, size, value)


@program("count-form")
def InitOutput(gmWorkspaceAddr: Any, size: int, value: Any = 0) -> None:
    """Store `value` in the first `size` elements of a GlobalTensor: as InitGlobalMemory."""
    _fill("InitOutput", gmWorkspaceAddr, size, value)


class Accumulator:
    """What a core does with copies to GM under SetAtomicAdd, Max or Min; called as the mover is."""

    def __init__(self, core: AivCore, mode: int, dtype: DType) -> None:
        self.element = dtype.nbytes
        opcode = core.bodies.opcode("accumulate")
        self.entry = core.bodies.entry(opcode)
        self.row = np.zeros(opcodes.ROW_WORDS, np.int64)
        self.block = np.zeros(opcodes.PARAMETER_WORDS, np.int64)
        for place, word in combining(core, _STEMS[mode], dtype).items():
            self.block[place] = word
        self.block[opcodes.P_ELEMENT], self.block[opcodes.P_MINIMUM] = dtype.nbytes, mode == 2
        self.row[opcodes.OP], self.row[opcodes.MODE] = opcode, mode
        self.row[opcodes.ENV] = core.env
        if core.options.subnormals == "flush":
            self.row[opcodes.ENV] |= opcodes.ENV_FLUSH
        self.row[opcodes.GEOMETRY] = self.block.ctypes.data

    def __call__(
        self, dst: int, src: int, blocks: int, length: int, dst_pitch: int, src_pitch: int
    ) -> None:
        """Combine blocks of `length` bytes with what stands at `dst`."""
        row = self.row
        row[opcodes.COUNT] = length // self.element
        for k in range(blocks):
            row[opcodes.DST], row[opcodes.SRC0] = dst + k * dst_pitch, src + k * src_pitch
            self.entry(row.ctypes.data, 0.0)


def check_atomic(name: str, core: Any, dtype: DType) -> None:
    """Check that a copy to GM has the element type of the atomic operation that is on."""
    operation, wanted = core.atomic
    if dtype is not wanted:
        raise ContractError(
            f"{name}: dst is {dtype} while {operation}({wanted}) is on: hardware takes the bytes "
            f"as {wanted}; call {operation}({dtype}) or SetAtomicNone() first"
        )


def _set(name: str, T: Any) -> None:
    core = current_core()
    try:
        dtype = as_dtype(T)
    except RequestError:
        raise ContractError(f"{name}: {T!r} is no element type; use {name}(float32)") from None
    try:
        supported(name, core, dtype)
    except AscendError as error:
        error.message = f"{name}: {error.message}"
        raise
    core.store = Accumulator(core, ("Add", "Max", "Min").index(name[-3:]), dtype)
    core.atomic = (name, dtype)
    core.relied_on(("atomic-op", "atomic-order"), name)
    if core.readers:
        sets = (("atomic", f"{name}({dtype})"),)
        call = Call(name, PIPE.PIPE_S, core, (), fields={"dtype": dtype}, sets=sets)
        observed(core, call, depth=3)


def _fill(name: str, target: Any, size: Any, value: Any) -> None:
    if getattr(target, "space", None) != GM or target.holder is None:
        raise ContractError(f"{name}: {target!r} is no GlobalTensor with SetGlobalBuffer")
    core, dtype = target.core, target.dtype
    try:
        supported(name, core, dtype)
    except AscendError as error:
        error.message = f"{name}: {error.message}"
        raise
    nbytes = whole(name, "size", size, 0, MAX_SIZE) * dtype.nbytes
    target.touch(name, "dst", nbytes, True)
    if core.atomic is not None:
        check_atomic(name, core, dtype)
    bits = dtype.to_bits(value)
    data = np.full(nbytes // dtype.nbytes if core.executing else 0, bits, dtype.bits)
    if nbytes:
        target.holder.shared_writes.append((target.start, target.start + nbytes))
    store, to_address, from_address = core.store, target.address, data.ctypes.data

    def execute(address: int, scalar: float, data: np.ndarray = data) -> None:
        if nbytes:
            store(to_address, from_address, 1, nbytes, nbytes, nbytes)

    if not core.readers:
        execute(0, 0.0)
        return
    fields = {
        "dtype": dtype,
        "count": nbytes // dtype.nbytes,
        "value": dtype.from_bits(bits).item(),
        "l2": target.cache.name,
        "atomic": core.atomic[0] if core.atomic else "initial",
    }
    at = Access("dst", GM, target.holder, target.start, dtype, True, nbytes, nbytes, 0)
    shape = CopyShape(1 if nbytes else 0)
    call = Call(name, PIPE.PIPE_MTE3, core, (at,), execute, geometry=shape, fields=fields)
    observed(core, call, depth=3)
