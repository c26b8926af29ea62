"""Definition of Add: z = x + y, element by element; x and y agree in type and shape.

The three attributes are knobs of speed and never change a bit of z.

tile : elements that one round moves; 0 takes the most that UB holds.
l2 : `allocate` keeps x, y and z in the L2 cache as they pass; `bypass-inputs` and `bypass-all`
    do not.
placement : where y lies in UB beside x. `conflict`: in the same bank groups, so that an Add can
    read one of the two per cycle only; `clean`: in the other ones.

Follows the study of asc-devkit: examples/01_simd_cpp_api/05_best_practices/00_vector_compute/
add_high_performance.
"""

from ascendsim.host import Attr, OpDef

OP = OpDef(
    "add",
    inputs=("x", "y"),
    outputs=("z",),
    attrs=(
        Attr("tile", int, 0),
        Attr("l2", str, "allocate"),
        Attr("placement", str, "conflict"),
    ),
    dtypes=("float16", "float32"),
    socs=(
        "ascend910b1",
        "ascend910b2",
        "ascend910b3",
        "ascend910b4",
        "ascend910_93",
        "ascend950",
    ),
    formats=("ND",),
    sweep="x",
)
