"""Tiling of HardSwishGrad; follows ops-nn: experimental/activation/hard_swish_grad (op_host)."""

from ascendsim.host import CeilDiv, FloorAlign, FloorDiv, Tiling, TilingError

TILING_KEY = {"float16": 0, "float32": 1, "bfloat16": 2}
RESERVED_UB_BYTES = 1024
BYTES_PER_ELEMENT = 48  # a round figure: 34 (float32) or 32 of them are in use
UB_ALIGN_NUM = 64  # a compare works on 256 bytes of fp32


def tiling(ctx, fixed={}):  # noqa: B006
    if ctx.shapes["grad"] != ctx.shapes["x"]:
        raise TilingError(
            f"grad {ctx.shapes['grad']} and x {ctx.shapes['x']} must agree in rank and dimensions"
        )
    key = TILING_KEY[ctx.dtype.name]
    if ctx.n == 0:
        return make(1, key, {"totalNum": 0, "blockFactor": 0, "ubFactor": 0} | fixed)

    totalNum = fixed.get("totalNum", ctx.n)
    blockFactor = fixed.get("blockFactor", CeilDiv(totalNum, ctx.platform.GetCoreNumAiv()))
    ubFactor = fixed.get("ubFactor", ub_factor(ctx))
    if ubFactor <= 0:
        raise TilingError(f"UB of {ctx.platform.GetCoreMemSize()} bytes has no room for a tile")
    fields = {"totalNum": totalNum, "blockFactor": blockFactor, "ubFactor": ubFactor} | fixed
    return make(CeilDiv(totalNum, max(blockFactor, 1)), key, fields)


def ub_factor(ctx):
    """Elements per tile: what fits into UB, whole compare windows."""
    ubBytes = ctx.platform.GetCoreMemSize() - RESERVED_UB_BYTES
    return FloorAlign(FloorDiv(ubBytes, BYTES_PER_ELEMENT), UB_ALIGN_NUM)


def make(blockDim, key, fields):
    return Tiling(blockDim, key, fields, positive=("ubFactor",))
