"""Which element types and modes an instruction takes on this SoC, and how its scalar travels."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from ascendsim import dtypes
from ascendsim.dtypes import DType
from ascendsim.enums import RoundMode
from ascendsim.errors import ContractError, DtypeError, UnsupportedError
from ascendsim.isa.roles import Role

_MASK_TYPES = {
    Role.BITS_OUT: (dtypes.uint8, dtypes.int8),
    Role.BITS_IN: (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64),
}
_WORD, _SINGLE = struct.Struct("<I"), struct.Struct("<f")
_LETTERS = {
    RoundMode.CAST_NONE: "N",
    RoundMode.CAST_RINT: "R",
    RoundMode.CAST_FLOOR: "F",
    RoundMode.CAST_CEIL: "C",
    RoundMode.CAST_ROUND: "A",
    RoundMode.CAST_TRUNC: "Z",
    RoundMode.CAST_ODD: "O",
}


def value_type(decl: Any, tensors: tuple[Any, ...]) -> DType:
    """Return the element type that the call computes with: of dst, or of src for mask bits."""
    return tensors[1 if decl.operands[0][1] is Role.BITS_OUT else 0].dtype


def check_types(decl: Any, tensors: tuple[Any, ...], mode: Any, core: Any) -> None:
    """Check that the instruction exists on this SoC for these element types and this mode.

    Raises
    ------
    UnsupportedError
        When the SoC lacks the instruction or the form.
    DtypeError
        When it lacks the element types; the text lists those it has.
    """
    soc = core.soc
    row = soc.ops.get(decl.name)
    if row is None:
        raise UnsupportedError(f"{soc.name} has no {decl.name}; `ascendsim isa {decl.name}` lists")
    values = []
    for (name, role), tensor in zip(decl.operands, tensors, strict=True):
        allowed = _MASK_TYPES.get(role)
        if allowed is None:
            values.append((name, tensor.dtype))
        elif tensor.dtype not in allowed:
            names = ", ".join(t.name for t in allowed)
            raise DtypeError(f"{name} holds mask bits: its type is {names}, not {tensor.dtype}")
    if decl.pair:
        _check_pair(row, values, mode, soc.name)
        return
    wanted = value_type(decl, tensors)
    sources = {dtype for name, dtype in values if name != "dst"}
    if len(sources) == 1 and f"{tensors[-1 - decl.reads_dst].dtype}->{wanted}" in row.pairs:
        return
    for name, dtype in values:
        if dtype is not wanted:
            raise DtypeError(
                f"{name} is {dtype} but {values[0][0]} is {wanted}: operands have one type; "
                f"use Cast or ReinterpretCast"
            )
    if wanted.name not in row.dtypes:
        raise DtypeError(
            f"{wanted} is not available on {soc.name}: use {', '.join(row.dtypes)} "
            f"(Cast the operands first)"
        )
    modes = row.only.get(wanted.name, row.modes)
    if modes and mode is not None and int(mode) not in modes:
        raise UnsupportedError(f"mode {mode} is not available on {soc.name} for {wanted}")


def check_form(name: str, dtype: DType, core: Any) -> None:
    """Check that the mask + repeat form exists on this SoC for `dtype`.

    Raises
    ------
    DtypeError
        When only the count form does.
    """
    if dtype.name in core.soc.ops[name].count_only:
        raise DtypeError(
            f"{dtype} has no form with mask and repeatTimes on {core.soc.name}; use the count form"
        )


def check_on_soc(name: str, core: Any, dtype: DType) -> None:
    """Check that a copy instruction exists on this SoC for `dtype`.

    Raises
    ------
    UnsupportedError
        When the SoC lacks the instruction.
    DtypeError
        When it lacks the type.
    """
    row = core.soc.ops.get(name)
    if row is None:
        raise UnsupportedError(
            f"{core.soc.name} has no {name}: use DataCopy with whole datablocks of 32 bytes"
        )
    if dtype.name not in row.dtypes:
        raise DtypeError(f"{name}: {dtype} is not available on {core.soc.name}")


def _check_pair(row: Any, values: list[tuple[str, DType]], mode: RoundMode, soc: str) -> None:
    (_, destination), (_, source) = values
    pair = f"{source}->{destination}"
    letters = row.pairs.get(pair)
    if letters is None:
        raise DtypeError(f"no conversion {pair} on {soc}: it has {', '.join(row.pairs)}")
    if _LETTERS[mode] not in letters:
        modes = ", ".join(m.name for m, letter in _LETTERS.items() if letter in letters)
        raise ContractError(
            f"{pair} does not take {mode.name} on {soc} (hardware would leave dst "
            f"unwritten): use {modes}"
        )


def body_name(decl: Any, tensors: tuple[Any, ...]) -> str:
    """Return the name of the compiled body: stem and element types, or element bytes."""
    dtype = value_type(decl, tensors)
    if decl.bits:
        return f"{decl.body}_{dtype.nbytes}"
    if decl.pair or (decl.reads_dst and tensors[1].dtype is not dtype):
        return f"{decl.body}_{tensors[1].dtype}_{dtype}"
    return f"{decl.body}_{dtype}"


def encoder(decl: Any, tensors: tuple[Any, ...]) -> Callable[[Any], float] | None:
    """Return what turns the kernel's scalar into the one that the compiled body takes.

    A float32 scalar is rounded by the compiled code itself. Bit-copying instructions take the
    raw pattern, so that -0.0 and NaN payloads survive.
    """
    if decl.pair and tensors[0].dtype is dtypes.float16 and tensors[1].dtype is dtypes.int32:
        scale = tensors[0].core.deq_scale
        return lambda _: float(scale)
    if decl.scalar is None:
        return None
    dtype = tensors[1].dtype if decl.reads_dst else value_type(decl, tensors)
    if decl.shift:
        bits = None if tensors[0].core.soc.arch == "3510" else 8 * dtype.nbytes
        return lambda v: float(_distance(decl.name, v, bits))
    if decl.bits:
        return _raw_float32 if dtype is dtypes.float32 else lambda v: float(dtype.to_bits(v))
    if dtype is dtypes.float32:
        return None
    return lambda v: float(dtype.from_bits(dtype.to_bits(v)))


def _distance(name: str, value: Any, bits: int | None) -> int:
    """Return how far to shift; `bits` is the most that the SoC takes (None: any number).

    Source: asc-devkit docs, ShiftLeft and ShiftRight pages (documented).
    """
    if not hasattr(value, "__index__") or value < 0 or (bits is not None and value > bits):
        most = "0 or more" if bits is None else f"0..{bits}"
        raise ContractError(f"{name}: the scalar is {value!r}: it is a number of bits, {most}")
    return min(int(value), 64)


def _raw_float32(value: float) -> float:
    if value != value:  # a NaN may have a payload, which a Python float does not carry
        return float(dtypes.float32.to_bits(value))
    try:
        return float(_WORD.unpack(_SINGLE.pack(value))[0])
    except OverflowError:
        return float(0xFF800000 if math.copysign(1.0, value) < 0 else 0x7F800000)
