"""Momentum: result copied out without waiting for V: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "apply_momentum",
    inputs=(
        "var",
        "accum",
        "grad",
    ),
    outputs=("out",),
    dtypes={"var": ("float32",), "accum": ("float32",), "grad": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
