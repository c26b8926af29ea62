"""Tiling of Blend: two tiles per block, whole compare windows per tile."""

import numpy as np

from ascendsim.host import CeilDiv, FloorAlign, Tiling, TilingError

TILES_PER_BLOCK = 2
MAX_TILE = 256
WINDOW = 128  # elements; a compare covers 256 bytes of half
BYTES_PER_ELEMENT = 24


def tiling(ctx, fixed):
    x, y, weight = (ctx.shapes[name] for name in ("x", "y", "weight"))
    if x != y:
        raise TilingError(f"x has shape {x} and y {y}: they must agree")
    if weight != (1,):
        raise TilingError(f"weight has shape {weight}: it must hold one element")
    room = FloorAlign(ctx.platform.GetCoreMemSize() // BYTES_PER_ELEMENT, WINDOW)
    tileLength = fixed.get("tileLength", min(MAX_TILE, room))
    if tileLength == 0:
        raise TilingError("UB has no room for a tile")
    fields = {
        "totalLength": ctx.n,
        "tileLength": tileLength,
        "shift": np.float32(ctx.attr("shift")),
    }
    blocks = max(CeilDiv(ctx.n, TILES_PER_BLOCK * tileLength), 1)
    return Tiling(blocks, 0, fields | fixed, positive=("tileLength",))
