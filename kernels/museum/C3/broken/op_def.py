"""Mask multiplied onto an infinity: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "power_grad",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
