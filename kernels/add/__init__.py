"""Add: z = x + y. The tutorial kernel, and the one that the published timing study varies."""

from .op_api import add

__all__ = ["add"]
