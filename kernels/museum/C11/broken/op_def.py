"""Division by a scalar: reciprocal of the rounded scalar: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "divide_by",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
