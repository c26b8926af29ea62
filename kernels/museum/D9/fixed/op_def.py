"""A value read by the scalar unit before V has stored it: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "scaled_by_first",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
