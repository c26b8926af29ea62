"""PingPong: out = x * 2 + 1 in two halves of UB that take turns, ordered by flags alone."""

from ascendsim.host import OpDef

OP = OpDef(
    "ping_pong",
    inputs=("x",),
    outputs=("out",),
    dtypes=("float32", "float16"),
    socs=("ascend910b1", "ascend950"),
)
