"""Midpoints to bfloat16: half away where half to even is the reference: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "to_bfloat16",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("bfloat16",)},
    socs=("ascend910b1",),
)
