"""Definition of HardSigmoidGrad: y = grad * alpha where 0 < alpha * x + beta < 1, else 0.

Follows ops-nn: activation/hard_sigmoid_grad (op_host). The operator calls the tensors grads,
input_x and y; here they have the names of the call logs.
"""

from ascendsim.host import Attr, OpDef, ShapeError


def infer(ctx):
    """Return the shape of the inputs, which must agree."""
    if ctx.shapes["grad"] != ctx.shapes["x"]:
        raise ShapeError(f"grad {ctx.shapes['grad']} and x {ctx.shapes['x']} must have one shape")
    return ctx.shapes["x"]


OP = OpDef(
    "hard_sigmoid_grad",
    inputs=("grad", "x"),
    outputs=("out",),
    attrs=(Attr("alpha", float, 1 / 6), Attr("beta", float, 0.5)),
    dtypes=("float32", "float16", "bfloat16"),
    socs=("ascend950",),
    other_socs=(
        "ascend910",
        "ascend310p",
        "ascend910b1",
        "ascend910b2",
        "ascend910b3",
        "ascend910b4",
        "ascend910_93",
    ),
    formats=("ND",),
    infer=infer,
)
