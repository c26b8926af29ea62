"""PlatformAscendC: the chip as tiling code sees it.

Follows the class of the same name of the Ascend C tiling interface. The values are the SoC's,
unless the caller asked for other cores or another UB (a what-if).
"""

from __future__ import annotations

from enum import IntEnum

from ascendsim.soc import Soc


class CoreMemType(IntEnum):
    """Memories that tiling code can ask for; only UB is modelled."""

    UB = 3


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

    def GetCoreMemSize(self, memory: CoreMemType = CoreMemType.UB) -> int:  # noqa: N802
        """Return the bytes of UB that tiling may use (910B: 256 less than are built in)."""
        if memory is not CoreMemType.UB:
            raise ValueError(f"only CoreMemType.UB is modelled, not {memory!r}")
        return self._ub
