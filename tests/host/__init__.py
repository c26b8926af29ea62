"""Tests of the host side: runtime, two-phase calls."""
