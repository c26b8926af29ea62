"""Tiling of foreach scale: block k takes the tensors k, k + blocks, ..."""

import math

import numpy as np

from ascendsim.host import Tiling


def tiling(ctx):
    sizes = [math.prod(ctx.shapes[name]) for name in ctx.shapes]
    fields = {f"size{k}": size for k, size in enumerate(sizes)}
    fields |= {"tensors": len(sizes), "factor": np.float32(ctx.attr("factor"))}
    return Tiling(min(len(sizes), 2), 0, fields)
