"""Registers as JSON, and back: what a block began with, and what a call sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ascendsim.observe.saved.values import name_of, number, plain, value_of
from ascendsim.record.registers import COUNTER, NORMAL, Registers

_MOST_MASK = (1 << 128) - 1
_MOST_PAD = (1 << 64) - 1


def saved_registers(registers: Registers) -> dict[str, Any]:
    """Return all registers as JSON holds them."""
    return {name: plain(value) for name, value in asdict(registers).items()}


def read_registers(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return registers by name, each found to be what such a register holds."""
    return {name: _CHECKS[name](value_of(value)) for name, value in found.items()}


def _mode(value: Any) -> str:
    if value not in (NORMAL, COUNTER):
        raise ValueError(f"{value!r:.80} is no mask mode")
    return str(value)


def _mask(value: Any) -> int | None:
    return None if value is None else number(value, 0, _MOST_MASK)


def _scale(value: Any) -> float | None:
    if value is not None and type(value) is not float:
        raise ValueError(f"{value!r:.80} is no scale")
    return value


def _pad(value: Any) -> int | None:
    return None if value is None else number(value, 0, _MOST_PAD)


_CHECKS = {
    "mask_mode": _mode,
    "mask": _mask,
    "deq_scale": _scale,
    "atomic": name_of,
    "pad_value": _pad,
}
