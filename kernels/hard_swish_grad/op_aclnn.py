"""The two-phase call of HardSwishGrad; follows ops-nn: experimental/activation/hard_swish_grad.

aclnnHardswishBackwardGetWorkspaceSize(gradOutput, self, out), then aclnnHardswishBackward.
"""

from ascendsim.host.aclnn import EQUAL, Aclnn, Formal, Operator, Tensor

ALL = ("float32", "float16", "bfloat16")


def graph(g, gradOutput, self, out):
    y = g.Kernel(grad=g.Contiguous(gradOutput), x=g.Contiguous(self))
    g.ViewCopy(y, out)


ACLNN = Aclnn(
    "HardswishBackward",
    params=(Tensor("gradOutput"), Tensor("self"), Tensor("out", output=True)),
    dtypes={
        "ascend910b1": ALL,
        "ascend910b2": ALL,
        "ascend910b3": ALL,
        "ascend910b4": ALL,
        "ascend910_93": ALL,
    },
    relation=EQUAL,
    shapes=(("self", "gradOutput"), ("self", "out")),
    empty=("gradOutput", "self"),
    graph=graph,
    operator=Operator(
        "HardSwishGrad",
        inputs=(Formal("grad", "grad"), Formal("x", "x")),
        outputs=(Formal("y", "out"),),
    ),
)
