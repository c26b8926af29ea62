"""Calls that leave their tensor: refused, or let go on where `out_of_bounds=report`.

On hardware a call knows no tensors. One that leaves its own works on what lies there, which is
known here as long as it is in UB; past the end of UB the core stops, so that stays an error. Of a
copy that leaves even the slack of a GM tensor only the bytes inside the tensor are read or stored.
Source: asc-devkit impl/basic_api (release builds check nothing; code), the rest assumed.
"""

from __future__ import annotations

from typing import Any

from ascendsim.errors import BoundsError
from ascendsim.record import UB, Span


def tolerated(core: Any, name: str, error: BoundsError) -> tuple[BoundsError, ...]:
    """Return the error for the record of a call, or raise it; it is about a Span.

    name : what goes before its text ("": it is there already)
    """
    span: Any = error.about
    stops = span.space == UB and not 0 <= span.start < span.stop <= core.ub.nbytes
    if core.options.out_of_bounds == "raise" or stops:
        raise error
    if name:
        error.message = f"{name}: {error.message}"
    core.warn("out-of-bounds", error.message)
    return (error,)


def beyond(tensor: Any, reach: int) -> Span:
    """Return the bytes behind the end of a tensor in UB that a call reaching `reach` touches."""
    return Span(UB, tensor.buffer, tensor.start + tensor.nbytes, tensor.start + reach)
