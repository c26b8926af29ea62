"""HardSwishGrad: the backward pass of hard swish, as the 910B kernel computes it."""

from .op_api import hardswish_backward

__all__ = ["hardswish_backward"]
