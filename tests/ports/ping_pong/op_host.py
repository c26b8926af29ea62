"""Tiling of PingPong: one core for each so many tiles."""

from ascendsim.host import CeilDiv, Tiling, TilingError

TILE = 64
TILES_PER_BLOCK = 6


def tiling(ctx, fixed={}):  # noqa: B006
    if ctx.n % TILE:
        raise TilingError(f"{ctx.n} elements: whole tiles of {TILE} are needed")
    fields = {"totalLength": ctx.n, "tileLength": TILE, "tilesPerBlock": TILES_PER_BLOCK} | fixed
    return Tiling(max(CeilDiv(ctx.n, TILE * fields["tilesPerBlock"]), 1), 0, fields)
