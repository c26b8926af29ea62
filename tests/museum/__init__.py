"""Public bug reports as kernels."""
