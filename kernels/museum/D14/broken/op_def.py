"""No barrier behind Min: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "clamped",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
