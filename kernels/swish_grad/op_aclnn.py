"""The two-phase call of SwishGrad; follows ops-nn: experimental/activation/swish_grad (op_host).

aclnnSwishBackwardGetWorkspaceSize(gradOutput, self, betaOptional, gradInput), then
aclnnSwishBackward. A null betaOptional means 1.
"""

from ascendsim.host.aclnn import EQUAL, Aclnn, Formal, Operator, Scalar, Tensor

ALL = ("float16", "float32", "bfloat16")


def graph(g, gradOutput, self, beta, gradInput):
    y = g.Kernel(grad=g.Contiguous(gradOutput), x=g.Contiguous(self), sconf=beta)
    g.ViewCopy(y, gradInput)


ACLNN = Aclnn(
    "SwishBackward",
    params=(
        Tensor("gradOutput"),
        Tensor("self"),
        Scalar("betaOptional", "sconf", 1.0),
        Tensor("gradInput", output=True),
    ),
    dtypes={
        "ascend910b1": ALL,
        "ascend910b2": ALL,
        "ascend910b3": ALL,
        "ascend910b4": ALL,
    },
    relation=EQUAL,
    shapes=(("gradOutput", "gradInput"), ("self", "gradInput")),
    empty=("gradOutput", "self"),
    formats=("ND", "NC1HWC0", "FRACTAL_NZ"),
    graph=graph,
    operator=Operator(
        "SwishGrad",
        inputs=(
            Formal("grad", "grad"),
            Formal("x", "x"),
            Formal("y", "", "required, and never read by the kernel"),
        ),
        outputs=(Formal("grad_x", "out"),),
        attrs={"sconf": "sconf"},
    ),
)
