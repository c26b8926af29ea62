"""Scaled: a kernel that sets every register that a kernel can set."""
