"""Loop count 0 - 1 in uint16: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "fold",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
