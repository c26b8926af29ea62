"""Which lanes a call covers, written anew for the fuzz tests: bytes of UB, one repeat at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCK, REPEAT = 32, 256


@dataclass
class Shape:
    """A count (`mask` None), or mask and repeats; `counter`: the mask is a number of elements.

    strides : (block, repeat) in datablocks for dst and the sources
    """

    count: int
    mask: object
    repeats: int
    strides: tuple[tuple[int, int], ...]
    counter: bool = False

    def lanes(self, width):
        """Yield, for each repeat, the lanes that take part."""
        if self.mask is None or self.counter:
            total = self.count if self.mask is None else self.mask
            for first in range(0, total, width):
                yield list(range(min(width, total - first)))
            return
        if isinstance(self.mask, list):
            bits = self.mask[0] | self.mask[1] << 64
            chosen = [lane for lane in range(width) if bits >> lane & 1]
        else:
            chosen = list(range(min(self.mask, width)))
        for _ in range(self.repeats):
            yield chosen

    def at(self, operand, element, width, repeat, lanes):
        """Return the byte offsets of lanes of one repeat from the operand's start."""
        offset = np.array(lanes, np.int64) * element
        if self.mask is None:
            return repeat * width * element + offset
        block, step = self.strides[operand]
        return repeat * step * BLOCK + offset // BLOCK * block * BLOCK + offset % BLOCK


def run(ub, starts, elements, shape, compute):
    """Apply `compute(*patterns)` to a UB image: operand 0 is dst, the rest are read.

    All operands of a repeat are read before it is stored. Returns the new image.
    """
    ub, width = ub.copy(), REPEAT // max(elements)
    for repeat, lanes in enumerate(shape.lanes(width)):
        if not lanes:
            continue
        read = []
        for operand in range(1, len(starts)):
            where = starts[operand] + shape.at(operand, elements[operand], width, repeat, lanes)
            raw = ub[where[:, None] + np.arange(elements[operand])]
            read.append(np.ascontiguousarray(raw).view(f"u{elements[operand]}").reshape(-1))
        found = compute(*read)
        where = starts[0] + shape.at(0, elements[0], width, repeat, lanes)
        raw = np.ascontiguousarray(found).view(np.uint8).reshape(-1, elements[0])
        ub[where[:, None] + np.arange(elements[0])] = raw
    return ub
