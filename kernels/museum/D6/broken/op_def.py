"""Abs copied out before it is done: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "absolute",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
