"""A float scalar read as bfloat16: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "scaled",
    inputs=(
        "x",
        "value",
    ),
    outputs=("out",),
    dtypes={"x": ("float32",), "value": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
