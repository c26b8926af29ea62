"""Selu of integers: product rounded where the reference truncates: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "selu_integer",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float16",), "out": ("float32",)},
    socs=("ascend950",),
)
