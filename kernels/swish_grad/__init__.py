"""SwishGrad: the backward pass of swish, as the 910B kernel computes it."""

from .op_api import swish_backward

__all__ = ["swish_backward"]
