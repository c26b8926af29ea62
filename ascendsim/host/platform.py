"""PlatformAscendC: the chip as tiling code sees it.

Follows the class of the same name of the Ascend C tiling interface. The values are the SoC's,
unless the caller asked for other cores or another UB (a what-if).
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any

from ascendsim.errors import UnsupportedError
from ascendsim.soc import Soc


class CoreMemType(IntEnum):
    """Memories that tiling code can ask for."""

    L0_A = 0
    L0_B = 1
    L0_C = 2
    L1 = 3
    L2 = 4
    UB = 5
    HBM = 6


class SocVersion(StrEnum):
    """Families of chips, as tiling code tells them apart."""

    ASCEND910 = "ascend910"
    ASCEND310P = "ascend310p"
    ASCEND910B = "ascend910b"
    ASCEND910_93 = "ascend910_93"
    ASCEND950 = "ascend950"


_SIZES = {CoreMemType.L1: "l1_bytes", CoreMemType.L2: "l2_bytes"}
_BANDWIDTHS = {
    CoreMemType.L2: "host_l2_bytes_per_cycle",
    CoreMemType.HBM: "host_hbm_bytes_per_cycle",
}


class PlatformAscendC:
    """Cores and UB of `soc`; `cores` and `ub` replace what the chip has."""

    __slots__ = ("_cores", "_ub", "soc")

    def __init__(self, soc: Soc, cores: int | None = None, ub: int | None = None) -> None:
        self.soc = soc
        self._cores = soc.aiv_cores if cores is None else cores
        self._ub = soc.tiling_ub_bytes if ub is None else ub

    def GetCoreNum(self) -> int:  # noqa: N802
        """Return the number of cores; on chips with split cores that of vector cores."""
        return self._cores

    def GetCoreNumAiv(self) -> int:  # noqa: N802
        """Return the number of vector cores."""
        return self._cores

    def GetCoreNumAic(self) -> int:  # noqa: N802
        """Return the number of cube cores."""
        return self.soc.aic_cores

    def GetSocVersion(self) -> SocVersion:  # noqa: N802
        """Return the family of the chip: all cuts of 910B are one."""
        return next(v for v in reversed(SocVersion) if self.soc.name.startswith(v.value))

    def GetCurNpuArch(self) -> int:  # noqa: N802
        """Return the number of the architecture: 1001, 2002, 2201 or 3510."""
        return self.soc.npu_arch

    def GetCoreMemSize(self, memory: CoreMemType = CoreMemType.UB) -> int:  # noqa: N802
        """Return the bytes of a memory; of UB those that tiling may use (910B: 256 less).

        Raises
        ------
        UnsupportedError
            For memories whose size is not known here.
        """
        if memory is CoreMemType.UB:
            return self._ub
        return int(self._fact(_SIZES, memory, "size"))

    def GetCoreMemBw(self, memory: CoreMemType) -> int:  # noqa: N802
        """Return the bytes per cycle of a core to L2 or HBM, as the interface reports them.

        Raises
        ------
        UnsupportedError
            For memories, and on chips, where nothing is known.
        """
        return int(self._fact(_BANDWIDTHS, memory, "bandwidth"))

    def CalcTschBlockDim(self, sliceNum: int, aicCoreNum: int, aivCoreNum: int) -> int:  # noqa: N802, N803
        """Return the block dim of `sliceNum` vector slices; two AIV go with one AIC.

        Without cube cores, or without vector cores, or on chips that have not split them, it is
        `sliceNum` itself.
        """
        if min(aicCoreNum, aivCoreNum) <= 0 or aicCoreNum > aivCoreNum:
            return sliceNum
        return -(-sliceNum // (aivCoreNum // aicCoreNum))

    def _fact(self, fields: dict[CoreMemType, str], memory: Any, what: str) -> Any:
        field = fields.get(memory)
        value = None if field is None else self.soc.get(field)
        if value is None:
            known = ", ".join(m.name for m, name in fields.items() if self.soc.get(name))
            raise UnsupportedError(
                f"the {what} of {getattr(memory, 'name', memory)!s} on {self.soc.name} is not "
                f"known; known are {known or 'none'}"
            )
        return value
