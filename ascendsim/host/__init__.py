"""The host side: operator definitions, tiling functions and the loading of kernel folders.

`ascendsim.host.acl` is the runtime, `ascendsim.host.aclnn` has the two-phase calls; both are
imported by name, since tiling code needs neither.
"""

from ascendsim.errors import ShapeError, TilingError
from ascendsim.host.definition import Attr, OpDef, parse_attr
from ascendsim.host.op import Op, find_ops, load
from ascendsim.host.platform import CoreMemType, PlatformAscendC, SocVersion
from ascendsim.host.tiling import (
    CeilAlign,
    CeilDiv,
    FloorAlign,
    FloorDiv,
    Tiling,
    TilingContext,
    one_block,
)

__all__ = [
    "Attr",
    "CeilAlign",
    "CeilDiv",
    "CoreMemType",
    "FloorAlign",
    "FloorDiv",
    "Op",
    "OpDef",
    "PlatformAscendC",
    "ShapeError",
    "SocVersion",
    "Tiling",
    "TilingContext",
    "TilingError",
    "find_ops",
    "load",
    "one_block",
    "parse_attr",
]
