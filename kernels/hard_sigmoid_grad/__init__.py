"""HardSigmoidGrad: the backward pass of hard sigmoid, as the ascend950 kernel computes it."""

from .op_api import hardsigmoid_backward

__all__ = ["hardsigmoid_backward"]
