"""Every error a person can meet, and where in the kernel it happened.

AscendError
 |- RequestError        the request itself is wrong (exit code 2 at the command line)
 |- TilingError         the tiling function says no (exit code 1, as are all below)
 |- ShapeError          shapes or dtypes that the operator definition refuses
 |- ContractError       a call breaks a rule of the instruction
 |   |- AlignmentError  an address that is not a multiple of the required bytes
 |   |- BoundsError     bytes outside a tensor, UB or a GM allocation
 |   |- DtypeError      an element type that the instruction lacks on this SoC
 |   |- RepeatError     repeat times, mask or strides out of range
 |   |- OverlapError    operands that may not share bytes
 |- QueueError          a buffer or queue used in the wrong state
 |- UbOverflow          InitBuffer beyond the end of UB
 |- SanitizerError      a check that was asked to raise found something
 |- KernelError         the kernel code itself raised (a typo, a missing tiling field)
 |- UnsupportedError    real on hardware, not modelled here (never approximated in silence)
"""

from __future__ import annotations

from typing import Self


class AscendError(Exception):
    """Base of all errors that are about the user's kernel or request.

    `where` is the kernel's own line as (file, line), `block` the block that ran; both are filled
    in by the launch, so that the text points at the kernel and not at the simulator. `located`
    says that the launch has nothing to fill in: the error did not happen in the kernel. `finding`
    is the code of what the checks make of it ("" where no check knows this fault), `about` the
    buffer or flag that it speaks of; `taken` says that they made it. `executed` says that the call
    has its record: it was its data that are wrong.
    """

    exit_code = 1
    located = taken = executed = False
    finding = ""

    def __init__(self, message: str, finding: str = "", about: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.finding, self.about = finding or self.finding, about
        self.where: tuple[str, int] | None = None
        self.block: int | None = None

    def recorded(self) -> Self:
        """Return the error, as one of a call that has its record."""
        self.executed = True
        return self

    def __str__(self) -> str:
        text = self.message
        if self.where is not None:
            text = f"{self.where[0]}:{self.where[1]}: {text}"
        if self.block is not None:
            text += f" [block {self.block}]"
        return text


class RequestError(AscendError):
    """The request itself is wrong: unknown name, unreadable file, nonsensical value."""

    exit_code = 2


class TilingError(AscendError):
    """The tiling function refuses this shape, dtype, attribute or platform."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ShapeError(AscendError):
    """Shapes or dtypes that the operator definition refuses."""


class ContractError(AscendError):
    """A call breaks a rule of the instruction."""

    finding = "memcheck:illegal-operand"


class AlignmentError(ContractError):
    """An address that is not a multiple of the bytes the operand requires."""

    finding = "memcheck:misaligned"


class BoundsError(ContractError):
    """Bytes outside a tensor, outside UB or outside a GM allocation."""

    finding = "memcheck:out-of-bounds"


class DtypeError(ContractError):
    """An element type, or pair of types, that the instruction lacks on this SoC."""

    finding = "memcheck:illegal-type"


class RepeatError(ContractError):
    """Repeat time, mask, count or stride out of range."""

    finding = "memcheck:illegal-range"


class OverlapError(ContractError):
    """Operands that may not share bytes do share some."""

    finding = "memcheck:overlap"


class QueueError(AscendError):
    """A buffer, queue or event used in a state that does not allow it."""

    finding = "synccheck:wrong-state"


class UbOverflow(AscendError):
    """InitBuffer asks for more than the unified buffer holds."""

    finding = "memcheck:ub-overflow"


class SanitizerError(AscendError):
    """A check that was asked to raise found something."""


class UnsupportedError(AscendError):
    """Real on hardware but not modelled here, or absent on this SoC."""


class KernelError(AscendError):
    """The kernel's own Python code raised something that is no AscendError."""
