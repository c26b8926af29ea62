"""Tiling: one block for each part, however many cores there are."""

from ascendsim.host import Tiling

PART = 8


def tiling(ctx):
    parts = ctx.n // PART
    return Tiling(parts, 0, {"parts": parts, "part": PART})
