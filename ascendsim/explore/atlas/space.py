"""Which inputs an atlas visits: every pattern of one tensor, the others fixed or visited too.

An input has an index: the pattern of the swept tensor, plus (with a second tensor visited as well)
65536 times the pattern of that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as find_dtype
from ascendsim.errors import RequestError
from ascendsim.host import Op
from ascendsim.host.numbers import parse_int
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Format

FORMATS: dict[str, Format] = {fmt.name: fmt for fmt in (FLOAT32, FLOAT16, BFLOAT16)}
CHUNK = 1 << 19  # inputs that are computed at a time: their arrays fit in a cache
PAIRED_BITS = 16
EVERY = "all"
_NEAR = {"float32": 1 << 15, "float16": 1 << 6, "bfloat16": 1 << 3}


@dataclass(frozen=True, slots=True)
class Space:
    """Every input of an atlas.

    types : element type names of all tensors; fixed : patterns of the inputs that do not change;
    every : the second tensor that is visited, "" for none; output : the first output.
    """

    sweep: str
    types: Mapping[str, str]
    fixed: Mapping[str, int]
    every: str
    output: str

    @property
    def x(self) -> DType:
        """The type of the swept tensor."""
        return find_dtype(self.types[self.sweep])

    @property
    def out(self) -> Format:
        """The format of the output."""
        return FORMATS[self.types[self.output]]

    @property
    def row(self) -> int:
        """Patterns of the swept tensor."""
        return 1 << (8 * self.x.nbytes)

    @property
    def size(self) -> int:
        """How many inputs there are."""
        return self.row << PAIRED_BITS if self.every else self.row

    @property
    def chunk(self) -> int:
        """How many are computed at a time."""
        return min(CHUNK, self.size)

    @property
    def near(self) -> int:
        """How many neighbouring patterns a boundary is judged by."""
        return _NEAR[self.x.name]

    def patterns(self, indices: np.ndarray) -> dict[str, np.ndarray]:
        """Return the patterns of the inputs that change, by tensor, for indices (uint64)."""
        found = {self.sweep: (indices & np.uint64(self.row - 1)).astype(self.x.bits)}
        if self.every:
            found[self.every] = (indices >> np.uint64(PAIRED_BITS)).astype(np.uint16)
        return found

    def arrays(self, indices: np.ndarray) -> dict[str, np.ndarray]:
        """Return every input tensor as values, for indices (uint64)."""
        found = self.patterns(indices)
        for tensor, bits in self.fixed.items():
            found[tensor] = np.full(indices.size, bits, find_dtype(self.types[tensor]).bits)
        return {name: bits.view(find_dtype(self.types[name]).numpy) for name, bits in found.items()}

    def fill(self, arrays: Mapping[str, np.ndarray], start: int) -> None:
        """Set `arrays`, which `arrays()` made, to the indices start, start + 1, ... in place."""
        count, x = arrays[self.sweep].size, arrays[self.sweep].view(self.x.bits)
        if not self.every:
            step = np.asarray(start - int(x[0])).astype(x.dtype)  # modulo the patterns
            np.add(x, step, out=x)
            return
        for name, bits in self.patterns(np.arange(start, start + count, dtype=np.uint64)).items():
            arrays[name].view(bits.dtype)[:] = bits

    def named(self, index: int) -> dict[str, int]:
        """Return the patterns of one input as an example shows them: x_bits, and the second's."""
        found = {"x_bits": index & (self.row - 1)}
        if self.every:
            found[f"{self.every}_bits"] = index >> PAIRED_BITS
        return found


def space_of(op: Op, dtypes: object, settings: Mapping[str, str]) -> Space:
    """Return the space that `settings` ({tensor: number, raw bits or "all"}) ask for.

    Inputs that are not set are 1.

    Raises
    ------
    RequestError
        When a tensor is unknown, a value does not fit, or a type cannot be swept.
    ShapeError
        When the definition does not take the types.
    """
    definition = op.definition
    types = {name: each.name for name, each in definition.choose_dtypes(dtypes).items()}
    sweep, output = definition.sweep_input, definition.outputs[0]
    for tensor in (sweep, output):
        if types[tensor] not in FORMATS:
            raise RequestError(
                f"{op.name}: {tensor} is {types[tensor]}; an atlas needs {', '.join(FORMATS)}"
            )
    fixed, every = {name: "1" for name in definition.inputs if name != sweep}, ""
    for tensor, value in settings.items():
        if tensor not in fixed:
            raise RequestError(_unsettable(op, tensor, sweep, tuple(fixed)))
        fixed[tensor] = value
    for tensor in [name for name, value in fixed.items() if value == EVERY]:
        if every:
            raise RequestError(f"{every} and {tensor} are both set to all: one can be")
        every = tensor
        del fixed[tensor]
        if {types[tensor], types[sweep]} - {"float16", "bfloat16"}:
            raise RequestError(
                f"{tensor} = all needs 16-bit types; {tensor} is {types[tensor]} and {sweep} is "
                f"{types[sweep]}: set it to a value"
            )
    bits = {name: _pattern(name, value, find_dtype(types[name])) for name, value in fixed.items()}
    return Space(sweep, types, bits, every, output)


def _unsettable(op: Op, tensor: str, sweep: str, others: tuple[str, ...]) -> str:
    known = ", ".join(others) or "no other input"
    if tensor == sweep:
        return f"{tensor} takes every value; {known} can be set"
    return f"{op.name} has no input {tensor!r} to set; it has {known} beside {sweep}"


def _pattern(tensor: str, value: str, dtype: DType) -> int:
    """Return the pattern of a decimal number or of raw bits."""
    text = str(value).strip()
    if text.lower().startswith("0x"):
        bits = parse_int(text, tensor)
        if bits >> (8 * dtype.nbytes):
            raise RequestError(
                f"{tensor}={value}: raw bits of {dtype} have {8 * dtype.nbytes} bits"
            )
        return bits
    try:
        return dtype.to_bits(float(text) if dtype.kind == "float" else int(text))
    except ValueError as error:
        raise RequestError(
            f"{tensor}={value}: a number, raw bits like 0x3c00, or all are needed"
        ) from error
