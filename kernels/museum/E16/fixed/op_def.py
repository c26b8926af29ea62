"""Sum over a tail with old values behind it: the repaired kernel."""

from ascendsim.host import OpDef

OP = OpDef(
    "tile_sums",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float32",)},
    socs=("ascend910b1",),
    infer=lambda ctx: (-(-ctx.n // 64),),
)
