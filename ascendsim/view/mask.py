"""Mask bits of a buffer at one moment: lane i is bit i % 8 of byte i / 8."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PER_ROW = 64


@dataclass(frozen=True, slots=True, repr=False)
class Mask:
    """The bits of a mask as lanes.

    buffer : its name, with the slot when it has several; bits : bool, one per lane; first : the
    lane of the first bit.
    """

    buffer: str
    bits: np.ndarray
    first: int = 0

    @classmethod
    def of(cls, buffer: str, raw: np.ndarray, count: int | None = None) -> Mask:
        """Return the first `count` lanes (default: all) of the bytes `raw`."""
        return cls(buffer, np.unpackbits(raw, bitorder="little", count=count).astype(bool))

    @property
    def head(self) -> str:
        """The first line: name and how many lanes are on."""
        return f"{self.buffer}: {int(self.bits.sum())} of {self.bits.size} lanes on"

    def __repr__(self) -> str:
        rows = [
            f"  {self.first + start:>6}  "
            + "".join(".#"[int(bit)] for bit in self.bits[start : start + PER_ROW])
            for start in range(0, self.bits.size, PER_ROW)
        ]
        return "\n".join([self.head, *rows])

    def _repr_html_(self) -> str:
        from ascendsim.view.html.mask import mask_html

        return mask_html(self)
