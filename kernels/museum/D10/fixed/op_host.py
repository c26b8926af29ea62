"""Tiling: no more blocks than run at once."""

from ascendsim.host import Tiling

PART = 8


def tiling(ctx):
    parts = ctx.n // PART
    return Tiling(min(parts, ctx.platform.GetCoreNumAiv()), 0, {"parts": parts, "part": PART})
