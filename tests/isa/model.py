"""Which bytes a vector instruction changes, lane by lane: an independent model for the tests.

It works on a copy of UB, one repeat at a time: read the lanes that the mask selects, compute them
with the declaration's own body on arrays, store them. Nothing of ascendsim.isa.geometry is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascendsim import ascendc
from ascendsim.ascendc import *
from ascendsim.numerics.opcodes import ENV_FLUSH

BLOCK = 32
COMPARES = ("Compare", "Compares", "CompareScalar")


@dataclass
class Lanes:
    """Which lanes run: a count, or mask words per repeat with (block, repeat) strides per operand.

    `mask` is what the kernel passes, a number or [low, high].
    """

    count: int = 0
    mask: Any = None
    repeats: int = 1
    strides: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def counted(self) -> bool:
        return self.mask is None

    def active(self, width: int) -> list[int]:
        """Lanes of one repeat that the mask selects."""
        if isinstance(self.mask, list):
            word = self.mask[0] | (self.mask[1] << 64 if len(self.mask) > 1 else 0)
            return [lane for lane in range(width) if word >> lane & 1]
        return list(range(min(self.mask, width)))


@dataclass
class Case:
    """One call: declaration, tensors by operand name, scalar, mode, lanes."""

    decl: Any
    tensors: dict[str, Any]
    lanes: Lanes
    scalar: Any = None
    mode: Any = None

    def run(self) -> None:
        """Call the instruction as a kernel does."""
        signature = self.decl.signature.split("(")[1].split(", count")[0].split(", mask")[0]
        values = [self._argument(name) for name in signature.split(", ")]
        function, lanes = getattr(ascendc, self.decl.name), self.lanes
        if lanes.counted:
            function(*values, lanes.count)
        elif self.decl.name == "Duplicate":
            function(*values, lanes.mask, lanes.repeats, *lanes.strides["dst"])
        else:
            function(*values, lanes.mask, lanes.repeats, self._params())

    def _argument(self, name: str) -> Any:
        if name in self.tensors:
            return self.tensors[name]
        return self.mode if name.endswith("Mode") else self.scalar

    def _params(self) -> Any:
        sources = [n for n in self.tensors if n.startswith("src")]
        kind = UnaryRepeatParams if len(sources) == 1 else BinaryRepeatParams
        kind = CopyRepeatParams if self.decl.name == "Copy" else kind
        default = self.lanes.strides.get
        pairs = [default(n, (1, 8)) for n in ("dst", *sources)]
        return kind(*(p[0] for p in pairs), *(p[1] for p in pairs))


def width_of(case: Case) -> int:
    """Lanes per repeat: 256 bytes of the widest operand that holds elements."""
    sizes = [t.dtype.nbytes for n, t in case.tensors.items() if holds_elements(case, n)]
    return 256 // max(sizes)


def holds_elements(case: Case, name: str) -> bool:
    if name == "dst":
        return case.decl.name not in COMPARES
    return name != "selMask"


def place(case: Case, name: str, repeat: int, lane: int, width: int) -> int:
    """Byte offset in UB of one lane of an operand of elements."""
    tensor = case.tensors[name]
    size = tensor.dtype.nbytes
    if case.lanes.counted:
        return tensor.start + (repeat * width + lane) * size
    block, step = case.lanes.strides.get(name, (1, 8))
    per_block = BLOCK // size
    offset = repeat * step * BLOCK + lane // per_block * block * BLOCK
    return tensor.start + offset + lane % per_block * size


def expected(case: Case, before: np.ndarray, floor: bool) -> np.ndarray:
    """Return UB after the call. `floor`: compares take whole repeats and ignore the mask."""
    ub, width, lanes = before.copy(), width_of(case), case.lanes
    compares = case.decl.name in COMPARES
    repeats = lanes.repeats
    if lanes.counted:
        repeats = lanes.count // width if compares and floor else -(-lanes.count // width)
    for repeat in range(repeats):
        if lanes.counted:
            active = list(range(min(width, lanes.count - repeat * width)))
        elif compares and floor:
            active = list(range(width))
        else:
            active = lanes.active(width)
        _repeat(case, ub, repeat, active, width)
    return ub


def _repeat(case: Case, ub: np.ndarray, repeat: int, active: list[int], width: int) -> None:
    decl, values = case.decl, {}
    for name, tensor in case.tensors.items():
        if name == "selMask":
            values[name] = _packed([_bit(case, ub, repeat, lane, width) for lane in active])
        elif name != "dst" or decl.reads_dst:
            at = [place(case, name, repeat, lane, width) for lane in active]
            values[name] = read(ub, at, tensor.dtype)
    target = case.tensors["dst"]
    result = compute(case, values, len(active), decl)
    if decl.name in COMPARES:
        bits = np.zeros(width, np.uint8)
        bits[active] = np.unpackbits(result, bitorder="little")[: len(active)]
        start = target.start + repeat * width // 8
        ub[start : start + width // 8] = np.packbits(bits, bitorder="little")
        return
    at = [place(case, "dst", repeat, lane, width) for lane in active]
    raw = np.ascontiguousarray(result).view(np.uint8).reshape(len(active), target.dtype.nbytes)
    for start, element in zip(at, raw, strict=True):
        ub[start : start + element.size] = element


def compute(case: Case, values: dict[str, np.ndarray], count: int, decl: Any) -> np.ndarray:
    """Run the declaration's body on arrays."""
    core = case.tensors["dst"].core
    keywords: dict[str, Any] = {"dst": None, **values}
    keywords["env"] = core.env | (ENV_FLUSH if decl.flushes else 0)
    T = case.tensors["dst"].dtype
    if decl.name in COMPARES:
        T = next(t.dtype for n, t in case.tensors.items() if n.startswith("src"))
    if decl.scalar:
        kind = case.tensors["src"].dtype if decl.reads_dst else T
        keywords[decl.scalar] = kind.from_bits(kind.to_bits(case.scalar))
    if decl.mode is not None:
        keywords[{"Cast": "roundMode", "Select": "selMode"}.get(decl.name, "cmpMode")] = case.mode
    if decl.pair:
        keywords |= {"to": T, "scale": core.deq_scale}
    if decl.name == "Duplicate":
        keywords["dst"] = np.empty(count, T.numpy)
    if decl.name == "Select" and "src1" not in values:
        keywords["src1"] = np.full(count, T.from_bits(T.to_bits(case.scalar)), T.numpy)
    return decl.compute(**keywords)


def read(ub: np.ndarray, at: list[int], T: Any) -> np.ndarray:
    """Return the elements of type `T` at these byte offsets."""
    places = np.array(at, int)[:, None] + np.arange(T.nbytes)
    return ub[places].reshape(-1).view(T.numpy)


def _bit(case: Case, ub: np.ndarray, repeat: int, lane: int, width: int) -> int:
    if case.mode is not SELMODE.VSEL_CMPMASK_SPR:
        lane += repeat * width
    return int(ub[case.tensors["selMask"].start + lane // 8]) >> lane % 8 & 1


def _packed(bits: list[int]) -> np.ndarray:
    return np.packbits(np.array(bits, np.uint8), bitorder="little")
