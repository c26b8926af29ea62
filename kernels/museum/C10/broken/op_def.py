"""Div flushes subnormal numbers: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "quotient",
    inputs=(
        "x",
        "y",
    ),
    outputs=("out",),
    dtypes={"x": ("float32",), "y": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
