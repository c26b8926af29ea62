"""Refuse the byte offsets that a gather found in its operand: misaligned, or outside src."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.errors import AlignmentError, AscendError, BoundsError
from ascendsim.numerics import opcodes
from ascendsim.record import UB, Call, Span

_OFFSET_BYTES = 4


@dataclass(frozen=True, slots=True)
class Offsets:
    """The offsets of a gather.

    operand : their name; tensor, src : LocalTensors; base : bytes added to each
    unit : what each one takes, an element or a block, with `width` bytes; they are multiples of it
    """

    operand: str
    tensor: Any
    src: Any
    unit: str
    width: int
    base: int = 0

    def check(self, call: Call) -> None:
        """Refuse the first offset that stopped `call`, if one did: nothing was stored then.

        Raises
        ------
        AlignmentError
            When the offset is no multiple of the width.
        BoundsError
            When its bytes leave src.
        """
        index = int(call.row[1][opcodes.P_STATUS]) - 1
        if index >= 0:
            raise self._refusal(call, index).recorded()

    def _refusal(self, call: Call, index: int) -> AscendError:
        place = self.tensor.start + index * _OFFSET_BYTES
        value = int(call.core.ub.array[place : place + _OFFSET_BYTES].view(np.uint32)[0])
        start, width, src = self.base + value, self.width, self.src
        based = f" from srcBaseAddr {self.base}" if self.base else ""
        head = f"{call.name}: {self.operand}[{index}] is {value}{based}"
        if start % width:
            return AlignmentError(
                f"{head}, no multiple of {width} bytes; nothing was stored; offsets count bytes: "
                f"{self.unit} k of src is at {width} * k",
                about=Span(UB, self.tensor.buffer, place, place + _OFFSET_BYTES),
            )
        last = src.nbytes - width - self.base
        way_out = f"use offsets up to {last // width * width}" if last >= 0 else "use a larger src"
        return BoundsError(
            f"{head}: bytes {start:#x} to {start + width:#x} leave {src!r} ({src.nbytes} bytes); "
            f"nothing was stored; offsets count bytes, not {self.unit}s: {way_out}",
            about=src,
        )
