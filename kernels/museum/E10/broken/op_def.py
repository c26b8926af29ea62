"""Double buffers counted once: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "normalised",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
