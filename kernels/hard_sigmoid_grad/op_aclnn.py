"""The two-phase call of HardSigmoidGrad; follows ops-nn: activation/hard_sigmoid_grad (op_host).

aclnnHardsigmoidBackwardGetWorkspaceSize(gradOutput, self, out), then aclnnHardsigmoidBackward.
"""

import numpy as np

from ascendsim.host.aclnn import PROMOTED, Aclnn, Formal, Operator, Tensor

FLOAT_HALF = ("float32", "float16")
ALL = (*FLOAT_HALF, "bfloat16")
ALPHA, BETA = np.float32(1) / np.float32(6), np.float32(0.5)


def graph(g, gradOutput, self, out):
    common = g.promoted(gradOutput, self)
    grad = g.Cast(g.Contiguous(gradOutput), common)
    x = g.Cast(g.Contiguous(self), common)
    y = g.Kernel(grad=grad, x=x, alpha=ALPHA, beta=BETA)
    g.ViewCopy(g.Cast(y, out.dtype), out)


ACLNN = Aclnn(
    "HardsigmoidBackward",
    params=(Tensor("gradOutput"), Tensor("self"), Tensor("out", output=True)),
    dtypes={
        "ascend910": FLOAT_HALF,
        "ascend310p": FLOAT_HALF,
        "ascend910b1": ALL,
        "ascend910b2": ALL,
        "ascend910b3": ALL,
        "ascend910b4": ALL,
        "ascend910_93": ALL,
        "ascend950": ALL,
    },
    relation=PROMOTED,
    shapes=(("self", "gradOutput"), ("self", "out")),
    empty=("gradOutput", "self", "out"),
    graph=graph,
    operator=Operator(
        "HardSigmoidGrad",
        inputs=(
            Formal("grads", "grad", "made contiguous"),
            Formal("input_x", "x", "made contiguous"),
        ),
        outputs=(Formal("y", "out"),),
        attrs={"alpha": "alpha", "beta": "beta"},
    ),
    stand_in={"ascend910": "ascend950", "ascend310p": "ascend950"},
)
