"""A widening Cast over its own source: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "widen_in_slot",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("bfloat16",), "out": ("float32",)},
    socs=("ascend910b1",),
)
