"""SeluGrad at outputs = 0: LT where LE is meant: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "selu_grad",
    inputs=(
        "grad",
        "outputs",
    ),
    outputs=("out",),
    dtypes={"grad": ("float32",), "outputs": ("float32",), "out": ("float32",)},
    socs=("ascend950",),
)
