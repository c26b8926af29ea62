"""Exp beyond the range of float: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "exp_clamped",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
