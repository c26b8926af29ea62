"""Definition of HardSwishGrad: 0 for x <= -3, grad for x >= 3, grad * (x/3 + 0.5) between.

Follows ops-nn: experimental/activation/hard_swish_grad (op_host). Registered for ascend910b (all
four cuts) and ascend910_93.
"""

from ascendsim.host import OpDef

OP = OpDef(
    "hard_swish_grad",
    inputs=("grad", "x"),
    outputs=("out",),
    dtypes=("float16", "float32", "bfloat16"),
    socs=("ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910_93"),
    formats=("ND",),
)
