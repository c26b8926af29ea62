"""The registers at a moment, in words."""

from __future__ import annotations

from ascendsim.record.registers import COUNTER, Registers

_NOT_SET = "not set"


def words_of(registers: Registers) -> dict[str, str]:
    """Return in words what each register holds."""
    pad, scale = registers.pad_value, registers.deq_scale
    return {
        "mask mode": registers.mask_mode,
        "mask": _mask(registers),
        "deq scale": _NOT_SET if scale is None else str(scale),
        "atomic": registers.atomic or "none",
        "pad value": _NOT_SET if pad is None else hex(pad),
    }


def set_words_of(registers: Registers) -> dict[str, str]:
    """Return only those that are not as a block finds them."""
    start = words_of(Registers())
    return {name: word for name, word in words_of(registers).items() if word != start[name]}


def _mask(registers: Registers) -> str:
    mask = registers.mask
    if mask is None:
        return f"{_NOT_SET}: each call brings its own"
    if registers.mask_mode == COUNTER:
        return f"{mask} elements"
    lanes = mask.bit_length()
    if mask == (1 << lanes) - 1:
        return f"the first {lanes} lanes of a repeat" if mask else "no lane"
    return f"lanes {mask:#x} of a repeat"
