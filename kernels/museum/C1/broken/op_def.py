"""Mean of gradients: overflow by the order of two products: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "mean_grad",
    inputs=(
        "derivative",
        "grad",
    ),
    outputs=("out",),
    dtypes={"derivative": ("float32",), "grad": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
