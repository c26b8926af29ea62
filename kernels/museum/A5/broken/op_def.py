"""NE as the negation of EQ: the broken kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "not_equal",
    inputs=(
        "a",
        "b",
    ),
    outputs=("out",),
    dtypes={"a": ("float32",), "b": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
)
