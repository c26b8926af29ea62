"""Atomic mode left on: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "histogram_total",
    inputs=("x",),
    outputs=(
        "total",
        "copy",
    ),
    dtypes={"x": ("float32",), "total": ("float32",), "copy": ("float32",)},
    socs=("ascend910b1",),
)
