"""Definition of Scaled: out = x * 0.75 + 1 in half, from int32; one block, one tile of 128."""

from ascendsim.host import OpDef

OP = OpDef("scaled", inputs=("x",), outputs=("out",), dtypes={"x": ("int32",), "out": ("float16",)})
