"""What one record costs, in cycles, from the rows of the SoC.

A vector instruction takes fixed + per_repeat * repeats; bank conflicts add to the per-repeat part,
on 910B-class a dependent instruction has a larger fixed part, and a count that leaves a partial
repeat pays for its mask. A copy takes the longest of its issue, its bursts and its bytes; a read is
complete one latency later. Every number is a fact of the SoC's file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ascendsim.enums import REPEAT_BYTES
from ascendsim.errors import UnsupportedError
from ascendsim.observe.timeline.banks import cycles_per_repeat
from ascendsim.record import Call
from ascendsim.soc import Soc

QUANTUM = 1 << 16  # cycles are kept in steps of 2**-16, so that sums of them are exact
LOW = ("low", "assumed")
NEEDED = ("clock_mhz", "dma_issue_cycles", "mte2_bytes_per_cycle", "mte3_bytes_per_cycle")


def quantized(cycles: float) -> float:
    """Return `cycles` in steps of 2**-16."""
    return round(cycles * QUANTUM) / QUANTUM


@dataclass(frozen=True, slots=True)
class Work:
    """The cost of one kind of instruction.

    busy : cycles until the pipe takes the next one; stretch : the part of them that grows when
    all cores share HBM; latency : cycles from there until it is complete; conflict : the part
    that bank conflicts cost; low : True when a low-confidence number is in it.
    """

    name: str
    busy: float
    stretch: float = 0.0
    latency: float = 0.0
    conflict: float = 0.0
    low: bool = False


def check_costs(soc: Soc) -> None:
    """Check that this SoC has the numbers that a timeline needs.

    Raises
    ------
    UnsupportedError
        When it has none; the text names the nearest SoC that has.
    """
    missing = [name for name in NEEDED if soc.get(name) is None]
    if missing:
        raise UnsupportedError(
            f"no timing data for {soc.name} ({', '.join(missing)}); the nearest SoC with costs is "
            f"ascend910b1"
        )


def vector_work(call: Call, soc: Soc, dependent: bool) -> Work:
    """Return the cost of a vector instruction; `dependent` on the one before it."""
    cost = soc.ops[call.name].cost
    if cost is None:
        raise UnsupportedError(f"no cost of {call.name} is known on {soc.name}")
    shape: Any = call.geometry
    fixed = cost.fixed
    if dependent and soc.get("dependent_fixed_cycles") is not None:
        fixed = max(fixed, soc.dependent_fixed_cycles)
    if shape.counted and _partial(call, shape):
        fixed += soc.get("count_mode_extra_cycles", 0)
    rate = cost.rate(call.fields["dtype"].name)
    conflict = max(cycles_per_repeat(call, soc.arch) - rate, 0) * shape.repeats
    busy = fixed + rate * shape.repeats + conflict
    low = cost.confidence in LOW
    return Work(call.name, quantized(busy), conflict=quantized(conflict), low=low)


def _partial(call: Call, shape: Any) -> bool:
    widest = max(access.element for access in call.accesses)
    return bool(shape.count * widest % REPEAT_BYTES)


def ub_copy_work(call: Call, soc: Soc) -> Work:
    """Return the cost of a copy within UB, which runs on the vector pipe."""
    nbytes = sum(stop - start for start, stop in call.ranges(call.accesses[0]))
    repeats = -(-nbytes // REPEAT_BYTES)
    fixed = soc.get("ub_copy_fixed", 24)
    return Work(call.name, quantized(fixed + soc.get("ub_copy_per_repeat", 1) * repeats), low=True)


def read_work(soc: Soc, blocks: int, length: int, aligned: bool, hit: bool, cores: int) -> Work:
    """Return the cost of a copy from GM on MTE2; `hit` in L2, which all `cores` share too."""
    nbytes = blocks * length
    transfer = nbytes / soc.mte2_bytes_per_cycle
    if hit:
        per_core = soc.l2_bandwidth_derived / (soc.clock_mhz * 1e6) / cores
        transfer = max(transfer, nbytes / per_core)
    if not aligned:
        transfer *= soc.get("gm_misaligned_slowdown", 1.0)
    issue = max(soc.dma_issue_cycles, soc.dma_burst_cycles * blocks if blocks > 1 else 0)
    stretch = 0.0 if hit else transfer
    busy = max(issue, transfer)
    low = soc.fact("mte2_bytes_per_cycle").confidence in LOW and transfer >= issue
    return Work("read", quantized(busy), quantized(stretch), soc.mte2_latency_cycles, low=low)


def write_work(soc: Soc, blocks: int, length: int, spilled: float) -> Work:
    """Return the cost of a copy to GM on MTE3; `spilled` is the share that reaches HBM."""
    transfer = blocks * length / soc.mte3_bytes_per_cycle
    issue = max(soc.dma_issue_cycles, soc.dma_burst_cycles * blocks if blocks > 1 else 0)
    busy = max(issue, transfer)
    low = soc.fact("mte3_bytes_per_cycle").confidence in LOW
    return Work("write", quantized(busy), quantized(transfer * spilled), low=low)
