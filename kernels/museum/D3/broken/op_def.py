"""A flag is waited for in every tile and set once: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "scaled_tiles",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
