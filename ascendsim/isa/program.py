"""Instructions with a geometry of their own: reductions, gathers, broadcasts.

    @program("reduce-tree", "reduce-masked-lanes")
    def WholeReduceSum(dst, src, mask, ...):
        \"\"\"...the page...\"\"\"
        issue("WholeReduceSum", (dst, src), (mask, ...), _bind_whole)

The decorated function is the declaration: its signature and docstring are the page, the rules its
evidence. `issue` looks the bound call up under the plain numbers given, tests liveness, and runs
it; the first call binds: a binder checks the contract with the helpers below and returns the Call,
whose row runs a program of numerics/programs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ascendsim.core import observed
from ascendsim.dtypes import DType
from ascendsim.enums import PIPE
from ascendsim.errors import (
    AscendError,
    ContractError,
    QueueError,
)
from ascendsim.isa import masks
from ascendsim.isa.footprint import Footprint, Operand, check_operands
from ascendsim.isa.geometry import Geometry, Layout
from ascendsim.numerics import opcodes
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32
from ascendsim.record import UB, Access, Call

MAX_CALLS = 256  # bound calls kept per destination tensor before the table is cleared
PROGRAM_RULES: dict[str, tuple[str, ...]] = {}
MASKED: set[str] = set()  # instructions that follow the mask registers themselves
FORMATS = {"float32": FLOAT32, "float16": FLOAT16, "bfloat16": BFLOAT16}


def program(
    *rules: str, masked: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an instruction that relies on these rules of isa/rules.py.

    `masked`: it knows counter mode and isSetMask=False, and notes what it leaves in the registers.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAM_RULES[function.__name__] = rules
        if masked:
            MASKED.add(function.__name__)
        return function

    return declare


def issue(
    name: str,
    tensors: tuple[Any, ...],
    given: tuple[Any, ...],
    bind: Callable[..., Call],
    depth: int = 3,
) -> Call:
    """Run the call `name`, bound by `bind(name, tensors, *given)` when first seen.

    `given` is hashable: numbers as plain integers, masks as tuples. `depth` is how many frames
    above this one the kernel's line is, plus two.

    Raises
    ------
    AscendError
        When a rule is broken; the text names instruction, operand, value, rule and way out.
    """
    key = (name, *tensors[1:], *given)
    try:
        call = tensors[0].calls[key]
    except (KeyError, AttributeError, TypeError):
        call = _bound(name, tensors, given, bind, key)
    for tensor in tensors:
        if not tensor.buffer.state:
            raise QueueError(
                f"{name}: {tensor!r} lies in a buffer that was freed; on hardware another pipe may "
                f"already fill it; use it before FreeTensor or call AllocTensor again",
                finding="memcheck:use-after-free",
                about=tensor.buffer,
            )
    if call.core.readers:
        observed(call.core, call, depth=depth)
    else:
        call.execute(call.address, 0.0)  # type: ignore[misc]
    return call  # type: ignore[no-any-return]


def _bound(
    name: str,
    tensors: tuple[Any, ...],
    given: tuple[Any, ...],
    bind: Callable[..., Call],
    key: tuple[Any, ...],
) -> Call:
    try:
        for place, tensor in enumerate(tensors):
            if getattr(tensor, "space", None) != UB:
                raise ContractError(f"operand {place} is {tensor!r}: it must be a LocalTensor")
        core = tensors[0].core
        if any(t.core is not core for t in tensors):
            raise ContractError("operands lie in the UB of different cores")
        if name not in MASKED:
            masks.refuse_counter(core)
        core.binding.clear()
        call = bind(name, tensors, *given)
        call.warned = tuple(core.binding.items())
    except AscendError as error:
        error.message = f"{name}: {error.message}"
        raise
    core.relied_on(PROGRAM_RULES.get(name, ()), name)
    if core.masks is not None:
        if name not in MASKED:
            core.masks.register = None
        call.sets = masks.held(core)
        return call  # bound anew each time, as what it leaves in the register matters
    calls = tensors[0].calls
    if len(calls) >= MAX_CALLS:
        calls.clear()
    calls[key] = call
    return call


def make_call(
    name: str,
    body: str,
    operands: Sequence[Operand],
    count: int,
    words: Mapping[int, int],
    fields: Mapping[str, Any],
    scratch_words: int = 0,
) -> Call:
    """Check the operands and return the call.

    Parameters
    ----------
    body : name of the program
    operands : dst, sources, scratch; their roles in records are their names
    count : lanes in all
    words : words of the parameter block by index; G_REPEATS among them
    fields : the other arguments, for the call log
    scratch_words : memory of the call's own behind the block, whose address is P_SCRATCH
    """
    left = check_operands(name, operands)
    core = operands[0].tensor.core
    opcode = core.bodies.opcode(body)
    row = np.zeros(opcodes.ROW_WORDS, np.int64)
    block = np.zeros(opcodes.PARAMETER_WORDS + scratch_words, np.int64)
    for place, value in words.items():
        block[place] = np.uint64(value & (1 << 64) - 1).astype(np.int64)
    block[opcodes.P_SCRATCH] = block.ctypes.data + block.itemsize * opcodes.PARAMETER_WORDS
    row[opcodes.OP], row[opcodes.COUNT], row[opcodes.ENV] = opcode, count, core.env
    row[opcodes.MODE] = words.get(opcodes.P_MINIMUM, 0)
    if core.options.subnormals == "flush":
        row[opcodes.ENV] |= opcodes.ENV_FLUSH
    row[opcodes.GEOMETRY] = block.ctypes.data
    for slot, each in zip((opcodes.DST, opcodes.SRC0, opcodes.SRC1), operands, strict=False):
        row[opcodes.MASK if each.name == "mask" else slot] = each.tensor.address
    repeats = words[opcodes.G_REPEATS]
    parts = {each.role: each.part for each in operands}
    return Call(
        name,
        PIPE.PIPE_V,
        core,
        tuple(_access(each) for each in operands),
        core.bodies.entry(opcode) if count and repeats else _nothing,
        row.ctypes.data,
        None,
        (row, block),
        Footprint(count, repeats, parts),
        {"dtype": operands[0].tensor.dtype, **fields},
        beyond=left,
    )


def _access(operand: Operand) -> Access:
    tensor, part = operand.tensor, operand.part
    layout = part.layouts[0] if isinstance(part, Geometry) else Layout(tensor.dtype.nbytes, 32, 0)
    return Access(
        operand.role,
        UB,
        tensor.buffer,
        tensor.start,
        tensor.dtype,
        operand.writes,
        layout.element,
        layout.block_stride,
        layout.repeat_stride,
    )


def _nothing(address: int, scalar: float) -> None:
    """Execute a call without lanes."""


def lane_words(repeats: int, lanes: int, mask: int) -> dict[int, int]:
    """Return the words that every program with repeats and a mask reads."""
    return {
        opcodes.G_REPEATS: repeats,
        opcodes.G_LANES: lanes,
        opcodes.G_MASK_LO: mask & (1 << 64) - 1,
        opcodes.G_MASK_HI: mask >> 64,
    }


def combining(core: Any, stem: str, dtype: DType) -> dict[int, int]:
    """Return the words that name the compiled Add, Max or Min and the order of the patterns.

    Integers are compared by their patterns and need no body.
    """
    if dtype.kind != "float":
        kind = opcodes.KIND_SIGNED if dtype.kind == "int" else opcodes.KIND_UNSIGNED
        return {opcodes.P_KIND: kind}
    opcode = core.bodies.opcode(f"{stem}_{dtype}")
    fmt = FORMATS[dtype.name]
    flush = core.options.subnormals == "flush"
    return {
        opcodes.P_BODY: core.bodies.address(opcode),
        opcodes.P_BODY_OP: opcode,
        opcodes.P_KIND: fmt.inf_bits,
        opcodes.P_SMALLEST: fmt.min_normal_bits if flush else 0,
    }
