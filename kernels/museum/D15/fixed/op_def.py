"""Input buffer given back before its last use: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "reused_input",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
