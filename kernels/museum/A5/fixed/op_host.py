"""Tiling: the repaired kernel runs in one block."""

from ascendsim.host import one_block as tiling

__all__ = ["tiling"]
