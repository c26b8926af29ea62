"""Tiling of Add: the host decides how many elements a core gets, and how many a round moves.

Every core gets the same number of elements, in whole datablocks of 32 bytes; the last one gets
what is left. A core walks through its share tile by tile.
"""

from ascendsim.host import CeilAlign, CeilDiv, FloorAlign, Tiling, TilingError

from .op_kernel import BUFFER_NUM, PLACEMENT, YShiftBytes

TILING_KEY = {"float16": 0, "float32": 1}
L2 = {"allocate": 0, "bypass-inputs": 1, "bypass-all": 2}
DATABLOCK_BYTES = 32
GM_REQUEST_BYTES = 512  # GM is served in such units, so a tile of whole ones wastes none
QUEUES = 3  # x, y, z


def tiling(ctx, fixed={}):  # noqa: B006
    if ctx.shapes["x"] != ctx.shapes["y"]:
        raise TilingError(
            f"x {ctx.shapes['x']} and y {ctx.shapes['y']} must agree in rank and dimensions"
        )
    perBlock = DATABLOCK_BYTES // ctx.dtype.nbytes
    placement = fixed.get("placement", choice(ctx, "placement", PLACEMENT))
    totalLength = fixed.get("totalLength", ctx.n)
    share = CeilDiv(totalLength, ctx.platform.GetCoreNumAiv())
    blockLength = fixed.get("blockLength", CeilAlign(share, perBlock))
    fields = {
        "totalLength": totalLength,
        "blockLength": blockLength,
        "tileLength": tile_length(ctx, fixed, perBlock, placement),
        "placement": placement,
        "l2": choice(ctx, "l2", L2),
    }
    # A core without elements would only cost its start, so no more cores than shares.
    blockDim = max(CeilDiv(totalLength, max(blockLength, 1)), 1)
    key = TILING_KEY[ctx.dtype.name]
    return Tiling(blockDim, key, fields | fixed, positive=("tileLength",))


def choice(ctx, name, words):
    """Return the number that the kernel gets for the word of an attribute."""
    word = ctx.attr(name)
    if word not in words:
        raise TilingError(f"attribute {name} = {word!r}: use one of {', '.join(words)}")
    return words[word]


def tile_length(ctx, fixed, perBlock, placement):
    """Elements per tile: as asked for, else the most that UB holds."""
    what, asked = "attribute tile", ctx.attr("tile")
    if "tileLength" in fixed:
        what, asked = "tileLength", fixed["tileLength"]
    elif asked == 0:
        return largest_tile(ctx, placement)
    if asked <= 0 or asked % perBlock:
        raise TilingError(
            f"{what} = {asked}: a positive multiple of {perBlock} elements ({DATABLOCK_BYTES} "
            f"bytes) is needed"
        )
    room, used = ub_bytes(ctx.platform), used_bytes(asked * ctx.dtype.nbytes, placement)
    if used > room:
        raise TilingError(
            f"{what} = {asked}: {QUEUES} queues of BUFFER_NUM = {BUFFER_NUM} tiles take {used} "
            f"bytes, but UB has {room}"
        )
    return asked


def largest_tile(ctx, placement):
    room = ctx.platform.GetCoreMemSize()
    spare = GM_REQUEST_BYTES if placement else 0  # at most, see YShiftBytes
    tileBytes = FloorAlign((room - spare) // (QUEUES * BUFFER_NUM), GM_REQUEST_BYTES)
    if tileBytes <= 0:
        raise TilingError(f"UB of {room} bytes has no room for {QUEUES * BUFFER_NUM} tiles")
    return tileBytes // ctx.dtype.nbytes


def used_bytes(tileBytes, placement):
    return QUEUES * BUFFER_NUM * tileBytes + YShiftBytes(tileBytes, placement)


def ub_bytes(platform):
    """Bytes that InitBuffer can give away.

    On 910B tiling code is told 256 less than that. The published study fills all of it, so a tile
    that was asked for may too.
    """
    told = platform.GetCoreMemSize()
    return platform.soc.ub_bytes if told == platform.soc.tiling_ub_bytes else told
