"""Foreach scale: y_k = x_k * factor for every tensor of a list, as the foreach kernels do it."""

from ascendsim.host import Attr, OpDef

OP = OpDef(
    "foreach_scale",
    inputs=("x",),
    outputs=("y",),
    lists=("x", "y"),
    attrs=(Attr("factor", float, 0.5),),
    dtypes=("float32", "float16"),
    socs=("ascend910b1", "ascend950"),
)
