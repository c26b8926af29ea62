"""The kernels that come with ascendsim, one folder each."""
