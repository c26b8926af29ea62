"""Tiling of SwishGrad; follows ops-nn: experimental/activation/swish_grad (op_host).

Works on 32-byte blocks of the tensor rounded up to 32 bytes. `tailBlockNum` big cores come first
and take one block more than the small ones.
"""

from ascendsim.host import CeilDiv, FloorDiv, Tiling, TilingError

BLOCK_BYTES = 32
UB_BLOCKS_PER_TILE_BLOCK = {4: 7, 2: 12}  # by element size: two slots of three queues + temporaries


def tiling(ctx, fixed={}):  # noqa: B006
    if ctx.n == 0:
        raise TilingError("an empty tensor is refused")
    elementsPerBlock = BLOCK_BYTES // ctx.dtype.nbytes
    inputBlockNum = CeilDiv(ctx.n, elementsPerBlock)
    tileBlockNum = tile_blocks(ctx, fixed, elementsPerBlock)

    coreNum = min(ctx.platform.GetCoreNum(), inputBlockNum)
    if tileBlockNum >= inputBlockNum:
        coreNum = 1
    smallBlockNum, tailBlockNum = divmod(inputBlockNum, coreNum)
    small = split(smallBlockNum, tileBlockNum, elementsPerBlock)
    big = split(smallBlockNum + 1, tileBlockNum, elementsPerBlock)
    fields = {
        "smallCoreDataNum": small[0],
        "bigCoreDataNum": big[0],
        "finalBigTileNum": big[1],
        "finalSmallTileNum": small[1],
        "tileDataNum": tileBlockNum * elementsPerBlock,
        "smallTailDataNum": small[2],
        "bigTailDataNum": big[2],
        "tailBlockNum": tailBlockNum,
        "sconf": ctx.attr("sconf"),
    }
    return Tiling(coreNum, 0, fields | fixed, positive=("tileDataNum",))


def tile_blocks(ctx, fixed, elementsPerBlock):
    """32-byte blocks per tile: what fits into UB, or what a sweep wants to keep."""
    if "tileDataNum" in fixed:
        tileBlockNum, rest = divmod(fixed["tileDataNum"], elementsPerBlock)
        if rest or tileBlockNum == 0:
            raise TilingError(
                f"tileDataNum = {fixed['tileDataNum']}: a multiple of {elementsPerBlock} is needed"
            )
        return tileBlockNum
    ubBlockNum = FloorDiv(ctx.platform.GetCoreMemSize(), BLOCK_BYTES)
    tileBlockNum = FloorDiv(ubBlockNum, UB_BLOCKS_PER_TILE_BLOCK[ctx.dtype.nbytes])
    if tileBlockNum == 0:
        raise TilingError(f"UB of {ctx.platform.GetCoreMemSize()} bytes has no room for a tile")
    return tileBlockNum


def split(coreBlockNum, tileBlockNum, elementsPerBlock):
    """Elements of a core, its number of tiles, elements of its last tile."""
    tileNum = CeilDiv(coreBlockNum, tileBlockNum)
    tailBlockNum = coreBlockNum - (tileNum - 1) * tileBlockNum
    return coreBlockNum * elementsPerBlock, tileNum, tailBlockNum * elementsPerBlock
