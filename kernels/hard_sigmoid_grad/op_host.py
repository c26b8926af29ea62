"""Tiling of HardSigmoidGrad; follows ops-nn: activation/hard_sigmoid_grad (arch35 tiling)."""

import math

import numpy as np

from ascendsim.host import CeilDiv, FloorAlign, FloorDiv, Tiling, TilingError

SCH_MODE = {"float32": 0, "float16": 1, "bfloat16": 2}
MIN_SPLIT_NUM = 1024  # below this many elements one core does it all
UB_ALIGN_NUM = 64  # a compare works on 256 bytes of fp32
WORD_BYTES = 4
# 4-byte words of UB per element: two slots of three queues, the temporaries and the mask
FP32_WORDS_PER_ELEMENT = 8
HALF_WORDS_PER_ELEMENT = 7


def tiling(ctx, fixed={}):  # noqa: B006
    alpha, beta = ctx.attr("alpha"), ctx.attr("beta")
    if not math.isfinite(alpha) or alpha == 0:
        raise TilingError(f"alpha = {alpha}: it must be finite and not zero")
    if not math.isfinite(beta):
        raise TilingError(f"beta = {beta}: it must be finite")
    mode = SCH_MODE[ctx.dtype.name]
    if ctx.n == 0:
        return make(1, mode, _fields(0, 0, 0, 0, 0) | fixed)

    coreNum = ctx.platform.GetCoreNumAiv()
    if ctx.n < MIN_SPLIT_NUM:
        coreNum = 1
    totalLength = fixed.get("totalLength", ctx.n)
    blockFactor = fixed.get("blockFactor", CeilDiv(totalLength, coreNum))
    ubFactor = fixed.get("ubFactor", ub_factor(ctx))
    if ubFactor == 0:
        raise TilingError(f"UB of {ctx.platform.GetCoreMemSize()} bytes has no room for a tile")
    fields = _fields(totalLength, blockFactor, ubFactor, alpha, beta) | fixed
    return make(CeilDiv(totalLength, max(blockFactor, 1)), mode, fields)


def ub_factor(ctx):
    """Elements per tile: what fits into UB, whole compare windows."""
    words = FP32_WORDS_PER_ELEMENT if ctx.dtype.name == "float32" else HALF_WORDS_PER_ELEMENT
    ubWords = FloorDiv(ctx.platform.GetCoreMemSize(), WORD_BYTES)
    return FloorAlign(FloorDiv(ubWords, words), UB_ALIGN_NUM)


def make(blockDim, mode, fields):
    return Tiling(blockDim, mode, fields, key_name="sch_mode", positive=("ubFactor",))


def _fields(totalLength, blockFactor, ubFactor, alpha, beta):
    return {
        "totalLength": totalLength,
        "blockFactor": blockFactor,
        "ubFactor": ubFactor,
        "alpha": np.float32(alpha),
        "beta": np.float32(beta),
    }
