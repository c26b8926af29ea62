"""Selu of integers: int8 saturates where the reference wraps: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "selu_wrapping",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float16",), "out": ("int8",)},
    socs=("ascend950",),
)
