"""Blend: an operator that exists only here, to show that any folder runs."""

from ascendsim.host import Attr, OpDef

OP = OpDef(
    "blend",
    inputs=("x", "y", "weight"),
    outputs=("out",),
    attrs=(Attr("shift", float, 0.25),),
    dtypes=("float32", "float16"),
    socs=("ascend910b1", "ascend910_93", "ascend950"),
)
