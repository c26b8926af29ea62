"""Round: ties away where ties to even is documented: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "round_even",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
