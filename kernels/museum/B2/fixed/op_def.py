"""Round of half: no such conversion: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "round_half",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float16",), "out": ("float16",)},
    socs=("ascend910b1",),
)
