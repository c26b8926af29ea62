"""Definition of SwishGrad: grad * s * (1 + b*x*(1 - s)) with s = sigmoid(b*x), b = sconf.

Follows ops-nn: experimental/activation/swish_grad (op_host). The operator's third input y is
never read by the kernel, so it has no place here.
"""

from ascendsim.host import Attr, OpDef, ShapeError


def infer(ctx):
    """Return the shape of x, with which grad must agree."""
    if ctx.shapes["grad"] != ctx.shapes["x"]:
        raise ShapeError(f"grad {ctx.shapes['grad']} and x {ctx.shapes['x']} must have one shape")
    return ctx.shapes["x"]


OP = OpDef(
    "swish_grad",
    inputs=("grad", "x"),
    outputs=("out",),
    attrs=(Attr("sconf", float, 1.0),),
    dtypes=("float16", "float32", "bfloat16"),
    socs=("ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4"),
    formats=("ND", "NC1HWC0", "FRACTAL_NZ"),
    infer=infer,
)
