"""Random kernels with queues, flags and barriers, as bodies for tests.kit.

All are correct: whatever touches bytes is ordered by a queue, a flag or a barrier, or by the
compiler where `barriers` is off.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ascendsim.ascendc import *
from tests.kit import gm

N = 64
SCALED = ("Muls", "Adds")
FORMS = ("count", "mask", "low", "even", "odd")


@dataclass(frozen=True)
class Plan:
    """What a random kernel does.

    inputs : how x0.. come in: True by a queue, False by a TBuf of two halves and flags of its own
    buffers, depth : of each queue; tiles, blocks : per block, and how many
    calls : (name, form, destination, sources) over x0.., y (output), t0, t1 (TBufs), back
    barriers : PipeBarrier(PIPE_V) between all vector calls
    ahead : copy the next tile in before this one is computed (needs two buffers)
    late : EnQue and DeQue the inputs in another order than they were copied
    scalar : read one element of the output by the scalar unit, behind a flag
    round_trip : copy what was stored in GM back, to compute with it in the next tile
    """

    inputs: tuple[bool, ...]
    buffers: int
    depth: int
    tiles: int
    blocks: int
    calls: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    barriers: bool
    ahead: bool
    late: bool
    scalar: bool
    round_trip: bool

    def body(self, x, out):
        kernel = Kernel(self, gm(x), gm(out))
        for tile in range(self.tiles):
            if tile == 0 or not self.ahead:
                kernel.copy_in(tile)
            if self.ahead and tile + 1 < self.tiles:
                kernel.copy_in(tile + 1)
            kernel.compute(tile)
            kernel.copy_out(tile)
        kernel.end()

    @property
    def x_size(self):
        return self.blocks * self.tiles * len(self.inputs) * N

    @property
    def out_size(self):
        return self.blocks * self.tiles * N


class Input:
    """An input that comes in by a queue."""

    def __init__(self, kernel, number):
        plan = kernel.plan
        self.queue = TQue(TPosition.VECIN, plan.depth)
        kernel.pipe.InitBuffer(self.queue, plan.buffers, N * 4)

    def copy(self, x, tile):
        self.tensor = self.queue.AllocTensor(float32)
        DataCopy(self.tensor, x, N)

    def hand_over(self, tile):
        self.queue.EnQue(self.tensor)

    def take(self, tile):
        self.taken = self.queue.DeQue(float32)
        return self.taken

    def give_back(self, tile):
        self.queue.FreeTensor(self.taken)

    def end(self):
        pass


class PingPong:
    """An input that comes in to two halves of a TBuf by turns, each with an event id of its own."""

    def __init__(self, kernel, number):
        self.buf, self.first = TBuf(TPosition.VECCALC), 2 * number
        kernel.pipe.InitBuffer(self.buf, 2 * N * 4)
        for half in range(2):
            SetFlag(HardEvent.V_MTE2, self.first + half)

    def half(self, tile):
        return self.buf.Get(float32)[tile % 2 * N :]

    def copy(self, x, tile):
        WaitFlag(HardEvent.V_MTE2, self.first + tile % 2)
        DataCopy(self.half(tile), x, N)

    def hand_over(self, tile):
        SetFlag(HardEvent.MTE2_V, self.first + tile % 2)

    def take(self, tile):
        WaitFlag(HardEvent.MTE2_V, self.first + tile % 2)
        return self.half(tile)

    def give_back(self, tile):
        SetFlag(HardEvent.V_MTE2, self.first + tile % 2)

    def end(self):
        for half in range(2):
            WaitFlag(HardEvent.V_MTE2, self.first + half)


class Kernel:
    def __init__(self, plan: Plan, x, out) -> None:
        self.plan, self.pipe = plan, TPipe()
        self.x, self.out = x, out
        self.output = TQue(TPosition.VECOUT, plan.depth)
        self.pipe.InitBuffer(self.output, plan.buffers, N * 4)
        self.scratch = {name: TBuf(TPosition.VECCALC) for name in ("t0", "t1", "back")}
        for buf in self.scratch.values():
            self.pipe.InitBuffer(buf, N * 4)
            Duplicate(buf.Get(float32), 1.0, N)
        kinds = enumerate(plan.inputs)
        self.inputs = [(Input if queue else PingPong)(self, k) for k, queue in kinds]
        self.barrier()

    def barrier(self) -> None:
        if self.plan.barriers:
            PipeBarrier(PIPE_V)

    def copy_in(self, tile) -> None:
        for number, each in enumerate(self.inputs):
            place = GetBlockIdx() * self.plan.tiles + tile
            each.copy(self.x[(place * len(self.inputs) + number) * N :], tile)
        for each in self.inputs[:: -1 if self.plan.late else 1]:
            each.hand_over(tile)

    def compute(self, tile) -> None:
        order = list(enumerate(self.inputs))[:: -1 if self.plan.late else 1]
        names = {f"x{k}": each.take(tile) for k, each in order}
        names |= {"y": self.output.AllocTensor(float32)}
        names |= {name: buf.Get(float32) for name, buf in self.scratch.items()}
        self.barrier()
        Muls(names["y"], names["x0"], 0.5, N)
        for call, form, destination, sources in self.plan.calls:
            self.barrier()
            operands = [names[name] for name in sources]
            vector(call, form, names[destination], operands)
        self.barrier()
        if self.plan.scalar:
            SetFlag(HardEvent.V_S, 7)
            WaitFlag(HardEvent.V_S, 7)
            names["y"].GetValue(0)
        self.output.EnQue(names["y"])
        for each in self.inputs:
            each.give_back(tile)

    def copy_out(self, tile) -> None:
        tensor = self.output.DeQue(float32)
        place = self.out[(GetBlockIdx() * self.plan.tiles + tile) * N :]
        DataCopy(place, tensor, N)
        if self.plan.round_trip:
            for event in (HardEvent.V_MTE2, HardEvent.MTE3_MTE2):
                SetFlag(event, 7)
                WaitFlag(event, 7)
            DataCopy(self.scratch["back"].Get(float32), place, N)
            SetFlag(HardEvent.MTE2_V, 7)
            WaitFlag(HardEvent.MTE2_V, 7)
        self.output.FreeTensor(tensor)

    def end(self) -> None:
        for each in self.inputs:
            each.end()


def vector(name, form, destination, operands) -> None:
    """Make a vector call on all lanes, on masked ones, or on every other datablock."""
    scaled = name in SCALED
    operands = [operands[0], 1.5] if scaled else operands
    if form == "count":
        globals()[name](destination, *operands, N)
        return
    mask = {"mask": [0x00FF0F3355550001, 0], "low": 16}.get(form, 32)
    if form == "odd":
        destination = destination[8:]
    stride = 2 if form in ("even", "odd") else 1
    params = BinaryRepeatParams(stride, 1, 1, 8, 8, 8)
    if scaled:
        params = UnaryRepeatParams(stride, 1, 8, 8)
    globals()[name](destination, *operands, mask, 1, params)


@st.composite
def plans(draw, blocks=1) -> Plan:
    inputs = tuple(draw(st.lists(st.booleans(), min_size=1, max_size=2)))
    names = [f"x{k}" for k in range(len(inputs))] + ["y", "t0", "t1", "back"]
    name = st.sampled_from(names)
    call = st.tuples(
        st.sampled_from(("Muls", "Adds", "Add", "Sub", "Max")),
        st.sampled_from(FORMS),
        name,
        st.tuples(name, name),
    )
    buffers, depth = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    return Plan(
        inputs,
        buffers,
        depth,
        draw(st.integers(1, 4)),
        blocks,
        tuple(draw(st.lists(call, max_size=6))),
        draw(st.booleans()),
        buffers == depth == 2 and draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
    )
