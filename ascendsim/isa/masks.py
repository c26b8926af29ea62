"""The mask registers of a core, and the calls that set them.

As long as a kernel never sets them, every call brings its own mask and nothing here matters:
`core.masks` is None. A kernel that sets them has its calls bound anew each time, since what a
bound call does depends on them then.
Source: asc-devkit docs, pages of SetVectorMask, SetMaskCount, SetMaskNorm and ResetMask; impl/
basic_api per architecture for what the count form leaves (code).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from operator import index
from typing import Any

from ascendsim.core import observed
from ascendsim.dtypes import DType
from ascendsim.enums import PIPE, MaskMode
from ascendsim.errors import ContractError, RepeatError, UnsupportedError
from ascendsim.isa.geometry import mask_bits
from ascendsim.record import Call, Where, current_core
from ascendsim.record.registers import COUNTER, NORMAL

ALL_LANES = (1 << 128) - 1


@dataclass(slots=True)
class Masks:
    """Counter mode or normal mode, and the mask register (None: only calls have set it).

    `given` is the register as the kernel set it, `where` the call that set mode or register, kept
    for those who read along.
    """

    counter: bool = False
    register: int | None = None
    given: int | None = None
    where: Where | None = None

    @property
    def left_on(self) -> str:
        """What lasts into the next kernel when a block ends so; "" when nothing does."""
        if self.counter:
            return "counter mode"
        partial = self.given not in (None, ALL_LANES) and self.given == self.register
        return "a mask of some lanes" if partial else ""


def SetMaskCount() -> None:
    """Make masks count the elements of a whole instruction (counter mode), until SetMaskNorm.

    The repeat times of a call no longer matter, its strides do. Not on 910.
    """
    core = current_core()
    if not core.soc.has_counter_mode:
        raise UnsupportedError(f"SetMaskCount: {core.soc.name} has no counter mode; use repeats")
    _set("SetMaskCount", core, True, core.masks.register if core.masks else None)


def SetMaskNorm() -> None:
    """Make masks choose lanes of each repeat (normal mode), as they do when a kernel starts."""
    core = current_core()
    _set("SetMaskNorm", core, False, core.masks.register if core.masks else None)


def ResetMask() -> None:
    """Set all bits of the mask register."""
    core = current_core()
    _set("ResetMask", core, counts(core), ALL_LANES)


def SetVectorMask(*arguments: Any) -> None:
    """Set the mask register for calls with isSetMask=False.

    SetVectorMask([T, [MaskMode,]] len) or (..., maskHigh, maskLow): the first len lanes of a
    repeat, or two words of lanes; in counter mode the number of elements.

    Raises
    ------
    RepeatError
        When the numbers are no lanes; with MaskMode.COUNTER outside of counter mode ContractError.
    """
    core = current_core()
    counter = counts(core)
    numbers = [a for a in arguments if not isinstance(a, (DType, MaskMode))]
    for mode in arguments:
        if isinstance(mode, MaskMode) and (mode is MaskMode.COUNTER) != counter:
            call = "SetMaskCount" if mode is MaskMode.COUNTER else "SetMaskNorm"
            raise ContractError(f"SetVectorMask: {mode!s} in the other mode; call {call} first")
    words_ok = all(hasattr(n, "__index__") and 0 <= n < 1 << 64 for n in numbers)
    if len(numbers) not in (1, 2) or not words_ok:
        raise RepeatError(f"SetVectorMask{arguments!r}: use len, or maskHigh and maskLow")
    low = index(numbers[-1])
    if counter:
        register = low & 0xFFFFFFFF
    else:
        high = index(numbers[0]) if len(numbers) == 2 else 0
        register = high << 64 | low if len(numbers) == 2 else (1 << min(low, 128)) - 1
    _set("SetVectorMask", core, counter, register)


def _set(name: str, core: Any, counter: bool, register: int | None) -> None:
    default = not counter and register is None
    where = None
    if core.readers:
        frame = sys._getframe(2)
        where = Where(frame.f_code, frame.f_lasti)
    core.masks = None if default else Masks(counter, register, register, where)
    core.relied_on(("mask-registers",), "SetVectorMask")
    core.forget_calls()
    if core.readers:
        fields: dict[str, Any] = {"mode": _mode(counter).upper()}
        if name == "SetVectorMask":
            fields["mask"] = register
        observed(core, Call(name, PIPE.PIPE_S, core, (), fields=fields, sets=held(core)), depth=3)


def held(core: Any) -> tuple[tuple[str, Any], ...]:
    """Return what mode and mask register hold now, as a call's record says it (`Call.sets`)."""
    register = None if core.masks is None else core.masks.register
    return ("mask_mode", _mode(counts(core))), ("mask", register)


def _mode(counter: bool) -> str:
    return COUNTER if counter else NORMAL


def counts(core: Any) -> bool:
    """Whether the core is in counter mode."""
    return core.masks is not None and core.masks.counter


def count_of(core: Any, count: Any, own: bool) -> Any:
    """Return how many elements a count form covers; note what it leaves in the registers."""
    if core.soc.arch == "3510":  # its count form knows no mask register
        return count
    if own:
        # it sets mode and mask itself, and resets both
        core.masks = None
        return count
    if not counts(core):
        raise ContractError("isSetMask=False in the count form needs counter mode: SetMaskCount()")
    return _register(core)


def total_of(core: Any, mask: Any, own: bool) -> int:
    """Return the elements that a repeat form covers in counter mode."""
    if own:
        total = mask[0] if isinstance(mask, (list, tuple)) else mask
        if isinstance(total, bool) or not hasattr(total, "__index__") or total < 0:
            raise RepeatError(f"mask is {mask!r}: in counter mode it is a number of elements")
        core.masks.register = index(total)
    return _register(core)


def bits_of(core: Any, mask: Any, own: bool, lanes: int) -> int:
    """Return the lanes of a repeat that a repeat form computes in normal mode."""
    if not own:
        low, high = _register(core) & (1 << 64) - 1, _register(core) >> 64
        return mask_bits([low, high if lanes > 64 else 0], lanes, core.soc.arch)
    bits = mask_bits(mask, lanes, core.soc.arch)
    if core.masks is not None:
        core.masks.register = bits
    return bits


def refuse_counter(core: Any) -> None:
    """Refuse counter mode, for instructions whose lanes it would change in ways not modelled.

    Raises
    ------
    UnsupportedError
        When the core is in counter mode.
    """
    if counts(core):
        raise UnsupportedError(
            "counter mode (SetMaskCount) is not modelled for it; call SetMaskNorm first"
        )


def may_remember(core: Any, given: tuple[Any, Any, Any, bool]) -> bool:
    """Whether a call just bound does the same whenever it is made again."""
    return not concerns(core, given) or (core.masks is None and bool(given[3]))


def concerns(core: Any, given: tuple[Any, Any, Any, bool]) -> bool:
    """Whether a call takes or sets mode and register; the count form of 950 knows neither."""
    return core.soc.arch != "3510" or given[1] is not None


def _register(core: Any) -> int:
    if core.masks is None or core.masks.register is None:
        raise ContractError(
            "isSetMask=False takes the mask register, which the kernel did not set (or a reduction "
            "or gather changed since): call SetVectorMask or ResetMask first"
        )
    return int(core.masks.register)
