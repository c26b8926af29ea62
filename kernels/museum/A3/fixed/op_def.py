"""HardShrink passes NaN by x != x: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "hard_shrink",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
