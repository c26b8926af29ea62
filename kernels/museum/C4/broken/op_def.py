"""Expint near 0: an interval where a point is meant: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "expint_small",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
