"""Timeline: what a user sees of a scheduled launch.

Times in microseconds unless they say cycles. `slices` and `arrows` walk one block in full, for
traces and pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ascendsim.observe.timeline.model import Launch, conflict_cycles, low_share, stretch_of
from ascendsim.observe.timeline.schedule import ISSUE_STALL, State, walk
from ascendsim.observe.timeline.steps import (
    MTE2,
    MTE3,
    PIPE_NAMES,
    SIGNAL,
    WAIT,
    S,
    V,
)
from ascendsim.record import Instr

LANES = ("S", "MTE2", "V", "MTE3")  # data-path order


class Slice(NamedTuple):
    """One instruction on one pipe, in cycles from the start of its block."""

    step: int
    pipe: str
    start: float
    stop: float
    instr: Instr | None


class Arrow(NamedTuple):
    """A token from one pipe to another: when it was signalled and when it was waited for."""

    signal: int
    wait: int
    source: str
    destination: str
    start: float
    stop: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The time of a launch.

    aiv_us : of the slowest core; launch_us : of starting the blocks, apart; task_us : both.
    pipes : busy cycles and ratio per pipe of the slowest core. stretch : how much longer its HBM
    transfers take than with free memory. stalls : cycles that a pipe of the
    slowest core waited, by cause. bound and advice : what limits the launch and what would help.
    drawn : makes the HTML that notebooks show; pictures are made in a layer above.
    """

    launch: Launch
    state: State
    ub_capacity: int
    stretch: float = 1.0
    drawn: Callable[[Timeline], str] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return (
            f"Timeline({self.aiv_us:.2f} us on {self.launch.soc.name}, {self.task_us:.2f} us with "
            f"launch, bound by {self.bound})"
        )

    def _repr_html_(self) -> str | None:
        return None if self.drawn is None else self.drawn(self)

    @property
    def cycles(self) -> float:
        """Cycles of the slowest core."""
        return self.launch.cycles

    @property
    def aiv_us(self) -> float:
        """Microseconds of the slowest core."""
        return self.cycles / self.launch.soc.clock_mhz

    @property
    def launch_us(self) -> float:
        """Microseconds that starting the blocks takes."""
        soc = self.launch.soc
        blocks = sum(len(t.stream.blocks) for t in self.launch.blocks)
        return float(soc.get("launch_base_us", 0.0) + soc.get("launch_per_block_us", 0.0) * blocks)

    @property
    def task_us(self) -> float:
        """Microseconds of the whole task."""
        return self.aiv_us + self.launch_us

    @property
    def pipes(self) -> dict[str, dict[str, float]]:
        """Busy cycles and ratio per pipe, in data-path order."""
        total = self.cycles or 1.0
        found = {}
        for name in LANES:
            busy = self.state.busy[PIPE_NAMES.index(name)] * self.launch.rounds
            found[name] = {"busy_cycles": busy, "ratio": busy / total}
        return found

    @property
    def stalls(self) -> dict[str, dict[str, float]]:
        """Cycles that each pipe stood still, by cause: another pipe's token, or the scalar unit."""
        found: dict[str, dict[str, float]] = {}
        for (pipe, source), cycles in self.state.stalls.items():
            issue = source == ISSUE_STALL
            name = "issue by S" if issue else f"a token of {PIPE_NAMES[source]}"
            entry = found.setdefault(PIPE_NAMES[pipe], {})
            entry[name] = entry.get(name, 0.0) + cycles * self.launch.rounds
        return found

    @property
    def exposed_latency_cycles(self) -> float:
        """Cycles of read latency that the vector pipe of the slowest core waited for."""
        return self.state.exposed * self.launch.rounds

    @property
    def conflict_cycles(self) -> float:
        """Cycles that UB bank conflicts cost on the slowest core."""
        return conflict_cycles(self.launch)

    @property
    def low_share(self) -> float:
        """Share of the slowest core's busy cycles that rests on low-confidence numbers."""
        return low_share(self.launch)

    @property
    def ub_used(self) -> int:
        """Bytes of UB that the buffers take."""
        return max(t.stream.recorder.ub_used for t in self.launch.blocks)

    @property
    def not_predicted(self) -> list[str]:
        """What this kernel does whose time is not in the prediction."""
        if any(t.stream.recorder.meets for t in self.launch.blocks):
            return ["blocks wait for one another (SyncAll, IBSet, IBWait): how long is left out"]
        return []

    @property
    def bound(self) -> str:
        """What limits the task: launch, or what limits the core."""
        return "launch" if self.launch_us > self.aiv_us else self.core_bound

    @property
    def core_bound(self) -> str:
        """What limits the slowest core: HBM, or the pipe that is busiest with free memory."""
        alone = self.launch.blocks[self.launch.slowest].alone[0]
        demand = {"HBM": self.launch.hbm_cycles}
        for pipe in (MTE2, V, MTE3, S):
            demand[PIPE_NAMES[pipe]] = alone.busy[pipe] * self.launch.rounds
        return max(demand, key=lambda name: demand[name])

    @property
    def advice(self) -> str:
        """One sentence: what would make the launch faster."""
        return _ADVICE[self.bound]

    def achieved(self) -> dict[str, float]:
        """Return the achieved bandwidth in GB/s, of all cores together."""
        traffic, seconds = self.launch.traffic, self.aiv_us * 1e-6 or 1.0
        return {
            "read": traffic.read / seconds / 1e9,
            "write": traffic.written / seconds / 1e9,
            "hbm": (traffic.read_from_hbm + traffic.written_to_hbm) / seconds / 1e9,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the document that `ascendsim time --json` prints."""
        traffic = self.launch.traffic
        left_out = {"not_predicted": self.not_predicted} if self.not_predicted else {}
        return left_out | {
            "aiv_us": self.aiv_us,
            "task_us": self.task_us,
            "launch_us": self.launch_us,
            "cycles": self.cycles,
            "cores": self.launch.cores,
            "bound": self.bound,
            "core_bound": self.core_bound,
            "advice": self.advice,
            "pipes": self.pipes,
            "stalls": self.stalls,
            "exposed_latency_cycles": self.exposed_latency_cycles,
            "conflict_cycles": self.conflict_cycles,
            "bytes": {
                "read": traffic.read,
                "write": traffic.written,
                "hbm_read": traffic.read_from_hbm,
                "hbm_write": traffic.written_to_hbm,
            },
            "gb_per_s": self.achieved(),
            "ub": {"used": self.ub_used, "capacity": self.ub_capacity},
            "confidence": {"low_share": self.low_share},
        }

    def class_of(self, block: int) -> int:
        """Return the class of blocks that `block` belongs to."""
        for number, time in enumerate(self.launch.blocks):
            if block in time.stream.blocks:
                return number
        raise IndexError(f"no block {block}")

    def slices(self, block: int = 0) -> Iterator[Slice]:
        """Walk a block in full and give one slice per instruction, in program order."""
        time = self.launch.blocks[self.class_of(block)]
        found: list[Slice] = []
        instrs = time.stream.recorder.instrs

        def emit(step: int, pipe: int, start: float, stop: float) -> None:
            found.append(
                Slice(step, PIPE_NAMES[pipe], start, stop, instrs[step] if instrs else None)
            )

        walk(time.program(self.stretch, skip=False), emit)
        yield from found

    def arrows(self, block: int = 0) -> Iterator[tuple[int, int]]:
        """Give (step that signals, step that waits) of every token of a block."""
        recorder = self.launch.blocks[self.class_of(block)].stream.recorder
        for step, kind in enumerate(recorder.kinds):
            if kind == WAIT and recorder.waits[step]:
                assert recorder.kinds[step - recorder.waits[step]] == SIGNAL
                yield step - recorder.waits[step], step


_ADVICE = {
    "launch": "the work is shorter than starting the blocks: use fewer blocks or fuse kernels",
    "HBM": "memory is the limit: move fewer bytes (fuse, smaller types) or keep data out of L2 "
    "that is read once (SetL2CacheHint)",
    "MTE2": "copies in are the limit: larger copies, and a second buffer to hide their latency",
    "V": "vector work is the limit: fewer instructions, fewer dependent ones, no bank conflicts",
    "MTE3": "copies out are the limit: larger copies, and a second buffer in the output queue",
    "S": "issuing is the limit: larger tiles, fewer calls, no scalar access in loops",
}


def timeline_of(launch: Launch, ub_capacity: int) -> Timeline:
    """Return the timeline of a scheduled launch, its HBM transfers stretched to its time."""
    stretch = stretch_of(launch)
    state = walk(launch.blocks[launch.slowest].program(stretch))[0]
    return Timeline(launch, state, ub_capacity, stretch)
