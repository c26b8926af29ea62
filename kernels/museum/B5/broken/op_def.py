"""Sqrt of half rounded upwards: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "sqrt_half",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float16",), "out": ("float16",)},
    socs=("ascend950",),
)
