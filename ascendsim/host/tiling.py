"""Tiling: what the host computes for a kernel, and the helpers that tiling functions use.

`tiling(ctx, fixed={})` of op_host.py takes a `TilingContext` and returns a `Tiling`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.errors import RequestError
from ascendsim.host.numbers import parse_float32, parse_int
from ascendsim.host.platform import PlatformAscendC

BLOCK_DIM_MAX = 65535
Shape = tuple[int, ...]


def CeilDiv(value: int, divisor: int) -> int:  # noqa: N802
    """Return `value / divisor` rounded up."""
    return -(-value // divisor)


def FloorDiv(value: int, divisor: int) -> int:  # noqa: N802
    """Return `value / divisor` rounded down."""
    return value // divisor


def CeilAlign(value: int, align: int) -> int:  # noqa: N802
    """Return the smallest multiple of `align` that is not below `value`."""
    return CeilDiv(value, align) * align


def FloorAlign(value: int, align: int) -> int:  # noqa: N802
    """Return the largest multiple of `align` that is not above `value`."""
    return value // align * align


@dataclass(frozen=True, slots=True)
class TilingContext:
    """What a tiling function may look at.

    shapes, dtypes : per input; dtypes per output too.
    attrs : every attribute of the definition; float ones are np.float32.
    platform : cores and UB of the chip.
    """

    shapes: Mapping[str, Shape]
    dtypes: Mapping[str, DType]
    attrs: Mapping[str, Any]
    platform: PlatformAscendC

    @property
    def shape(self) -> Shape:
        """Shape of the first input."""
        return next(iter(self.shapes.values()))

    @property
    def dtype(self) -> DType:
        """Element type of the first input."""
        return next(iter(self.dtypes.values()))

    @property
    def n(self) -> int:
        """Elements of the first input; a rank-0 tensor has one."""
        return math.prod(self.shape)

    def attr(self, name: str) -> Any:
        """Return the value of the attribute `name`."""
        return self.attrs[name]


@dataclass(frozen=True, slots=True)
class Origin:
    """What a Tiling was made for: set by `Op.tiling`, read by launches and reports."""

    op: str
    soc: str
    ub: int | None
    cores: int | None
    shapes: Mapping[str, Shape]
    dtypes: Mapping[str, DType]
    attrs: Mapping[str, Any]
    outputs: Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class Tiling:
    """Block dim, key and the fields of the tiling structure, in their order.

    fields : name to integer, or to np.float32, which prints as `<name>_bits`; `replace` gives a
        copy with other values, they do not change in place.
    workspace : bytes of each workspace.
    key_name : how the key prints (`tiling_key`, or `sch_mode` for template keys).
    positive : integer fields that `replace` refuses to set to 0; negative ones never make sense.
    origin : what this was made for, None until `Op.tiling` sets it.
    """

    block_dim: int
    key: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)
    workspace: tuple[int, ...] = (0,)
    key_name: str = "tiling_key"
    positive: tuple[str, ...] = ()
    origin: Origin | None = None

    def __post_init__(self) -> None:
        clean = {name: _field_value(name, value) for name, value in self.fields.items()}
        object.__setattr__(self, "fields", MappingProxyType(clean))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, each.name) for each in fields(self))
        return Tiling, tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    @property
    def soc(self) -> str | None:
        """Canonical name of the SoC this was made for."""
        return self.origin.soc if self.origin else None

    @property
    def ub(self) -> int | None:
        """UB bytes that were asked for, None for the SoC's own."""
        return self.origin.ub if self.origin else None

    @property
    def dtype(self) -> DType | None:
        """Element type of the first input."""
        return next(iter(self.dtypes.values()), None)

    @property
    def dtypes(self) -> Mapping[str, DType]:
        """Element type of every input and output."""
        return MappingProxyType(self.origin.dtypes if self.origin else {})

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """Shape of every input."""
        return MappingProxyType(self.origin.shapes if self.origin else {})

    @property
    def output_shapes(self) -> Mapping[str, Shape]:
        """Shape of every output."""
        return MappingProxyType(self.origin.outputs if self.origin else {})

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Every attribute value."""
        return MappingProxyType(self.origin.attrs if self.origin else {})

    def printed(self) -> dict[str, int]:
        """Return the fields as they print: floats as `<name>_bits`, raw bits as an integer."""
        shown = {}
        for name, value in self.fields.items():
            is_float = isinstance(value, np.float32)
            shown[f"{name}_bits" if is_float else name] = (
                int(value.view(np.uint32)) if is_float else value
            )
        return shown

    def to_json(self) -> dict[str, Any]:
        """Return what `ascendsim tiling --json` prints."""
        head = {"status": "SUCCESS", "block_dim": self.block_dim, self.key_name: self.key}
        return head | {"workspace": list(self.workspace)} | self.printed()

    def kernel_view(self) -> SimpleNamespace:
        """Return the structure as a kernel reads it: one attribute per field, and `key`."""
        return SimpleNamespace(**{"key": self.key, **self.fields})

    def replace(
        self, settings: Mapping[str, str | int | float], block_dim: int | None = None
    ) -> Tiling:
        """Return a copy with `settings` (printed name to value) and `block_dim` put in.

        Nothing else is recomputed. A `<name>_bits` field takes an integer or 0x..., its plain
        name a decimal number or 0x... raw bits.

        Raises
        ------
        RequestError
            On an unknown field, a value that makes no sense, a block dim outside 1..65535.
        """
        values = dict(self.fields)
        for name, value in settings.items():
            plain, number = parse_field(name, value, self.fields)
            if number != self.fields[plain]:  # an empty tensor's zeros may be written back
                check_field(plain, number, self.positive)
            values[plain] = number
        chosen = self.block_dim if block_dim is None else block_dim
        check_block_dim(chosen)
        return replace(self, block_dim=chosen, fields=values)


def parse_field(name: str, value: Any, known: Mapping[str, Any] | None = None) -> tuple[str, Any]:
    """Return plain name and value of one tiling field; without `known` names are not checked."""
    plain = name.removesuffix("_bits")
    if known is None:
        if isinstance(value, (float, np.floating)):
            return name, np.float32(value)
        is_float = plain != name
    else:
        if name in known:
            plain = name
        elif not isinstance(known.get(plain), np.float32):
            names = ", ".join(Tiling(1, fields=known).printed())
            raise RequestError(f"tiling field {name!r} is unknown; use one of {names or 'none'}")
        is_float = isinstance(known[plain], np.float32)
    if not is_float:
        return plain, parse_int(value, f"tiling field {name}")
    if plain == name:
        return plain, parse_float32(value, f"tiling field {name}")
    bits = parse_int(value, f"tiling field {name}")
    if not 0 <= bits <= 0xFFFFFFFF:
        raise RequestError(f"tiling field {name}={value}: raw bits lie in 0..0xffffffff")
    return plain, np.uint32(bits).view(np.float32)


def one_block(ctx: TilingContext) -> Tiling:
    """Return the tiling of a small kernel: one block, with the element count as totalLength."""
    return Tiling(1, 0, {"totalLength": ctx.n})


def check_block_dim(block_dim: int) -> None:
    """Refuse a block dim that no launch accepts."""
    if not 1 <= block_dim <= BLOCK_DIM_MAX:
        raise RequestError(f"block dim {block_dim} is outside 1..{BLOCK_DIM_MAX}")


def check_made(made: Tiling, file: str) -> None:
    """Refuse what a tiling function returned when no launch can use it; `file` is its place."""
    if not isinstance(made.workspace, (tuple, list)):
        raise RequestError(f"{file}: Tiling has workspace={made.workspace!r}: write a tuple")
    whole = {"block_dim": made.block_dim, "key": made.key}
    whole |= {f"workspace[{index}]": nbytes for index, nbytes in enumerate(made.workspace)}
    for name, value in whole.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
            raise RequestError(f"{file}: Tiling has {name}={value!r}: an integer is needed")
        if name not in ("block_dim", "key") and value < 0:
            raise RequestError(f"{file}: Tiling has {name}={value}: bytes are not below 0")
    try:
        check_block_dim(made.block_dim)
    except RequestError as error:
        raise RequestError(
            f"{file}: tiling(): {error}; an empty tensor takes 1, and a shape that it "
            f"cannot do raises TilingError"
        ) from None


def check_field(name: str, number: Any, positive: tuple[str, ...] = ()) -> None:
    """Refuse a value that no tiling field takes; 0 too where `name` is among `positive`."""
    if isinstance(number, np.float32):
        return
    least = 1 if name in positive else 0
    if not least <= number < 1 << 63:
        raise RequestError(
            f"tiling field {name}={number} makes no sense; use {least} or more, below 2^63"
        )


def _field_value(name: str, value: Any) -> Any:
    if isinstance(value, np.float32):
        return value
    if isinstance(value, (float, np.floating)):
        return np.float32(value)
    if isinstance(value, (bool, int, np.integer)):
        return int(value)
    raise TypeError(f"tiling field {name} = {value!r}: use an integer or np.float32")
