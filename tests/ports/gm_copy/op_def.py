"""Definition of GmCopy: read x from GM into UB and do nothing with it; for the rates of MTE2.

x has two dimensions. A core reads its own rows, in pieces of `bursts` rows times `burst_bytes`;
each piece is one copy instruction. z gets 32 bytes per block: the start of the last piece.

bursts, burst_bytes : size of a piece; at the edges of x it is smaller.
passes : how often everything is read.
slices : x is cut into so many column ranges; one is read `passes` times before the next.
l2 : `allocate` or `bypass`.
unaligned : 1 reads every row from its second element on, so 2 bytes off in half.
order : `own` rows; or every core reads all of x, all in the `same` order or each starting
    elsewhere (`staggered`).
"""

from ascendsim.host import Attr, OpDef


def infer(ctx):
    from .op_host import DATABLOCK_BYTES, core_rows

    blocks = core_rows(ctx)[0]
    return (blocks, DATABLOCK_BYTES // ctx.dtype.nbytes)


OP = OpDef(
    "gm_copy",
    inputs=("x",),
    outputs=("z",),
    attrs=(
        Attr("bursts", int, 1),
        Attr("burst_bytes", int, 2048),
        Attr("passes", int, 1),
        Attr("slices", int, 1),
        Attr("l2", str, "allocate"),
        Attr("unaligned", int, 0),
        Attr("order", str, "own"),
    ),
    dtypes=("float16", "float32"),
    socs=("ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend950"),
    infer=infer,
)
