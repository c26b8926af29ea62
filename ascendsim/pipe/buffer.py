"""Buffers of UB with their states, and the name that the kernel gave their holder."""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from ascendsim.core import MAX_INTERNED, AivCore
from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import DATABLOCK_BYTES, PIPE
from ascendsim.errors import ContractError
from ascendsim.record import UB, Access, Call, Token
from ascendsim.tensor import LocalTensor

FREE, OCCUPIED, ENQUE, DEQUE = range(4)
STATE_NAMES = ("FREE", "OCCUPIED", "ENQUE", "DEQUE")


class Buffer:
    """One slot of a queue, or a TBuf: `nbytes` bytes of UB at `start`.

    Kept by a core per place, `name` and `slot`, so that its tensors are found again in every block
    and records of earlier blocks keep the name. `name` is the kernel object's attribute that holds
    the queue or TBuf, which is `holder`. `ready` and `released` are the tokens on their way to
    DeQue and to the next AllocTensor. No call has written beyond the first `reach` bytes so far.
    """

    __slots__ = (
        "core",
        "event",
        "holder",
        "mutex",
        "name",
        "nbytes",
        "reach",
        "ready",
        "released",
        "slot",
        "start",
        "state",
        "views",
    )

    def __init__(self, core: AivCore, start: int, nbytes: int, name: str, slot: int) -> None:
        self.core, self.start, self.nbytes = core, start, nbytes
        self.name, self.slot = name, slot
        self.views: dict[Any, LocalTensor] = {}
        self.mutex = self.reach = 0
        self.begin(None, FREE)

    def begin(self, holder: Any, state: int) -> None:
        """Start a life under `holder`: no flag set, no token on its way."""
        self.holder, self.state, self.event = holder, state, -1
        self.ready: tuple[Token, ...] = ()
        self.released: tuple[Token, ...] = ()

    def view(self, T: Any, nbytes: int | None = None, shift: int = 0) -> LocalTensor:
        """Return the tensor of type `T` over `nbytes` (default: all) from byte `shift` on."""
        size = self.nbytes if nbytes is None else nbytes
        key: tuple[Any, ...] = (T, size, shift) if shift else (T, size)
        found = self.views.get(key)
        if found is None:
            dtype = as_dtype(T)
            found = LocalTensor(self.core, self, dtype, self.start + shift, size)
            self.views[key] = self.views[(dtype, *key[1:])] = found
        return found

    def forget(self, tensor: LocalTensor) -> None:
        """Drop a tensor from the interned ones, since it changes its size."""
        self.views = {k: t for k, t in self.views.items() if t is not tensor}


class Holder:
    """What TQue, TQueBind and TBuf share: a core, buffers, and a name found in the kernel."""

    kind = ""
    core: AivCore = None  # type: ignore[assignment]
    buffers: Sequence[Buffer] = ()
    allocated = 0  # tensors that the kernel has not given back
    _name = ""

    @property
    def name(self) -> str:
        """The attribute of the kernel object that holds this, else UB0, UB1, ..."""
        if not self._name:
            number = self.core.unnamed if self.core else 0
            found = _attribute_name(self)
            if not found and self.core:
                self.core.unnamed = number + 1
            self._name = found or f"UB{number}"
        return self._name


_STORED: dict[tuple[int, int], tuple[CodeType, str]] = {}


def stored_as(frame: FrameType) -> str:
    """Return `x` when the kernel's line in `frame` is `self.x = TQue(...)`, else "".

    Looked up in the compiled line once: looking for the object itself costs more than all else
    that a block does with the queue.
    """
    key = (id(frame.f_code), frame.f_lasti)
    found = _STORED.get(key)
    if found is None:
        if len(_STORED) >= MAX_INTERNED:
            _STORED.clear()
        # keeping the code keeps its id from being given to another
        found = _STORED[key] = (frame.f_code, _target(frame.f_code, frame.f_lasti))
    return found[1]


def _target(code: CodeType, call: int) -> str:
    """Return the attribute that the result of the instruction at offset `call` goes straight to."""
    after = (i for i in dis.get_instructions(code) if i.offset > call)
    load, store = next(after, None), next(after, None)
    if load is None or store is None or store.opname != "STORE_ATTR":
        return ""
    plain = load.opname.startswith("LOAD_") and load.opname != "LOAD_ATTR"
    return str(store.argval).strip("_") if plain else ""


def _attribute_name(holder: Any) -> str:
    """Look for the object that has `holder` as an attribute, up the call stack."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != "ascendsim":
            for local in list(frame.f_locals.values()):
                attributes = getattr(local, "__dict__", None)
                if isinstance(attributes, dict) and not isinstance(local, type):
                    for name, value in attributes.items():
                        listed = isinstance(value, (list, tuple)) and any(
                            v is holder for v in value
                        )
                        if value is holder or listed:
                            return name.strip("_")
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def ceil32(nbytes: int) -> int:
    """Round up to whole datablocks."""
    return -(-int(nbytes) // DATABLOCK_BYTES) * DATABLOCK_BYTES


def element_type(call: str, T: Any) -> DType:
    """Return `T` as an element type; a queue cannot guess it."""
    if T is None:
        raise ContractError(f"{call}: give the element type, as in {call}(half)")
    return as_dtype(T)


def queue_call(name: str, role: str, tensor: LocalTensor, pipe: PIPE) -> Call:
    """Return the call of a queue operation on `tensor`, for its record; made once per tensor."""
    key = (name, pipe)
    found = tensor.calls.get(key)
    if found is None:
        at = Access(role, UB, tensor.buffer, tensor.start, tensor.dtype, False, 0, 0, 0)
        found = Call(name, pipe, tensor.core, (at,), fields={"dtype": tensor.dtype})
        tensor.calls[key] = found
    return found
