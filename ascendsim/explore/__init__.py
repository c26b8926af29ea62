"""Explorations over many runs: the self-test of the instruction set (and later atlas, sweeps)."""
