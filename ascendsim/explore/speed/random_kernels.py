"""Elementwise kernels drawn at random from every vector instruction with a count form.

The list is the package's own (isa/declare.REGISTRY, and what the SoC's file says of types, pairs
and modes), so an instruction that is added later is drawn too. A kernel copies tiles of its inputs
in, runs a chain of calls on buffers of several types and copies one result out; the tail is padded
up to whole repeats, whose last lanes are stale. With a fault, two operands of the last call are
shifted or strided against each other.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from ascendsim import ascendc, dtypes
from ascendsim import soc as socs
from ascendsim.ascendc import (
    SELMODE,
    Add,
    BinaryRepeatParams,
    DataCopyPad,
    DataCopyPadParams,
    DataCopyParams,
    GetBlockIdx,
    GlobalTensor,
    RoundMode,
    SetDeqScale,
    TBuf,
    TPipe,
    TPosition,
)
from ascendsim.dtypes import DType
from ascendsim.explore.inputs import random_bits
from ascendsim.isa.declare import REGISTRY
from ascendsim.isa.roles import Role
from ascendsim.launch import Job
from ascendsim.options import Options

SHIFT, ROOM = 32, 64
FAULTS = ("shifted", "strided", "shifted in GM")
LETTERS = {"N": 0, "R": 1, "F": 2, "C": 3, "A": 4, "Z": 5, "O": 6}


#: those that take a count: what a kernel here passes
COUNTED = {n: decl for n, decl in REGISTRY.items() if not hasattr(decl.params, "COUNT_FORM_ON_950")}


class Size(NamedTuple):
    """How much a kernel works on: elements in all and in a tile, and blocks."""

    elements: int = 1700
    tile: int = 256
    blocks: int = 3


class Step(NamedTuple):
    """One call: name of the instruction, (argument, buffer or value) in order."""

    name: str
    arguments: tuple[tuple[str, Any], ...]


SMALL = Size()


class Draft:
    """A kernel that is being drawn: which buffers hold what."""

    def __init__(self, seed: int, soc: str, fault: str) -> None:
        self.random = random.Random(seed)
        self.soc = socs.load(soc)
        self.steps: list[Step] = []
        self.buffers: dict[str, DType] = {}
        self.values: list[str] = []
        self.masks: list[str] = []
        self.placed = {"x", "y"}  # what depends on the inputs: a constant cannot be shifted
        fitting = self.copied & (set(self.soc.ops["Add"].dtypes) if fault else self.computed)
        self.type = dtypes.dtype(self.random.choice(sorted(fitting)))
        for name in ("x", "y"):
            self.values.append(self.buffer(self.type, name))

    @property
    def copied(self) -> set[str]:
        """Types that can be copied in and out."""
        return set(self.soc.ops["DataCopyPad"].dtypes)

    @property
    def computed(self) -> set[str]:
        """Types that something can be computed from."""
        rows = [self.soc.ops[name] for name in COUNTED if name in self.soc.ops]
        sources = {pair.split("->")[0] for row in rows for pair in row.pairs}
        return sources | {dtype for row in rows for dtype in row.dtypes}

    def buffer(self, dtype: DType, name: str = "") -> str:
        """Return a new buffer."""
        name = name or f"b{len(self.buffers)}"
        self.buffers[name] = dtype
        return name

    def of_type(self, wanted: str) -> list[str]:
        """Return the values of a type."""
        return [name for name in self.values if self.buffers[name].name == wanted]

    def draw(self) -> bool:
        """Append a random call; return False when the drawn instruction does not fit."""
        decl = COUNTED[self.random.choice(sorted(COUNTED))]
        row = self.soc.ops.get(decl.name)
        if row is None:
            return False
        if decl.pair:
            return self._draw_cast(decl, row)
        fitting = [t for t in row.dtypes if self.of_type(t)]
        if not fitting or (self._reads_mask(decl) and not self.masks):
            return False
        dtype = dtypes.dtype(self.random.choice(sorted(fitting)))
        arguments = {}
        for name, role in decl.operands:
            if role is Role.IN:
                arguments[name] = self.random.choice(self.of_type(dtype.name))
            elif role is Role.BITS_IN:
                arguments[name] = self.random.choice(self.masks)
        if decl.scalar:
            shift = decl.shift and 8 * dtype.nbytes
            arguments[decl.scalar] = self._scalar(dtype) % shift if shift else self._scalar(dtype)
        if decl.mode is not None:
            arguments["mode"] = self._mode(decl, row, dtype)
        writes_bits = decl.operands[0][1] is Role.BITS_OUT
        target = self.buffer(dtypes.uint8 if writes_bits else dtype)
        if decl.reads_dst:
            target = arguments["dst"]
        elif not writes_bits and self.random.random() < 0.3:
            target = self.random.choice(self.of_type(dtype.name))  # in place
        self._append(decl, arguments | {"dst": target}, writes_bits)
        return True

    def _draw_cast(self, decl: Any, row: Any) -> bool:
        pairs = [p.split("->") for p in sorted(row.pairs) if self.of_type(p.split("->")[0])]
        if not pairs:
            return False
        source, target = self.random.choice(pairs)
        letter = self.random.choice(row.pairs[f"{source}->{target}"])
        arguments = {
            "dst": self.buffer(dtypes.dtype(target)),
            "src": self.random.choice(self.of_type(source)),
            "mode": RoundMode(LETTERS[letter]),
        }
        self._append(decl, arguments, False)
        return True

    def _append(self, decl: Any, arguments: dict[str, Any], bits: bool) -> None:
        names = decl.signature.split("(")[1].split(", count")[0].split(", ")
        given = tuple((n, arguments.get(n, arguments.get("mode"))) for n in names)
        self.steps.append(Step(decl.name, given))
        known = self.masks if bits else self.values
        target = arguments["dst"]
        depends = any(v in self.placed for n, v in given if n != "dst" and isinstance(v, str))
        (self.placed.add if depends else self.placed.discard)(target)
        if target in known:
            known.remove(target)
        known.append(target)

    def _mode(self, decl: Any, row: Any, dtype: DType) -> Any:
        if decl.mode is SELMODE:
            return SELMODE.VSEL_TENSOR_TENSOR_MODE
        modes = row.only.get(dtype.name, row.modes)
        allowed = [m for m in decl.mode if not modes or int(m) in modes]
        return self.random.choice(allowed)

    def _scalar(self, dtype: DType) -> Any:
        if dtype.kind != "float":
            return self.random.randrange(100)
        return self.random.choice((0.0, -0.0, 1.0, -1.5, 3.0, 1 / 3, float("inf"), 1e-30))

    def _reads_mask(self, decl: Any) -> bool:
        return any(role is Role.BITS_IN for _, role in decl.operands)

    def spoil(self, fault: str) -> None:
        """Let the last call combine two values that do not fit element by element."""
        value = self.values[-1]
        other = self.buffer(self.buffers[value])
        self.steps.append(Step("DataCopy", (("dst", other), ("src", value))))
        target = self.buffer(self.buffers[value])
        self.steps.append(Step(fault, (("dst", target), ("src0", value), ("src1", other))))
        self.values.append(target)


def random_kernel(seed: int, fault: str = "", soc: str = "ascend910b1", size: Size = SMALL) -> Job:
    """Return the job of a random kernel; `fault` is one of FAULTS or "" for an aligned one."""
    draft = Draft(seed, soc, fault)
    wanted, tries = draft.random.randint(2, 7), 0
    # what reaches GM is of a type that can be copied; a fault needs Add for it and both inputs
    while tries < 400 and (len(draft.steps) < wanted or not _ends_well(draft, fault)):
        draft.draw()
        tries += 1
    if fault and fault != "shifted in GM":
        draft.spoil(fault)
    result = draft.values[-1]
    count = size.elements + SHIFT
    inputs = {n: random_bits(draft.type, count, seed + k) for k, n in enumerate(("x", "y"))}
    body = _body(draft, result, SHIFT if fault == "shifted in GM" else 0, size)
    return Job(
        name="random",
        kernel=body,
        inputs=inputs,
        input_types=dict.fromkeys(inputs, draft.type),
        outputs={"out": ((size.elements,), draft.buffers[result])},
        tiling=None,
        block_dim=size.blocks,
        workspace=0,
        soc=draft.soc,
        ub_bytes=draft.soc.ub_bytes,
        options=Options(),
        seed=seed,
        identity=(body,),
    )


def _ends_well(draft: Draft, fault: str) -> bool:
    dtype = draft.buffers[draft.values[-1]].name
    added = not fault or dtype in draft.soc.ops["Add"].dtypes
    fits = dtype in draft.copied and added and (not fault or draft.values[-1] in draft.placed)
    return fits and draft.values[-1] not in ("x", "y")


def _body(draft: Draft, result: str, shift: int, size: Size) -> Any:
    per_block = -(-size.elements // size.blocks)

    def body(x: Any, y: Any, out: Any, workspace: Any, tiling: Any) -> None:
        SetDeqScale(0.75)
        u = Buffers({name: (dtype, size.tile + ROOM) for name, dtype in draft.buffers.items()})
        begin = GetBlockIdx() * per_block
        length = min(per_block, size.elements - begin)
        for start in range(0, length, size.tile):
            now = min(size.tile, length - start)
            for name, source in (("x", gm(x)), ("y", gm(y))):
                copy_in(u[name], source[begin + start + shift :], now)
            for step in draft.steps:
                run_step(u, step, size.tile)
            nbytes = now * draft.buffers[result].nbytes
            params = DataCopyParams(1, nbytes, 0, 0)
            DataCopyPad(gm(out)[begin + start :], u[result], params)

    return body


class Buffers:
    """Named TBufs of a new TPipe: `Buffers({"a": (float32, 64)})["a"]` is the tensor."""

    def __init__(self, wanted: dict[str, tuple[DType, int]]) -> None:
        self.pipe = TPipe()
        self.wanted = wanted
        for name, (dtype, count) in wanted.items():
            holder = TBuf(TPosition.VECCALC)
            setattr(self, name, holder)  # the attribute names the buffer
            self.pipe.InitBuffer(holder, count * dtype.nbytes)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name).Get(self.wanted[name][0])


def gm(address: Any) -> Any:
    """Return the whole of a kernel argument as a GlobalTensor."""
    tensor = GlobalTensor(address.dtype)
    tensor.SetGlobalBuffer(address, 0)
    return tensor


def copy_in(local: Any, source: Any, elements: int) -> None:
    """Copy elements from GM."""
    params = DataCopyParams(1, elements * local.dtype.nbytes, 0, 0)
    DataCopyPad(local, source, params, DataCopyPadParams())


def run_step(u: Any, step: Step, tile: int) -> None:
    """Make one call of a kernel."""
    given = [u[a] if isinstance(a, str) else a for _, a in step.arguments]
    if step.name == "shifted":
        dst, one, other = given
        Add(dst, one, other[SHIFT:], tile)
    elif step.name == "strided":
        dst, one, other = given
        lanes = 256 // dst.dtype.nbytes
        # every repeat of src1 is the first one
        params = BinaryRepeatParams(1, 1, 1, 8, 8, 0)
        Add(dst, one, other, lanes, tile // lanes, params)
    else:
        getattr(ascendc, step.name)(*given, tile)
