"""Scratch over the end of a mask: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "gated_select",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
