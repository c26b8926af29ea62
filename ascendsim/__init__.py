"""ascendsim: a bit-accurate simulator of the Ascend NPU's vector core.

import ascendsim as asim
op = asim.load("name of a kernel, or a folder")
til = op.tiling(x.shape, "float16", soc="ascend950")
run = asim.launch(op, {"grad": grad, "x": x}, til)
run.out
"""

from ascendsim.api import Run, launch
from ascendsim.host import load
from ascendsim.options import Options

__version__ = "0.1.0"
__all__ = ["Options", "Run", "__version__", "launch", "load"]
