"""Readers of the stream; each only looks."""
