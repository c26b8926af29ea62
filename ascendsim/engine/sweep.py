"""Run an elementwise kernel on every bit pattern of an input, made inside the compiled loop.

    loop = SweepLoop(plan, sizes, {"x": 0}, types)     # types: DType of each GM tensor
    loop.checksum(0, 1 << 32, {"grad": 0x3F800000})    # the sum over all x, grad = 1
    loop.fill(0xC0400000, bits, {"grad": 0x3F800000})  # the results from that x on, as raw bits

The plan may come from a launch of any size (`launch.plan_of`); the kernel's program does not hang
on it. Memory is constant; the loops hold no GIL, so ranges may run on several threads.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.engine.generated import compiled
from ascendsim.engine.plan import Plan
from ascendsim.engine.program import loops_of
from ascendsim.engine.program_text import CHUNK, WIDTH, parse
from ascendsim.engine.stream import NoPlanError
from ascendsim.numerics.formats import BY_NAME

FACTOR = 2654435761
WORD = 1 << 64
_ARGUMENTS = "constants, scalars, start, rounds, place"
_SIGNATURE = "void(int64, int64, int64, int64, int64)"


class SweepLoop:
    """The compiled loop of a plan over index ranges; see the module.

    Parameters
    ----------
    sizes : bytes of each GM tensor, as `fused_of` takes them
    swept : GM tensor to the lowest bit of the index that it takes its pattern from: {"x": 0}, or
        {"x": 0, "grad": 16} for all pairs of 16-bit patterns
    types : element type of each GM tensor

    Raises
    ------
    NoPlanError
        When the kernel is not elementwise (the text says which operands forbid it), or its tiles
        do not all compute the same.
    """

    def __init__(
        self,
        plan: Plan,
        sizes: Mapping[str, int],
        swept: Mapping[str, int],
        types: Mapping[str, DType],
    ) -> None:
        loops = loops_of(plan, sizes)
        if len(loops) != 1:
            raise NoPlanError(f"the tiles of the kernel compute {len(loops)} different things")
        (loop,) = loops
        self.scalars = np.array(loop.scalars, np.float64)
        self.constants: list[str] = []
        lines, stores = [], {}
        for text, line in zip(loop.text.splitlines(), parse(loop.text), strict=True):
            tensor = loop.tensors[line.fields["tensor"]] if "tensor" in line.fields else ""
            if line.name == "store":
                stores[tensor] = line
                continue
            lines.append(self._line(text, line.fields, tensor, swept))
        self.output = next(iter(stores))
        store, dtype = stores[self.output].fields, types[self.output]
        form = BY_NAME.get(dtype.name)
        nan = (form.infinity, form.quiet_nan) if form else (0, 0)
        fields = f"value=v{store['value']}, bits={store['bits']}"
        lines.append(f"store({fields}, infinity={nan[0]}, quiet={nan[1]})")
        self.text = "\n".join(lines) + "\n"
        self.bits = np.dtype(f"u{store['bits'] // 8}")

    def fill(self, start: int, out: np.ndarray, constants: Mapping[str, int]) -> None:
        """Store the raw bits of the results of the indices from `start` on in `out`.

        out : contiguous, of unsigned integers as wide as the output (`bits`)
        constants : the raw bits of every input that is not swept
        """
        assert out.dtype == self.bits, (out.dtype, self.bits)
        assert out.flags.c_contiguous
        rounds, rest = divmod(out.size, CHUNK)
        self._run("run_fill", start, rounds, constants, out)
        if rest:
            tail = np.empty(CHUNK, self.bits)
            self._run("run_fill", start + rounds * CHUNK, 1, constants, tail)
            out[rounds * CHUNK :] = tail[:rest]

    def checksum(self, start: int, count: int, constants: Mapping[str, int]) -> int:
        """Return the sum of `out_bits * (index * FACTOR + 1)` modulo 2**64 over a range of indices.

        Every NaN counts as the quiet NaN of its type. Sums of ranges add up, modulo 2**64.
        """
        rounds, rest = divmod(count, CHUNK)
        sums = np.zeros((2, WIDTH), np.uint64)
        if rounds:
            self._run("run_fold", start, rounds, constants, sums)
        products, plain = (int(s.sum(dtype=np.uint64)) for s in sums)
        if rest:
            first = start + rounds * CHUNK
            out = np.empty(rest, self.bits)
            self.fill(first, out, constants)
            for index, word in enumerate(self._counted(out).tolist(), first):
                products, plain = products + word * index, plain + word
        return (products * FACTOR + plain) % WORD

    def _counted(self, out: np.ndarray) -> np.ndarray:
        fields = parse(self.text)[-1].fields
        if not fields["infinity"]:
            return out
        magnitude = out & ((1 << (8 * out.itemsize - 1)) - 1)
        return np.where(magnitude > fields["infinity"], fields["quiet"], out)

    def _run(
        self, runner: str, start: int, rounds: int, constants: Mapping[str, int], place: np.ndarray
    ) -> None:
        given = np.array([constants[name] for name in self.constants], np.int64)
        function = compiled(runner, self.text, _ARGUMENTS, _SIGNATURE)
        addresses = given.ctypes.data, self.scalars.ctypes.data
        function(*addresses, start, rounds, place.ctypes.data)

    def _line(
        self, text: str, fields: Mapping[str, int], tensor: str, swept: Mapping[str, int]
    ) -> str:
        """Return a line of the program with a pattern or a constant in the place of a load."""
        left = text.split(" = ")[0]
        if not tensor:
            return text
        if tensor in swept:
            return f"{left} = pattern(shift={swept[tensor]}, bits={fields['bits']})"
        if tensor not in self.constants:
            self.constants.append(tensor)
        number = self.constants.index(tensor)
        return f"{left} = constant(number={number}, bits={fields['bits']})"
