"""Random kernels with queues, flags and barriers, as bodies for tests.kit."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ascendsim.ascendc import *
from tests.kit import gm

N = 64


@dataclass(frozen=True)
class Plan:
    """What a random kernel does: buffers per queue, tiles, and the vector calls of a tile.

    calls : (name, destination, sources) over x0.. (inputs), y (output), t0, t1 (TBufs)
    barriers : one PipeBarrier(PIPE_V) between all vector calls
    scalar : read one element of the output by the scalar unit, behind a flag
    """

    inputs: int
    buffers: int
    tiles: int
    calls: tuple[tuple[str, str, tuple[str, ...]], ...]
    barriers: bool
    scalar: bool

    def body(self, x, out):
        kernel = Kernel(self)
        for tile in range(self.tiles):
            kernel.copy_in(gm(x), tile)
            kernel.compute()
            kernel.copy_out(gm(out), tile)


class Kernel:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.pipe = plan, TPipe()
        self.inputs = [TQue(TPosition.VECIN, plan.buffers) for _ in range(plan.inputs)]
        self.output = TQue(TPosition.VECOUT, plan.buffers)
        self.scratch = [TBuf(TPosition.VECCALC) for _ in range(2)]
        for queue in (*self.inputs, self.output):
            self.pipe.InitBuffer(queue, plan.buffers, N * 4)
        for buf in self.scratch:
            self.pipe.InitBuffer(buf, N * 4)
            Duplicate(buf.Get(float32), 1.0, N)
        self.barrier()

    def barrier(self) -> None:
        if self.plan.barriers:
            PipeBarrier(PIPE_V)

    def copy_in(self, x, tile) -> None:
        for number, queue in enumerate(self.inputs):
            tensor = queue.AllocTensor(float32)
            DataCopy(tensor, x[(tile * len(self.inputs) + number) * N :], N)
            queue.EnQue(tensor)

    def compute(self) -> None:
        names = {f"x{k}": queue.DeQue(float32) for k, queue in enumerate(self.inputs)}
        taken = list(names.values())
        names |= {"y": self.output.AllocTensor(float32)}
        names |= {f"t{k}": buf.Get(float32) for k, buf in enumerate(self.scratch)}
        self.barrier()
        Muls(names["y"], names["x0"], 0.5, N)
        for call, destination, sources in self.plan.calls:
            self.barrier()
            operands = [names[name] for name in sources]
            if call in ("Muls", "Adds"):
                globals()[call](names[destination], operands[0], 1.5, N)
            else:
                globals()[call](names[destination], *operands, N)
        self.barrier()
        if self.plan.scalar:
            SetFlag(HardEvent.V_S, 3)
            WaitFlag(HardEvent.V_S, 3)
            names["y"].GetValue(0)
        self.output.EnQue(names["y"])
        for queue, tensor in zip(self.inputs, taken, strict=True):
            queue.FreeTensor(tensor)

    def copy_out(self, out, tile) -> None:
        tensor = self.output.DeQue(float32)
        DataCopy(out[tile * N :], tensor, N)
        self.output.FreeTensor(tensor)


@st.composite
def plans(draw) -> Plan:
    inputs = draw(st.integers(1, 2))
    names = [f"x{k}" for k in range(inputs)] + ["y", "t0", "t1"]
    name = st.sampled_from(names)
    call = st.tuples(
        st.sampled_from(("Muls", "Adds", "Add", "Sub", "Max")), name, st.tuples(name, name)
    )
    return Plan(
        inputs,
        draw(st.integers(1, 2)),
        draw(st.integers(1, 4)),
        tuple(draw(st.lists(call, max_size=6))),
        draw(st.booleans()),
        draw(st.booleans()),
    )
