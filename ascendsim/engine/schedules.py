"""Execute the recorded stream of a block again, in other orders that its tokens permit.

Each record's own compiled call runs again on the core's UB and on GM, whole instructions one after
another. Any order in which every record comes after all that must be complete before it (order.py)
is one that the hardware may take; if it leaves other bytes in GM, the kernel lacks an order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ascendsim.errors import UnsupportedError
from ascendsim.memory import Allocation
from ascendsim.record import UB, Call, Instr

MAX_RECORDS = 20_000  # the happens-before sets take a bit per pair of records


class Difference(NamedTuple):
    """The first element of GM that another order stores otherwise.

    tensor : a GM tensor, or the buffer that GetValue read from; element : counts from its start;
    want, got : raw bits in program order and in the other order
    """

    tensor: str
    element: int
    dtype: str
    want: int
    got: int


class Tape:
    """An observer that keeps the records of a block, and what its GetValues read."""

    def __init__(self) -> None:
        self.records: list[Instr] = []
        self.scalars: dict[int, bytes] = {}

    def before(self, instr: Instr) -> None:
        """Keep the record.

        Raises
        ------
        UnsupportedError
            When there are too many.
        """
        if len(self.records) == MAX_RECORDS:
            error = UnsupportedError(
                f"block {instr.block} has more than {MAX_RECORDS} records, which is what can be "
                f"put into other orders; take fewer elements (a few tiles show the same)"
            )
            error.located = True  # it is about the request, not about the kernel's line
            raise error
        if reads_scalar(instr.call):
            self.scalars[len(self.records)] = scalar_bytes(instr.call)
        self.records.append(instr)

    def after(self, instr: Instr) -> None:
        """Nothing to keep."""


@dataclass(slots=True)
class Stage:
    """A core with one recorded block, ready to run its records again from the block's start.

    start : the bytes of every GM tensor when the block began
    """

    core: Any
    records: Sequence[Instr]
    scalars: Mapping[int, bytes]
    start: dict[str, np.ndarray]
    runs: int = 0
    _calls: list[tuple[Callable[[int, float], Any], int, float] | None] = field(
        default_factory=list
    )

    def __post_init__(self) -> None:
        self._calls = [_runnable(instr) for instr in self.records]

    def supply(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Put other values into input tensors; later runs start from them."""
        for name, array in inputs.items():
            allocation = self.core.gm.allocations[name]
            self.start[name][: allocation.nbytes] = (
                np.ascontiguousarray(array).reshape(-1).view("u1")
            )

    def run(self, sequence: Sequence[int]) -> dict[str, np.ndarray] | Difference:
        """Execute the records in this order; return the bytes of GM.

        `~at` in it runs record `at` on what memory holds now, while its results arrive where `at`
        itself stands: an instruction that has started and is not complete.

        A GetValue that reads other bytes than the kernel saw ends it: what the kernel would do
        next is not recorded. Then the return value says which.
        """
        self.runs += 1
        core = self.core
        core.ub.array[:] = core.ub.template
        allocations: dict[str, Allocation] = core.gm.allocations
        for name, content in self.start.items():
            allocations[name].memory[:] = content
        pending: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        for at in sequence:
            if at < 0:
                pending[~at] = self._started(~at)
                continue
            call = self._calls[at]
            if at in pending:
                for place, content in pending.pop(at):
                    place[:] = content
            elif call is not None:
                execute, address, value = call
                execute(address, value)
            elif at in self.scalars and scalar_bytes(self.records[at].call) != self.scalars[at]:
                return self._misread(at)
        return {name: each.memory.copy() for name, each in allocations.items()}

    def program_order(self) -> list[int]:
        """Return all positions in the order of the program."""
        return list(range(len(self.records)))

    def first_difference(
        self, want: Mapping[str, np.ndarray], got: Mapping[str, np.ndarray]
    ) -> Difference | None:
        """Return the first element that differs between the GM bytes of two runs."""
        for name, allocation in self.core.gm.allocations.items():
            places = np.flatnonzero(want[name] != got[name])
            if places.size:
                size = allocation.dtype.nbytes
                element = int(places[0]) // size
                at = slice(element * size, (element + 1) * size)
                words = (int.from_bytes(x[name][at].tobytes(), "little") for x in (want, got))
                return Difference(name, element, allocation.dtype.name, *words)
        return None

    def _started(self, at: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Run a record and take its results back; return where they go, and what they are."""
        run = self._calls[at]
        if run is None:
            return []
        call = self.records[at].call
        ub = self.core.ub.array
        places = [ub[start:stop] for start, stop in call.hidden]
        for access in call.accesses:
            if access.writes:
                memory = ub if access.space == UB else access.holder.memory
                places += [memory[start:stop] for start, stop in call.ranges(access)]
        kept = [place.copy() for place in places]
        execute, address, value = run
        execute(address, value)
        results = [(place, place.copy()) for place in places]
        for place, content in zip(places, kept, strict=True):
            place[:] = content
        return results

    def _misread(self, at: int) -> Difference:
        call = self.records[at].call
        (access,) = call.accesses
        words = (int.from_bytes(raw, "little") for raw in (self.scalars[at], scalar_bytes(call)))
        base = access.holder.start if access.space == UB else 0
        element = (access.start - base) // access.dtype.nbytes
        return Difference(access.holder.name, element, access.dtype.name, *words)


def _runnable(instr: Instr) -> tuple[Callable[[int, float], Any], int, float] | None:
    call = instr.call
    if call.execute is None:
        return None
    value = instr.scalar if call.encode is None else call.encode(instr.scalar)
    return call.execute, call.address, 0.0 if value is None else value


def reads_scalar(call: Call) -> bool:
    """Tell whether a call hands a value to the kernel."""
    return call.name == "GetValue"


def scalar_bytes(call: Call) -> bytes:
    """Return the bytes that a GetValue reads now."""
    (access,) = call.accesses
    memory = call.core.ub.array if access.space == UB else access.holder.memory
    return memory[access.start : access.start + access.dtype.nbytes].tobytes()
