"""Blocks that meet: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "next_part",
    inputs=("x",),
    outputs=("parts", "out"),
    dtypes={"x": ("float32",), "parts": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
