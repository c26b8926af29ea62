"""Turn a checked call into the int64 words that the compiled bodies read (opcodes.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascendsim.isa.geometry import Geometry
from ascendsim.isa.roles import DESTINATIONS, Role
from ascendsim.numerics import opcodes


def make_row(
    decl: Any, tensors: tuple[Any, ...], mode: Any, shape: Geometry, opcode: int
) -> np.ndarray:
    """Return the row of a call, with GEOMETRY still 0."""
    core = tensors[0].core
    row = np.zeros(opcodes.ROW_WORDS, np.int64)
    row[opcodes.OP], row[opcodes.COUNT] = opcode, shape.count
    row[opcodes.MODE] = 0 if mode is None else int(mode)
    row[opcodes.ENV] = core.env
    subnormals = core.options.subnormals
    if (decl.flushes and subnormals == "soc") or (decl.arithmetic and subnormals == "flush"):
        row[opcodes.ENV] |= opcodes.ENV_FLUSH
    for slot, tensor in zip(_slots(decl), tensors, strict=True):
        row[slot] = tensor.address
    return row


def make_words(decl: Any, shape: Geometry, in_order: bool, arch: str) -> np.ndarray | None:
    """Return the geometry block of a call, or None when it is one plain loop over its lanes."""
    partial_bits = decl.operands[0][1] is Role.BITS_OUT and shape.count % shape.lanes
    if shape.contiguous and not (in_order or partial_bits):
        return None
    words = shape.words(masked_compare=arch == "3510")
    for slot, layout in zip(_slots(decl), shape.layouts, strict=True):
        place = opcodes.G_OPERANDS + 3 * _ORDER.index(slot)
        words[place : place + 3] = layout.element, layout.block_stride, layout.repeat_stride
    return words


_ORDER = (opcodes.DST, opcodes.SRC0, opcodes.SRC1, opcodes.MASK)


def _slots(decl: Any) -> list[int]:
    # no instruction has three sources and mask bits, so the word of the bits holds the third
    sources = iter((opcodes.SRC0, opcodes.SRC1, opcodes.MASK))
    slots = []
    for _, role in decl.operands:
        if role in DESTINATIONS:
            slots.append(opcodes.DST)
        elif role is Role.BITS_IN:
            slots.append(opcodes.MASK)
        else:
            slots.append(next(sources))
    return slots
